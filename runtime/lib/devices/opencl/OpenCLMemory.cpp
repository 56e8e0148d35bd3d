// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OpenCLMemory.h"

namespace ashlar::runtime {

using namespace opencl;
using Called = OpenCLMemory::Called;

static Memory handleOf(void *base) { return static_cast<Memory>(base); }

Called OpenCLMemory::allocate(Context context, DeviceId device, size_t size,
                              void *&out) const {
  // Of a binding: opencl_abi.h.
  constexpr uint32_t alignment = 128;
  Code code = 0;
  if (shared) {
    out = shared->DeviceMemAllocINTEL(context, device, nullptr, size, alignment,
                                      &code);
    return {"clDeviceMemAllocINTEL", code};
  }
  out = cl.CreateBuffer(context, memReadWrite, size, nullptr, &code);
  return {"clCreateBuffer", code};
}

void OpenCLMemory::free(Context context, void *base) const {
  if (shared)
    shared->MemFreeINTEL(context, base);
  else
    cl.ReleaseMemObject(handleOf(base));
}

Called OpenCLMemory::give(Kernel kernel, uint32_t index, void *base) const {
  if (shared)
    return {"clSetKernelArgMemPointerINTEL",
            shared->SetKernelArgMemPointerINTEL(kernel, index, base)};
  Memory handle = handleOf(base);
  return {"clSetKernelArg",
          cl.SetKernelArg(kernel, index, sizeof(handle), &handle)};
}

Called OpenCLMemory::move(CommandQueue queue, void *to, const void *from,
                          uint64_t size, bool isBlocking) const {
  return {"clEnqueueMemcpyINTEL",
          shared->EnqueueMemcpyINTEL(queue, isBlocking, to, from, size_t(size),
                                     0, nullptr, nullptr)};
}

Called OpenCLMemory::write(CommandQueue queue, DeviceAddress to,
                           const void *from, uint64_t size) const {
  if (shared)
    return move(queue, to.pointer(), from, size, false);
  return {"clEnqueueWriteBuffer",
          cl.EnqueueWriteBuffer(queue, handleOf(to.base), false,
                                size_t(to.offset), size_t(size), from, 0,
                                nullptr, nullptr)};
}

Called OpenCLMemory::read(CommandQueue queue, void *to, DeviceAddress from,
                          uint64_t size, bool isBlocking) const {
  if (shared)
    return move(queue, to, from.pointer(), size, isBlocking);
  return {"clEnqueueReadBuffer",
          cl.EnqueueReadBuffer(queue, handleOf(from.base), isBlocking,
                               size_t(from.offset), size_t(size), to, 0,
                               nullptr, nullptr)};
}

Called OpenCLMemory::copy(CommandQueue queue, DeviceAddress to,
                          DeviceAddress from, uint64_t size) const {
  if (shared)
    return move(queue, to.pointer(), from.pointer(), size, false);
  return {"clEnqueueCopyBuffer",
          cl.EnqueueCopyBuffer(queue, handleOf(from.base), handleOf(to.base),
                               size_t(from.offset), size_t(to.offset),
                               size_t(size), 0, nullptr, nullptr)};
}

} // namespace ashlar::runtime
