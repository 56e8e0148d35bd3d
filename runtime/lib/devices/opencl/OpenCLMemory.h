// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A device's memory in the form that it has: buffers, whose addresses are
// handles of the driver's, or unified shared memory, whose addresses are the
// device's.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_OPENCL_OPENCLMEMORY_H
#define ASHLAR_RUNTIME_LIB_DEVICES_OPENCL_OPENCLMEMORY_H

#include "../CommandList.h"
#include "OpenCLApi.h"

#include <optional>

namespace ashlar::runtime {

/// Any thread. Copies are queued and, unless they are blocking, not finished
/// when a call returns; both sides stay until they are.
class OpenCLMemory {
public:
  /// What was asked of the driver, and what it said.
  struct Called {
    const char *name;  // "clCreateBuffer"
    opencl::Code code; // 0: it went well
  };

  explicit OpenCLMemory(const opencl::Functions &cl) : cl(cl) {}
  /// From now on allocations are shared memory.
  void use(const opencl::SharedMemoryFunctions &functions) {
    shared = functions;
  }

  /// Aligned for bindings (opencl_abi.h); null in `out` where it failed. Who
  /// has it frees it.
  Called allocate(opencl::Context context, opencl::DeviceId device, size_t size,
                  void *&out) const;
  /// Nobody uses it any more.
  void free(opencl::Context context, void *base) const;

  /// As an argument of a kernel.
  Called give(opencl::Kernel kernel, uint32_t index, void *base) const;
  /// From the host to the device.
  Called write(opencl::CommandQueue queue, DeviceAddress to, const void *from,
               uint64_t size) const;
  /// From the device to the host; blocking: it is there on return.
  Called read(opencl::CommandQueue queue, void *to, DeviceAddress from,
              uint64_t size, bool isBlocking) const;
  /// Within the device. Not of zero bytes and not onto itself, which drivers
  /// refuse.
  Called copy(opencl::CommandQueue queue, DeviceAddress to, DeviceAddress from,
              uint64_t size) const;

private:
  /// Of shared memory, any direction.
  Called move(opencl::CommandQueue queue, void *to, const void *from,
              uint64_t size, bool isBlocking) const;

  const opencl::Functions &cl;                         // the device's
  std::optional<opencl::SharedMemoryFunctions> shared; // none: buffers
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_DEVICES_OPENCL_OPENCLMEMORY_H
