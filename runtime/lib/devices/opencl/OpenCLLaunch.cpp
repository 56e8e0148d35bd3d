// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The half of OpenCLQueue that submits commands: include/ashlar/runtime/
// opencl_abi.h says what a kernel is given.

#include "../../Trace.h"
#include "OpenCLQueue.h"

#include <algorithm>

namespace ashlar::runtime {

using namespace opencl;

/// Arguments are a kernel object's own, and no two threads may set them at a
/// time.
Code OpenCLQueue::kernelFor(const OpenCLKernel &kernel, Kernel &out) {
  auto at = std::lower_bound(
      kernels.begin(), kernels.end(), &kernel,
      [](const OwnKernel &a, const OpenCLKernel *b) { return a.kernel < b; });
  Code code = 0;
  if (at == kernels.end() || at->kernel != &kernel) {
    Kernel made = kernel.make(device, code);
    if (!made)
      return code != 0 ? code : outOfResources;
    at = kernels.insert(at, {&kernel, made});
  }
  out = at->object;
  return 0;
}

namespace {
class Arguments {
public:
  Arguments(const OpenCLDevice &device, Kernel kernel)
      : device(device), kernel(kernel) {}
  template <typename T> void add(T value) {
    if (first.code == 0)
      first = {"clSetKernelArg",
               device.cl.SetKernelArg(kernel, next++, sizeof(value), &value)};
  }
  void addMemory(void *base) {
    if (first.code == 0)
      first = device.memory.give(kernel, next++, base);
  }
  OpenCLMemory::Called first = {"", 0}; // that was refused

private:
  const OpenCLDevice &device;
  const Kernel kernel;
  uint32_t next = 0;
};
} // namespace

OpenCLMemory::Called OpenCLQueue::prepare(const CommandList &list,
                                          uint32_t index, Launch &out) {
  const Command &command = list.commands[index];
  auto &kernel = *static_cast<const OpenCLKernel *>(command.kernel);
  if (Code code = kernelFor(kernel, out.object))
    return {"clCreateKernel", code};
  const DeviceAddress *addresses = list.addresses.data() + command.firstPointer;
  const int64_t *numbers = list.parameters.data() + command.firstParameter;
  Arguments arguments(device, out.object);
  for (uint32_t i = 0; i < kernel.bindings; ++i)
    arguments.addMemory(addresses[i].base);
  for (uint32_t i = 0; i < kernel.bindings; ++i)
    arguments.add(addresses[i].offset);
  for (uint32_t i = 0; i < kernel.integers; ++i)
    arguments.add(numbers[i]);
  if (scratch.base)
    arguments.addMemory(scratch.base);
  else
    arguments.add(fault);
  arguments.add(scratch.offset);
  arguments.add(scratchBytes);
  arguments.add(command.extent);
  arguments.add(fault);
  arguments.add(index);
  out.threads = std::max<size_t>(kernel.threads, 1);
  const size_t groups =
      kernel.threads ? size_t(command.extent)
                     : size_t(std::min<int64_t>(command.extent, workers));
  out.all = groups * out.threads;
  return arguments.first;
}

/// The event may be null: nobody asks.
OpenCLMemory::Called OpenCLQueue::launch(const CommandList &list,
                                         uint32_t index, EventId *outEvent) {
  Launch how;
  if (Called called = prepare(list, index, how); called.code != 0)
    return called;
  return {"clEnqueueNDRangeKernel",
          cl.EnqueueNDRangeKernel(queue, how.object, 1, nullptr, &how.all,
                                  &how.threads, 0, nullptr, outEvent)};
}

Status OpenCLQueue::submit(const Submission &given) {
  const CommandList &list = given.list;
  const std::shared_ptr<Trace> &trace = given.control.trace;
  if (trace)
    ASHLAR_RETURN_IF_ERROR(profile(true));
  bool hasLaunched = false;
  for (size_t i = given.range.begin;
       i < given.range.end && !given.control.stopped(); ++i) {
    const Command &command = list.commands[i];
    if (command.kind == Command::Copy) {
      ASHLAR_RETURN_IF_ERROR(
          check(copyWithin(given.side(command, 1), given.side(command, 0),
                           uint64_t(command.extent))));
    } else if (command.kind == Command::Dispatch && command.extent > 0) {
      if (!hasLaunched)
        ASHLAR_RETURN_IF_ERROR(expectFaults(given.control));
      hasLaunched = true;
      EventId event = nullptr;
      const uint64_t handed = trace ? trace->now() : 0;
      ASHLAR_RETURN_IF_ERROR(
          check(launch(list, uint32_t(i), trace ? &event : nullptr)));
      pending.hand(uint32_t(i), uint32_t(i));
      if (event)
        pending.trace([&](OpenCLTrace &traced) {
          traced.add(trace, list.labels[i], event, handed);
        });
    }
  }
  return check("clFlush", cl.Flush(queue));
}

/// Faults from now on are those of a run.
Status OpenCLQueue::expectFaults(RunControl &run) {
  if (pending.begin(run))
    return {};
  ASHLAR_RETURN_IF_ERROR(finish());
  pending.begin(run);
  return {};
}

} // namespace ashlar::runtime
