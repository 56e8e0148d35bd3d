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
static constexpr int64_t mostGroups = INT32_MAX;

Code GpuQueue::launch(const CommandList &list, uint32_t index) {
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
  // Scratch is there for so many at a time.
  const int64_t most = scratchBytes != 0 ? int64_t(workers) : mostGroups;
  return api.LaunchKernel(
      kernel.function, unsigned(std::min(command.extent, most)), 1, 1,
      kernel.threads, 1, 1, kernel.sharedBytes, stream, parameters.data(),
      nullptr);
}

Status GpuQueue::submit(const Submission &given) {
  CurrentGpu current(device);
  ASHLAR_RETURN_IF_ERROR(current.status());
  const CommandList &list = given.list;
  const std::shared_ptr<Trace> &trace = given.control.trace;
  bool hasLaunched = false;
  for (size_t i = given.range.begin;
       i < given.range.end && !given.control.stopped(); ++i) {
    const Command &command = list.commands[i];
    if (command.kind == Command::Copy) {
      if (command.extent > 0)
        ASHLAR_RETURN_IF_ERROR(check(
            &api.CopyWithin, api.CopyWithin(given.side(command, 1).pointer(),
                                            given.side(command, 0).pointer(),
                                            size_t(command.extent), stream)));
    } else if (command.kind == Command::Dispatch && command.extent > 0) {
      if (!hasLaunched)
        ASHLAR_RETURN_IF_ERROR(expectFaults(given.control));
      hasLaunched = true;
      if (trace)
        ASHLAR_RETURN_IF_ERROR(check(pending.trace([&](GpuTrace &traced) {
          return traced.begin(trace, list.labels[i], stream, trace->now());
        })));
      ASHLAR_RETURN_IF_ERROR(
          check(&api.LaunchKernel, launch(list, uint32_t(i))));
      if (trace)
        ASHLAR_RETURN_IF_ERROR(check(pending.trace(
            [&](GpuTrace &traced) { return traced.end(stream); })));
    }
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
