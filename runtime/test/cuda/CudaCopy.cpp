// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies and fills. Memory that the driver did not allocate is staged, as the
// manual says of pageable memory: what a copy reads is read before the call
// returns, what it writes is written by then.

#include "CudaExport.h"

#include <cstring>

using namespace ashlar::cuda;

static bool isPinned(const Context &context, const void *host, size_t size) {
  uint64_t address = reinterpret_cast<uint64_t>(host);
  auto after = context.pinned.upper_bound(address);
  if (after == context.pinned.begin())
    return false;
  --after;
  return address - after->first < after->second &&
         size <= after->second - (address - after->first);
}

static Range rangeOf(const void *host, size_t size) {
  uint64_t address = reinterpret_cast<uint64_t>(host);
  return {address, address + size};
}

static CUresult toDevice(Call &call, CUdeviceptr to, const void *from,
                         size_t size, CUstream handle, bool waits) {
  auto stream = call.stream(handle);
  if (!stream)
    return call.refusal;
  if (size == 0)
    return SUCCESS;
  if (!from)
    return call.misuse(INVALID_VALUE, "the source is null");
  if (!call.checkDevice(to, size, "a write"))
    return call.refusal;
  uint8_t *target = call.context->memory.onHost(to, size);
  Task task;
  task.what = "a copy to the device";
  task.uses = {{to, to + size}};
  const bool isHostPinned = isPinned(*call.context, from, size);
  if (stream->capturing && !isHostPinned)
    return call.misuseOfCapture(*stream, "a copy of memory that is not pinned");
  if (isHostPinned) {
    task.uses.push_back(rangeOf(from, size));
    task.run = [=] { std::memcpy(target, from, size); };
  } else {
    ashlar_cuda_double.stagedCopies += size > (64 << 10);
    const auto *bytes = static_cast<const uint8_t *>(from);
    auto staged = std::make_shared<std::vector<uint8_t>>(bytes, bytes + size);
    task.run = [=] { std::memcpy(target, staged->data(), size); };
  }
  uint64_t ticket = submit(stream, std::move(task));
  if (waits)
    waitFor(call.lock, *stream, ticket);
  return waits ? call.context->fault : SUCCESS;
}

static CUresult toHost(Call &call, void *to, CUdeviceptr from, size_t size,
                       CUstream handle, bool waits) {
  auto stream = call.stream(handle);
  if (!stream)
    return call.refusal;
  if (size == 0)
    return SUCCESS;
  if (!to)
    return call.misuse(INVALID_VALUE, "the target is null");
  if (!call.checkDevice(from, size, "a read"))
    return call.refusal;
  const uint8_t *source = call.context->memory.onHost(from, size);
  Task task;
  task.what = "a copy from the device";
  task.uses = {{from, from + size}, rangeOf(to, size)};
  task.run = [=] { std::memcpy(to, source, size); };
  const bool isHostPinned = isPinned(*call.context, to, size);
  if (stream->capturing && !isHostPinned)
    return call.misuseOfCapture(*stream, "a copy to memory that is not pinned");
  waits |= !isHostPinned;
  uint64_t ticket = submit(stream, std::move(task));
  if (waits)
    waitFor(call.lock, *stream, ticket);
  return waits ? call.context->fault : SUCCESS;
}

static CUresult within(Call &call, CUdeviceptr to, CUdeviceptr from,
                       size_t size, CUstream handle, bool waits) {
  auto stream = call.stream(handle);
  if (!stream)
    return call.refusal;
  if (size == 0)
    return SUCCESS;
  if (!call.checkDevice(to, size, "a write") ||
      !call.checkDevice(from, size, "a read"))
    return call.refusal;
  if (to < from + size && from < to + size)
    return call.misuse(INVALID_VALUE, "source and target overlap");
  uint8_t *target = call.context->memory.onHost(to, size);
  const uint8_t *source = call.context->memory.onHost(from, size);
  Task task;
  task.what = "a copy within the device";
  task.uses = {{to, to + size}, {from, from + size}};
  task.run = [=] { std::memcpy(target, source, size); };
  uint64_t ticket = submit(stream, std::move(task));
  if (waits)
    waitFor(call.lock, *stream, ticket);
  return waits ? call.context->fault : SUCCESS;
}

