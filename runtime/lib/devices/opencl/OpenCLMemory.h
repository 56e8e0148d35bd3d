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

class OpenCLMemory {
public:
  /// What was asked of the driver, and what it said.
  struct Called {
    const char *name;
    opencl::Code code;
  };

  explicit OpenCLMemory(const opencl::Functions &cl) : cl(cl) {}
  /// From now on allocations are shared memory.
  void use(const opencl::SharedMemoryFunctions &functions) {
    shared = functions;
  }

  Called allocate(opencl::Context context, opencl::DeviceId device, size_t size,
                  void *&out) const;
  void free(opencl::Context context, void *base) const;

  /// As an argument of a kernel.
  Called give(opencl::Kernel kernel, uint32_t index, void *base) const;
  Called write(opencl::CommandQueue queue, DeviceAddress to, const void *from,
               uint64_t size) const;
  Called read(opencl::CommandQueue queue, void *to, DeviceAddress from,
              uint64_t size, bool isBlocking) const;
  Called copy(opencl::CommandQueue queue, DeviceAddress to, DeviceAddress from,
              uint64_t size) const;

private:
  Called move(opencl::CommandQueue queue, void *to, const void *from,
              uint64_t size, bool isBlocking) const;

  const opencl::Functions &cl;
  std::optional<opencl::SharedMemoryFunctions> shared;
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_DEVICES_OPENCL_OPENCLMEMORY_H
