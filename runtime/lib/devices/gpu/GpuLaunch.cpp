// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The half of GpuQueue that submits commands: include/ashlar/runtime/gpu_abi.h
// says what a kernel is given.

#include "../../Trace.h"
#include "GpuQueue.h"

#include <algorithm>

namespace ashlar::runtime {

using namespace gpu;

/// Workgroups of a launch, in its first dimension.
static constexpr uint64_t mostGroups = INT32_MAX;

Code GpuQueue::launchKernel(const CommandList &list, uint32_t index) {
  const Command &command = list.commands[index];
  auto &kernel = *static_cast<const GpuKernel *>(command.kernel);
  const DeviceAddress *addresses = list.addresses.data() + command.firstPointer;
  const int64_t *numbers = list.parameters.data() + command.firstParameter;
  // Each of 64 bits but the last one; the driver reads them before it returns.
  values.clear();
  values.reserve(ASHLAR_GPU_PARAMETERS(kernel.bindings, kernel.integers));
  auto addPointer = [&](const void *pointer) {
    values.push_back(uint64_t(reinterpret_cast<uintptr_t>(pointer)));
  };
  for (uint32_t i = 0; i < kernel.bindings; ++i)
    addPointer(addresses[i].pointer());
  for (uint32_t i = 0; i < kernel.integers; ++i)
    values.push_back(uint64_t(numbers[i]));
  addPointer(scratch.base ? scratch.pointer() : fault);
  values.push_back(scratchBytes);
  values.push_back(uint64_t(command.extent));
  addPointer(fault);
  values.push_back(index); // little-endian, as all such machines are
  parameters.clear();
  for (uint64_t &value : values)
    parameters.push_back(&value);
  for (uint32_t i = 0; i < kernel.maps; ++i)
    parameters.push_back(
        &list.blobs[list.launches[command.launch].firstBlob + i]);
  // Scratch is there for so many at a time.
  const uint64_t launched =
      std::min(mostGroups, device.driver.mostThreads / kernel.threads);
  const int64_t most = std::min(
      scratchBytes != 0 ? int64_t(workers) : int64_t(launched), kernel.most);
  // Whole clusters, all of which have as many groups; what is none the driver
  // refuses.
  const int64_t cluster = kernel.cluster;
  const int64_t groups =
      command.extent % cluster != 0
          ? cluster + 1
          : std::min(command.extent,
                     std::max<int64_t>(most / cluster, 1) * cluster);
  return api.LaunchKernel(kernel.function, unsigned(groups), 1, 1,
                          kernel.threads, 1, 1, kernel.sharedBytes, stream,
                          parameters.data(), nullptr);
}

/// A command that is work; `call` is what it asks of the driver.
Code GpuQueue::give(const CommandList &list, uint32_t index,
                    const LoopCounters &counters, const void *&call) {
  const Command &command = list.commands[index];
  if (command.kind == Command::Dispatch) {
    call = &api.LaunchKernel;
    return launchKernel(list, index);
  }
  call = &api.CopyWithin;
  auto side = [&](unsigned i) {
    return (list.addresses[command.firstPointer + i] +
            uint64_t(counters.moved(command, i)))
        .pointer();
  };
  return api.CopyWithin(side(1), side(0), size_t(command.extent), stream);
}

Status GpuQueue::submit(const Submission &given) {
  CurrentGpu current(device);
  ASHLAR_RETURN_IF_ERROR(current.status());
  const CommandList &list = given.list;
  const std::shared_ptr<Trace> &trace = given.control.trace;
  bool hasLaunched = false;
  for (size_t i = given.range.begin;
       i < given.range.end && !given.control.stopped(); ++i) {
    if (!isWork(list.commands[i]))
      continue;
    const bool isLaunch = list.commands[i].kind == Command::Dispatch,
               isTraced = isLaunch && trace;
    if (isLaunch && !hasLaunched)
      ASHLAR_RETURN_IF_ERROR(expectFaults(given.control));
    hasLaunched |= isLaunch;
    if (isTraced)
      ASHLAR_RETURN_IF_ERROR(check(pending.trace([&](GpuTrace &traced) {
        return traced.begin(trace, list.labels[i], stream, trace->now());
      })));
    const void *call = nullptr;
    const Code code = give(list, uint32_t(i), given.counters, call);
    ASHLAR_RETURN_IF_ERROR(check(call, code));
    if (isLaunch)
      pending.hand(uint32_t(i), uint32_t(i));
    if (isTraced)
      ASHLAR_RETURN_IF_ERROR(check(
          pending.trace([&](GpuTrace &traced) { return traced.end(stream); })));
  }
  return {};
}

/// Faults from now on are those of a run.
Status GpuQueue::expectFaults(RunControl &run) {
  if (pending.begin(run))
    return {};
  ASHLAR_RETURN_IF_ERROR(readBack({}, nullptr, 0));
  pending.begin(run);
  return {};
}

} // namespace ashlar::runtime
