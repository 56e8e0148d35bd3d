// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory of the device, and memory of the host that it copies from at once.

#include "CudaExport.h"

#include <algorithm>
#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

using namespace ashlar::cuda;
using ashlar::test::CudaDouble;

/// In what steps memory is taken.
static constexpr uint64_t granule = 512;

CUresult ashlar::cuda::allocate(Context &context, CUdeviceptr *address,
                                size_t size, std::shared_ptr<MemoryPool> pool) {
  uint64_t taken = (size + granule - 1) / granule * granule;
  Device &device = *context.device;
  if (size > device.memory || taken > device.memory - device.used)
    return OUT_OF_MEMORY;
  uint64_t made = context.memory.allocate(size);
  if (!made)
    return OUT_OF_MEMORY;
  device.used += taken;
  DeviceMemory memory;
  memory.context = &context;
  memory.size = size;
  memory.taken = taken;
  memory.pool = std::move(pool);
  context.allocations[made] = memory;
  count(CudaDouble::DeviceMemory, 1);
  CudaDouble &control = ashlar_cuda_double;
  int64_t now = control.bytes += int64_t(size);
  control.mostBytes = std::max<int64_t>(control.mostBytes, now);
  *address = made;
  return SUCCESS;
}

void ashlar::cuda::releaseMemory(Context &context, CUdeviceptr address) {
  auto found = context.allocations.find(address);
  const auto &pool = found->second.pool;
  if (pool && !pool->isDestroyed)
    pool->held += found->second.taken;
  else
    context.device->used -= found->second.taken;
  ashlar_cuda_double.bytes -= int64_t(found->second.size);
  context.allocations.erase(found);
  context.memory.release(address);
  count(CudaDouble::DeviceMemory, -1);
}

void ashlar::cuda::trimPools() {
  for (auto &[handle, pool] : state().pools)
    pool->device->used -= std::exchange(pool->held, 0);
}

PhysicalMemory::~PhysicalMemory() {
  close(descriptor);
  if (!isCounted)
    return;
  device->used -= size;
  ashlar_cuda_double.bytes -= int64_t(size);
}

