// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A GPU's memory: from a pool of this device's own, in the order of a stream
// that has nothing else, so that whoever takes or gives back does not wait for
// what others run, as without one. What a pool has free it holds until the next
// wait (its release threshold is 0), which follows at once.

#include "GpuDevice.h"

namespace ashlar::runtime {

using namespace gpu;

Status GpuDevice::openPool() {
  if (!api.hasPools() || attribute(Attribute::Pools) == 0)
    return {};
  CurrentGpu current(*this);
  ASHLAR_RETURN_IF_ERROR(current.status());
  ASHLAR_RETURN_IF_ERROR(
      check(&api.StreamCreate, api.StreamCreate(&poolStream, nonBlocking)));
  PoolProperties properties;
  properties.place.id = id;
  const Code code = api.PoolCreate(&pool, &properties);
  // A driver may have the call and no pools, under virtualisation say.
  if (code != 0)
    pool = nullptr;
  return driver.causeOf(code) == Cause::Interface
             ? Status()
             : check(&api.PoolCreate, code);
}

void GpuDevice::closePool() {
  // It is the device's, whoever gets to its context.
  if (pool)
    api.PoolDestroy(pool);
  if (!poolStream)
    return;
  CurrentGpu current(*this);
  if (current)
    api.StreamDestroy(poolStream);
}

Status GpuDevice::checkMemory(uint64_t size) const {
  uint64_t used = allocated;
  if (size <= memoryBytes && used <= memoryBytes - size)
    return {};
  return failure(ASHLAR_OUT_OF_BUDGET,
                 concat("no memory for ", size, " bytes: ", name, " has ",
                        memoryBytes, ", of which ", used,
                        " are in use here; run fewer sessions or a smaller "
                        "model"),
                 name);
}

Status GpuDevice::allocate(uint64_t size, void *&out) {
  // There is no memory of no bytes, but an address.
  if (size == 0) {
    out = noBytes;
    return {};
  }
  ASHLAR_RETURN_IF_ERROR(checkMemory(size));
  CurrentGpu current(*this);
  ASHLAR_RETURN_IF_ERROR(current.status());
  const size_t bytes = size_t(size);
  const void *call = pool ? static_cast<const void *>(&api.PoolAlloc)
                          : static_cast<const void *>(&api.MemAlloc);
  void *made = nullptr;
  const Code code = pool ? api.PoolAlloc(&made, bytes, pool, poolStream)
                         : api.MemAlloc(&made, bytes);
  if (code != 0)
    return noMemory(call, code, size);
  // Then all streams may use it.
  if (Status given = pool ? finish(poolStream) : Status(); !given.ok()) {
    if (!silent)
      api.PoolFree(made, poolStream);
    return given;
  }
  out = made;
  allocated += size;
  return {};
}

Status GpuDevice::noMemory(const void *call, Code code, uint64_t size) const {
  if (driver.causeOf(code) != Cause::Memory)
    return failed(call, code);
  return failure(ASHLAR_OUT_OF_BUDGET,
                 concat(driver.nameOf(call), " failed with ",
                        driver.codeName(code), " on ", name, ": it has no ",
                        size, " bytes, ", uint64_t(allocated),
                        " are in use here; run fewer sessions or a smaller "
                        "model, or end other processes on it"),
                 name);
}

void GpuDevice::free(void *memory, uint64_t size) {
  if (size == 0)
    return;
  CurrentGpu current(*this);
  if (current && !pool)
    api.MemFree(memory);
  // The pool gives back to the driver what is free when the host waits.
  if (current && pool && api.PoolFree(memory, poolStream) == 0)
    (void)finish(poolStream);
  allocated -= size;
}

} // namespace ashlar::runtime