ASHLAR_CUDA_EXPORT cuMemcpyHtoD_v2(CUdeviceptr to, const void *from,
                                   size_t size) {
  ASHLAR_CUDA_BEGIN(Call::Current)
  return toDevice(call, to, from, size, nullptr, true);
}
ASHLAR_CUDA_EXPORT cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from,
                                        size_t size, CUstream stream) {
  ASHLAR_CUDA_BEGIN(Call::Current)
  return toDevice(call, to, from, size, stream, false);
}
ASHLAR_CUDA_EXPORT cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t size) {
  ASHLAR_CUDA_BEGIN(Call::Current)
  return toHost(call, to, from, size, nullptr, true);
}
ASHLAR_CUDA_EXPORT cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t size,
                                        CUstream stream) {
  ASHLAR_CUDA_BEGIN(Call::Current)
  return toHost(call, to, from, size, stream, false);
}
ASHLAR_CUDA_EXPORT cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from,
                                   size_t size) {
  ASHLAR_CUDA_BEGIN(Call::Current)
  return within(call, to, from, size, nullptr, false);
}
ASHLAR_CUDA_EXPORT cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from,
                                        size_t size, CUstream stream) {
  ASHLAR_CUDA_BEGIN(Call::Current)
  return within(call, to, from, size, stream, false);
}

/// Addresses say what they are of.
ASHLAR_CUDA_EXPORT cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t size,
                                 CUstream stream) {
  ASHLAR_CUDA_BEGIN(Call::Current)
  bool toDeviceMemory = to >= ashlar::ptx::Memory::beyond,
       fromDeviceMemory = from >= ashlar::ptx::Memory::beyond;
  if (toDeviceMemory && fromDeviceMemory)
    return within(call, to, from, size, stream, false);
  if (toDeviceMemory)
    return toDevice(call, to, reinterpret_cast<const void *>(from), size,
                    stream, false);
  if (fromDeviceMemory)
    return toHost(call, reinterpret_cast<void *>(to), from, size, stream,
                  false);
  return call.misuse(INVALID_VALUE, "a copy from the host to the host");
}

template <class T>
static CUresult fill(Call &call, CUdeviceptr to, T value, size_t count,
                     CUstream handle, bool waits) {
  auto stream = call.stream(handle);
  if (!stream)
    return call.refusal;
  if (count == 0)
    return SUCCESS;
  size_t size = count * sizeof(T);
  if (to % sizeof(T))
    return call.misuse(INVALID_VALUE, "the target is not aligned");
  if (!call.checkDevice(to, size, "a write"))
    return call.refusal;
  uint8_t *target = call.context->memory.onHost(to, size);
  Task task;
  task.what = "a fill";
  task.uses = {{to, to + size}};
  task.run = [=] {
    // Each whole: a kernel of another stream may wait for it.
    T *elements = reinterpret_cast<T *>(target);
    for (size_t i = 0; i < count; ++i)
      __atomic_store_n(elements + i, value, __ATOMIC_RELEASE);
  };
  uint64_t ticket = submit(stream, std::move(task));
  if (waits)
    waitFor(call.lock, *stream, ticket);
  return SUCCESS;
}

ASHLAR_CUDA_EXPORT cuMemsetD8Async(CUdeviceptr to, unsigned char value,
                                   size_t count, CUstream stream) {
  ASHLAR_CUDA_BEGIN(Call::Current)
  return fill(call, to, value, count, stream, false);
}
ASHLAR_CUDA_EXPORT cuMemsetD32Async(CUdeviceptr to, unsigned value,
                                    size_t count, CUstream stream) {
  ASHLAR_CUDA_BEGIN(Call::Current)
  return fill(call, to, value, count, stream, false);
}
ASHLAR_CUDA_EXPORT cuMemsetD8_v2(CUdeviceptr to, unsigned char value,
                                 size_t count) {
  ASHLAR_CUDA_BEGIN(Call::Current)
  return fill(call, to, value, count, nullptr, true);
}
ASHLAR_CUDA_EXPORT cuMemsetD32_v2(CUdeviceptr to, unsigned value,
                                  size_t count) {
  ASHLAR_CUDA_BEGIN(Call::Current)
  return fill(call, to, value, count, nullptr, true);
}