void ashlar::cuda::unmap(CUdeviceptr address) {
  Reservation &place = state().reservations.at(address);
  if (place.context) {
    place.context->memory.release(address);
    place.context->allocations.erase(address);
  }
  // The addresses stay reserved.
  mmap(reinterpret_cast<void *>(address - ashlar::ptx::Memory::beyond),
       place.size, PROT_NONE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  place.context = nullptr;
  place.mapped = nullptr;
  count(CudaDouble::VirtualMemory, -1);
}

ASHLAR_CUDA_EXPORT cuMemGetInfo_v2(size_t *unused, size_t *total) {
  ASHLAR_CUDA_BEGIN(Call::Current)
  const Device &device = *call.context->device;
  if (unused)
    *unused = device.memory - device.used;
  if (total)
    *total = device.memory;
  return SUCCESS;
}

ASHLAR_CUDA_EXPORT cuMemAlloc_v2(CUdeviceptr *address, size_t size) {
  ASHLAR_CUDA_BEGIN(Call::Current)
  ASHLAR_CUDA_NOT_NULL(address)
  if (size == 0)
    return call.misuse(INVALID_VALUE, "no bytes");
  ++ashlar_cuda_double.waitingAllocations;
  return allocate(*call.context, address, size);
}

ASHLAR_CUDA_EXPORT cuMemAllocAsync(CUdeviceptr *address, size_t size,
                                   CUstream handle) {
  ASHLAR_CUDA_BEGIN(Call::Current)
  ASHLAR_CUDA_NOT_NULL(address)
  auto stream = call.stream(handle);
  if (!stream)
    return call.refusal;
  if (size == 0)
    return call.misuse(INVALID_VALUE, "no bytes");
  return allocate(*call.context, address, size);
}

/// The allocation that begins there and that no one gave back; null: misuse.
static DeviceMemory *allocationOf(Call &call, CUdeviceptr address) {
  auto &all = call.context->allocations;
  auto found = all.find(address);
  if (found != all.end() && !found->second.isBeingFreed &&
      !found->second.isMapped)
    return &found->second;
  call.refusal = call.misuse(
      INVALID_VALUE,
      ashlar::ptx::hex(address) +
          (found != all.end() ? found->second.isMapped
                                    ? " is mapped, not allocated"
                                    : " was given back already"
                              : " is where no allocation of the current "
                                "context begins; was it given back?"));
  return nullptr;
}

ASHLAR_CUDA_EXPORT cuMemFree_v2(CUdeviceptr address) {
  ASHLAR_CUDA_BEGIN(Call::Current, true)
  if (address == 0)
    return call.result;
  DeviceMemory *memory = allocationOf(call, address);
  if (!memory)
    return call.refusal;
  ++ashlar_cuda_double.waitingAllocations;
  if (const char *user =
          userOf(*call.context, {address, address + memory->size}, nullptr)) {
    CUresult code = call.misuse(
        INVALID_VALUE, ashlar::ptx::hex(address) +
                           " is given back while it is used by " + user);
    waitForAll(call.lock, *call.context);
    releaseMemory(*call.context, address);
    return code;
  }
  releaseMemory(*call.context, address);
  return call.result;
}

ASHLAR_CUDA_EXPORT cuMemFreeAsync(CUdeviceptr address, CUstream handle) {
  ASHLAR_CUDA_BEGIN(Call::Current, true)
  auto stream = call.stream(handle);
  if (!stream)
    return call.refusal;
  if (address == 0)
    return call.result;
  DeviceMemory *memory = allocationOf(call, address);
  if (!memory)
    return call.refusal;
  memory->isBeingFreed = true;
  Context *context = call.context;
  uint64_t end = address + memory->size;
  Task task;
  task.what = "cuMemFreeAsync";
  task.isAlways = true;
  const Stream *self = stream.get();
  task.run = [context, address, end, self] {
    Lock lock(state().mutex);
    if (const char *user = userOf(*context, {address, end}, self)) {
      ++ashlar_cuda_double.misuses;
      std::fprintf(stderr,
                   "cuda double: misuse: cuMemFreeAsync: 0x%llx is given back "
                   "while another stream uses it for %s\n",
                   address, user);
      if (!ashlar_cuda_double.isMisuseFailure)
        std::abort();
    }
    releaseMemory(*context, address);
  };
  submit(stream, std::move(task));
  return call.result;
}

ASHLAR_CUDA_EXPORT cuMemHostAlloc(void **address, size_t size, unsigned flags) {
  ASHLAR_CUDA_BEGIN(Call::Current)
  ASHLAR_CUDA_NOT_NULL(address)
  if (size == 0)
    return call.misuse(INVALID_VALUE, "no bytes");
  if (flags & ~unsigned(HostPortable | HostDeviceMap | HostWriteCombined))
    return call.misuse(INVALID_VALUE, "flags that there are not");
  void *made = nullptr;
  if (posix_memalign(&made, 4096, size))
    return OUT_OF_MEMORY;
  call.context->pinned[reinterpret_cast<uint64_t>(made)] = size;
  count(CudaDouble::HostMemory, 1);
  *address = made;
  return SUCCESS;
}

ASHLAR_CUDA_EXPORT cuMemFreeHost(void *address) {
  ASHLAR_CUDA_BEGIN(Call::Current, true)
  auto &pinned = call.context->pinned;
  uint64_t begin = reinterpret_cast<uint64_t>(address);
  auto found = pinned.find(begin);
  if (found == pinned.end())
    return call.misuse(INVALID_VALUE,
                       ashlar::ptx::hex(begin) +
                           " is no host memory of the current context's");
  CUresult code = call.result;
  if (const char *user =
          userOf(*call.context, {begin, begin + found->second}, nullptr)) {
    code = call.misuse(INVALID_VALUE,
                       ashlar::ptx::hex(begin) +
                           " is given back while it is used by " + user);
    waitForAll(call.lock, *call.context);
  }
  pinned.erase(begin);
  std::free(address);
  count(CudaDouble::HostMemory, -1);
  return code;
}

ASHLAR_CUDA_EXPORT cuPointerGetAttribute(void *data, int attribute,
                                         CUdeviceptr address) {
  ASHLAR_CUDA_BEGIN(Call::Current)
  ASHLAR_CUDA_NOT_NULL(data)
  auto holds = [&](auto &in, auto sizeOf) {
    auto after = in.upper_bound(address);
    if (after == in.begin())
      return in.end();
    --after;
    return address - after->first < sizeOf(after->second) ? after : in.end();
  };
  auto &allocations = call.context->allocations;
  auto memory =
      holds(allocations, [](const DeviceMemory &each) { return each.size; });
  auto &pinned = call.context->pinned;
  auto host = holds(pinned, [](uint64_t size) { return size; });
  bool isDevice = memory != allocations.end();
  // What is no memory of the driver's is none of its errors.
  if (!isDevice && host == pinned.end())
    return INVALID_VALUE;
  switch (attribute) {
  case 1: // CONTEXT
    *static_cast<CUcontext *>(data) = call.context->handle;
    return SUCCESS;
  case 2: // MEMORY_TYPE
    *static_cast<unsigned *>(data) = isDevice ? 2 : 1;
    return SUCCESS;
  case 9: // DEVICE_ORDINAL
    *static_cast<int *>(data) = call.context->device->ordinal;
    return SUCCESS;
  case 11: // RANGE_START_ADDR
    *static_cast<CUdeviceptr *>(data) = isDevice ? memory->first : host->first;
    return SUCCESS;
  case 12: // RANGE_SIZE
    *static_cast<size_t *>(data) =
        isDevice ? memory->second.size : host->second;
    return SUCCESS;
  }
  return call.misuse(INVALID_VALUE, "the double does not know attribute " +
                                        std::to_string(attribute));
}
