// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The half of OpenCLQueue that has the driver record a part of a list, once,
// and gives it to the queue as one command.

#include "OpenCLQueue.h"

namespace ashlar::runtime {

using namespace opencl;

/// Copies are recorded differently by each version of the extension, and one
/// kernel is as quick by itself.
static bool isRecorded(const CommandList &list, CommandRange range) {
  constexpr size_t fewestKernels = 2;
  size_t kernels = 0;
  for (size_t i = range.begin; i < range.end; ++i) {
    const Command &command = list.commands[i];
    if (command.kind == Command::Copy && command.extent != 0)
      return false;
    kernels += command.kind == Command::Dispatch && command.extent > 0;
  }
  return kernels >= fewestKernels;
}

OpenCLMemory::Called OpenCLQueue::recordKernels(const CommandList &list,
                                                CommandRange range,
                                                OpenCLGraph &graph) {
  const CommandBufferFunctions &recorder = *device.recorder;
  const uint64_t properties[] = {commandBufferFlags, overlaps, 0};
  CommandQueue own = queue;
  Code code = 0;
  graph.commands = recorder.CreateCommandBufferKHR(1, &own, properties, &code);
  if (!graph.commands)
    return {"clCreateCommandBufferKHR", code != 0 ? code : outOfResources};
  // Of an in-order queue: each begins when the one before has ended.
  for (size_t i = range.begin; i < range.end; ++i) {
    const Command &command = list.commands[i];
    if (command.kind != Command::Dispatch || command.extent <= 0)
      continue;
    Launch how;
    if (Called called = prepare(list, uint32_t(i), how); called.code != 0)
      return called;
    code = recorder.CommandNDRangeKernelKHR(
        graph.commands, nullptr, nullptr, how.object, 1, nullptr, &how.all,
        &how.threads, 0, nullptr, nullptr, nullptr);
    if (code != 0)
      return {"clCommandNDRangeKernelKHR", code};
  }
  return {"clFinalizeCommandBufferKHR",
          recorder.FinalizeCommandBufferKHR(graph.commands)};
}

/// Where the driver records none, for whatever reason but that the device is
/// lost, there is none.
Status OpenCLQueue::capture(const CommandList &list, CommandRange range,
                            std::unique_ptr<OpenCLGraph> &out) {
  if (!device.recorder || !isRecorded(list, range))
    return {};
  ASHLAR_RETURN_IF_ERROR(profile(false));
  auto made = std::make_unique<OpenCLGraph>(device);
  Called called = recordKernels(list, range, *made);
  if (called.code == 0) {
    out = std::move(made);
    return {};
  }
  const bool isLost =
      device.failed(called.name, called.code).code() == ASHLAR_DEVICE_LOST;
  return isLost ? check(called) : Status();
}

Status OpenCLQueue::launch(const OpenCLGraph &graph, RunControl &control) {
  if (control.stopped())
    return {};
  // The queue that it was recorded for.
  ASHLAR_RETURN_IF_ERROR(profile(false));
  ASHLAR_RETURN_IF_ERROR(expectFaults(control));
  return check("clEnqueueCommandBufferKHR",
               device.recorder->EnqueueCommandBufferKHR(
                   0, nullptr, graph.commands, 0, nullptr, nullptr));
}

} // namespace ashlar::runtime
