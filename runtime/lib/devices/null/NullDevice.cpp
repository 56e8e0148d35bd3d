// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The skeleton of a device. It has memory that the host cannot tell from its
// own but must not touch, copies for real, and takes any executable of format
// "null", whose kernels compute nothing.

#include "NullDevice.h"

#include "../Sequencer.h"

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

static std::string nullFeatures(void *) { return ""; }

static bool nullAccepts(void *, std::string_view format) {
  return format == "null";
}

static Status nullCheckMemory(void *, uint64_t) { return {}; }

static Status nullAllocate(void *, uint64_t size, void **outAddress) {
  // More than any machine has; some allocators abort instead of refusing it.
  constexpr uint64_t limit = uint64_t(1) << 40;
  // aligned_alloc wants a multiple of the alignment.
  *outAddress =
      size < limit ? std::aligned_alloc(64, (size + 64) / 64 * 64) : nullptr;
  if (!*outAddress)
    return failure(ASHLAR_INTERNAL, concat("no memory for ", size, " bytes"));
  return {};
}

static void nullFree(void *, void *address, uint64_t) { std::free(address); }

static Status nullCopyIn(void *, void *target, const void *source,
                         uint64_t size) {
  std::memcpy(target, source, size);
  return {};
}

static Status nullCopyOut(void *, void *target, const void *source,
                          uint64_t size) {
  std::memcpy(target, source, size);
  return {};
}

static Status nullLoadExecutable(void *, const void *, uint64_t,
                                 void **outExecutable) {
  *outExecutable = &executableState;
  return {};
}

static void nullUnloadExecutable(void *, void *) {}

static Status nullFindKernel(void *, const char *, const void **outKernel) {
  *outKernel = &kernelState;
  return {};
}

static Status nullCreateQueue(void *, const QueueOptions &, void **outQueue) {
  *outQueue = &queueState;
  return {};
}

static void nullDestroyQueue(void *) {}

static Status nullExecute(void *, Sequencer &sequencer, CommandRange part) {
  for (size_t i = sequencer.settle(part.begin); i < part.end;
       i = sequencer.settle(i + 1)) {
    const Command &command = sequencer.list.commands[i];
    if (command.kind == Command::Copy)
      sequencer.copy(command);
  }
  return {};
}

const DeviceOps nullDeviceOps = {
    "null",
    /*sharesHostMemory=*/false,
    /*runsNativeCode=*/false,
    /*isOffered=*/false,
    nullCount,
    nullOpen,
    nullClose,
    nullFeatures,
    nullAccepts,
    nullCheckMemory,
    nullAllocate,
    nullFree,
    nullCopyIn,
    nullCopyOut,
    nullLoadExecutable,
    nullUnloadExecutable,
    nullFindKernel,
    nullCreateQueue,
    nullDestroyQueue,
    nullExecute,
};

} // namespace ashlar::runtime
