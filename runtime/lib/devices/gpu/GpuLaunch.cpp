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
  std::vector<uint64_t> values;
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
  std::vector<void *> parameters;
  for (uint64_t &value : values)
    parameters.push_back(&value);
  // Scratch is there for so many at a time.
  const int64_t most = scratchBytes != 0 ? int64_t(workers) : mostGroups;
  return api.LaunchKernel(
      kernel.function, unsigned(std::min(command.extent, most)), 1, 1,
      kernel.threads, 1, 1, 0, stream, parameters.data(), nullptr);
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
      DeviceAddress sides[2];
      for (unsigned side = 0; side != 2; ++side)
        sides[side] = list.addresses[command.firstPointer + side] +
                      uint64_t(given.counters.moved(command, side));
      ASHLAR_RETURN_IF_ERROR(
          copy(CopyKind::Within, sides[1], sides[0], uint64_t(command.extent)));
    } else if (command.kind == Command::Dispatch && command.extent > 0) {
      if (!hasLaunched)
        ASHLAR_RETURN_IF_ERROR(expectFaults(given.control));
      hasLaunched = true;
      if (trace) {
        std::unique_lock<std::mutex> lock(mutex);
        Status marked =
            traced.begin(trace, list.labels[i], stream, trace->now());
        lock.unlock();
        ASHLAR_RETURN_IF_ERROR(check(marked));
      }
      ASHLAR_RETURN_IF_ERROR(
          check(&api.LaunchKernel, launch(list, uint32_t(i))));
      if (trace) {
        std::unique_lock<std::mutex> lock(mutex);
        Status marked = traced.end(stream);
        lock.unlock();
        ASHLAR_RETURN_IF_ERROR(check(marked));
      }
    }
  }
  return {};
}

/// Faults from now on are those of a run. One that has not been waited for
/// would hear of another's.
Status GpuQueue::expectFaults(RunControl &run) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (!control || control == &run) {
      control = &run;
      ++launches;
      return {};
    }
  }
  ASHLAR_RETURN_IF_ERROR(readBack({}, nullptr, 0));
  std::lock_guard<std::mutex> lock(mutex);
  control = &run;
  ++launches;
  return {};
}

} // namespace ashlar::runtime
