// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The skeleton of a device. It has memory that the host cannot tell from its
// own but must not touch, copies for real, and takes any executable of format
// "null", whose kernels compute nothing.

#include "NullDevice.h"

#include "../Device.h"

#include <cstdlib>
#include <cstring>

namespace ashlar::runtime {

// A real device keeps its context here, an executable its module.
static char deviceState;
static char executableState;
static char kernelState;
static char queueState;

static uint32_t nullCount() { return 1; }

static Status nullOpen(uint32_t, void **outDevice) {
  *outDevice = &deviceState;
  return {};
}

static void nullClose(void *) {}

static String nullFeatures(void *) { return ""; }

static bool nullAccepts(void *, std::string_view format) {
  return format == "null";
}

static Status nullCheckMemory(void *, uint64_t) { return {}; }

static Status nullAllocate(void *, uint64_t size, ashlar_memory_kind_t,
                           DeviceAddress *outAddress) {
  // More than any machine has; some allocators abort instead of refusing it.
  constexpr uint64_t limit = uint64_t(1) << 40;
  // aligned_alloc wants a multiple of the alignment.
  void *memory =
      size < limit ? std::aligned_alloc(64, (size + 64) / 64 * 64) : nullptr;
  if (!memory)
    return failure(ASHLAR_INTERNAL, concat("no memory for ", size, " bytes"));
  *outAddress = {memory, 0};
  return {};
}

static void nullFree(void *, DeviceAddress address, uint64_t) {
  std::free(address.base);
}

static Status nullLoadExecutable(void *, const void *, uint64_t,
                                 void **outExecutable) {
  *outExecutable = &executableState;
  return {};
}

static void nullUnloadExecutable(void *, void *) {}

static Status nullFindKernel(void *, const KernelForm &,
                             const void **outKernel) {
  *outKernel = &kernelState;
  return {};
}

static Status nullCreateQueue(void *, const QueueOptions &, void **outQueue) {
  *outQueue = &queueState;
  return {};
}

static void nullDestroyQueue(void *) {}

// Work ends before the call returns, so events have always come.
static Status nullSubmit(void *, const Submission &submission) {
  const CommandList &list = submission.list;
  for (size_t i = submission.range.begin;
       i < submission.range.end && !submission.control.stopped(); ++i) {
    const Command &command = list.commands[i];
    if (command.kind != Command::Copy)
      continue;
    std::memcpy(submission.side(command, 1).pointer(),
                submission.side(command, 0).pointer(), size_t(command.extent));
  }
  return {};
}

const DeviceOps nullDeviceOps = {
    "null",
    /*programs=*/"null",
    MemoryKind::Device,
    /*runsNativeCode=*/false,
    /*isOffered=*/false,
    /*returnsEarly=*/false,
    nullCount,
    nullOpen,
    nullClose,
    nullFeatures,
    nullAccepts,
    nullCheckMemory,
    nullAllocate,
    nullFree,
    nullLoadExecutable,
    nullUnloadExecutable,
    nullFindKernel,
    nullCreateQueue,
    nullDestroyQueue,
    finished::copy,
    nullSubmit,
    finished::readBack,
    /*follow=*/nullptr,
    finished::createEvent,
    finished::destroyEvent,
    finished::record,
    finished::waitFor,
    finished::wait,
    /*encode=*/nullptr,
    /*capture=*/nullptr,
    /*launch=*/nullptr,
    /*destroyGraph=*/nullptr,
};

} // namespace ashlar::runtime
