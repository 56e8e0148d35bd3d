// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The half of GpuQueue that makes a graph of a part of a list, once, and
// launches it as one. The read of the fault's words is its last node.

#include "GpuQueue.h"

namespace ashlar::runtime {

using namespace gpu;

/// What other threads ask of the driver does not end a capture.
static constexpr int threadLocal = 1;
/// One command is as quick by itself.
static constexpr size_t fewestCommands = 2;

GpuGraph::~GpuGraph() {
  CurrentGpu current(device);
  if (current && exec)
    device.api.GraphExecDestroy(exec);
}

/// All of it, while the stream captures. `call` is the one that failed.
Code GpuQueue::captureCommands(const CommandList &list, CommandRange range,
                               bool hasLaunches, const void *&call) {
  for (size_t i = range.begin; i < range.end; ++i)
    if (isWork(list.commands[i]))
      if (Code code = give(list, uint32_t(i), {}, call))
        return code;
  call = &api.CopyOut;
  return hasLaunches ? api.CopyOut(seenFault, fault, faultBytes, stream) : 0;
}

/// Where the driver makes none, for whatever reason but that the device is
/// lost, there is none.
Status GpuQueue::capture(const CommandList &list, CommandRange range,
                         std::unique_ptr<GpuGraph> &out) {
  size_t commands = 0;
  bool hasLaunches = false;
  for (size_t i = range.begin; i < range.end; ++i) {
    commands += isWork(list.commands[i]);
    hasLaunches |=
        isWork(list.commands[i]) && list.commands[i].kind == Command::Dispatch;
  }
  if (!api.hasGraphs() || commands < fewestCommands)
    return {};
  CurrentGpu current(device);
  ASHLAR_RETURN_IF_ERROR(current.status());
  auto made = std::make_unique<GpuGraph>(device, hasLaunches, range);
  const void *call = &api.BeginCapture;
  Graph graph = nullptr;
  Code code = api.BeginCapture(stream, threadLocal);
  if (code == 0) {
    code = captureCommands(list, range, hasLaunches, call);
    Code ended = api.EndCapture(stream, &graph);
    if (code == 0 && ended != 0) {
      code = ended;
      call = &api.EndCapture;
    }
  }
  if (code == 0) {
    call = &api.GraphInstantiate;
    code = api.GraphInstantiate(&made->exec, graph, 0);
  }
  if (graph)
    api.GraphDestroy(graph);
  if (code == 0)
    out = std::move(made);
  return device.driver.causeOf(code) == Cause::Lost ? check(call, code)
                                                    : Status();
}

Status GpuQueue::launch(const GpuGraph &graph, RunControl &control) {
  if (control.stopped())
    return {};
  CurrentGpu current(device);
  ASHLAR_RETURN_IF_ERROR(current.status());
  if (graph.hasLaunches)
    ASHLAR_RETURN_IF_ERROR(expectFaults(control));
  ASHLAR_RETURN_IF_ERROR(
      check(&api.GraphLaunch, api.GraphLaunch(graph.exec, stream)));
  bool isExpected;
  if (graph.hasLaunches) {
    pending.hand(uint32_t(graph.range.begin), uint32_t(graph.range.end - 1));
    readBehind = pending.soFar(isExpected);
  }
  return {};
}

} // namespace ashlar::runtime
