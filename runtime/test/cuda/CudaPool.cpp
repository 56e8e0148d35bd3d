// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pools of memory, in streams' order. What is free a pool holds until the host
// waits for a stream, as the manual says of a release threshold of 0. The rules
// are those of the manual's chapter "Stream Ordered Memory Allocator".

#include "CudaExport.h"

#include <algorithm>
#include <utility>

using namespace ashlar::cuda;
using ashlar::test::CudaDouble;

ASHLAR_CUDA_EXPORT cuMemPoolCreate(CUmemoryPool *pool,
                                   const CUmemPoolProps *of) {
  ASHLAR_CUDA_BEGIN(Call::Initialized)
  ASHLAR_CUDA_NOT_NULL(pool)
  ASHLAR_CUDA_NOT_NULL(of)
  if (!state().hasPools)
    return NOT_SUPPORTED;
  if (of->allocType != 1 || of->handleTypes != 0)
    return call.misuse(INVALID_VALUE, "the type is not PINNED, or memory has "
                                      "handles");
  if (of->location.type != 1)
    return call.misuse(INVALID_VALUE, "the location is no device");
  Device *device = call.device(of->location.id);
  if (!device)
    return call.refusal;
  if (of->win32SecurityAttributes || of->maxSize ||
      std::any_of(std::begin(of->reserved), std::end(of->reserved),
                  [](unsigned char byte) { return byte; }))
    return call.misuse(INVALID_VALUE, "what is reserved is not 0");
  auto made = std::make_shared<MemoryPool>();
  made->device = device;
  uint64_t handle = state().newHandle();
  state().pools[handle] = made;
  count(CudaDouble::Pools, 1);
  *pool = reinterpret_cast<CUmemoryPool>(handle);
  return SUCCESS;
}

static std::shared_ptr<MemoryPool> poolOf(Call &call, CUmemoryPool handle) {
  auto found = state().pools.find(reinterpret_cast<uint64_t>(handle));
  if (found != state().pools.end())
    return found->second;
  call.refusal = call.misuse(INVALID_VALUE, "there is no such pool");
  return nullptr;
}

ASHLAR_CUDA_EXPORT cuMemPoolDestroy(CUmemoryPool handle) {
  ASHLAR_CUDA_BEGIN(Call::Initialized, true)
  auto pool = poolOf(call, handle);
  if (!pool)
    return call.refusal;
  // What is not given back yet goes to the device when it is.
  pool->isDestroyed = true;
  pool->device->used -= std::exchange(pool->held, 0);
  state().pools.erase(reinterpret_cast<uint64_t>(handle));
  count(CudaDouble::Pools, -1);
  return call.result;
}

ASHLAR_CUDA_EXPORT cuMemAllocFromPoolAsync(CUdeviceptr *address, size_t size,
                                           CUmemoryPool handle,
                                           CUstream inOrder) {
  ASHLAR_CUDA_BEGIN(Call::Current)
  ASHLAR_CUDA_NOT_NULL(address)
  auto pool = poolOf(call, handle);
  auto stream = pool ? call.stream(inOrder) : nullptr;
  if (!stream)
    return call.refusal;
  if (size == 0)
    return call.misuse(INVALID_VALUE, "no bytes");
  if (pool->device != call.context->device)
    return call.misuse(INVALID_VALUE, "the pool is of another device");
  return allocate(*call.context, address, size, pool);
}
