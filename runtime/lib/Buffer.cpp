// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Buffer.h"

#include <algorithm>
#include <sys/mman.h>

namespace ashlar::runtime {

static bool isHostMemory(const ashlar_device_t *device) {
  return !device || device->usesHostMemory();
}

static const char *nameOf(const ashlar_device_t *device) {
  return device ? device->name.c_str() : "host";
}

bool Buffer::growsInPlace(const Runtime &runtime,
                          const ashlar_device_t *device) {
  return isHostMemory(device) && !runtime.allocator();
}

Buffer::~Buffer() {
  if (!runtime)
    return;
  if (isEmbedders) {
    const ashlar_allocator_t &by = *runtime->allocator();
    by.free(by.context, nameOf(device), kind, address.base, byteCount);
  } else if (device) {
    device->ops.free(device->state, address, byteCount);
  } else {
    munmap(address.base, byteCount ? byteCount : 1);
  }
}

static Status noMemory(uint64_t bytes, const char *who) {
  return failure(ASHLAR_INTERNAL,
                 concat(who, " has no ", bytes, " bytes of memory"));
}

Status Buffer::allocate(const BufferUse &use, uint64_t bytes, Charge receipt,
                        uint64_t room) {
  room = std::max(room, bytes);
  const ashlar_allocator_t *by = use.runtime.allocator();
  DeviceAddress memory;
  if (by && isHostMemory(use.device) && room != 0) {
    memory.base = by->allocate(by->context, nameOf(use.device), use.kind, room);
    if (!memory.base)
      return noMemory(room, "the embedder's allocator");
    isEmbedders = true;
  } else if (use.device) {
    ASHLAR_RETURN_IF_ERROR(
        use.device->ops.allocate(use.device->state, room, use.kind, &memory));
  } else {
    memory.base = mmap(nullptr, room ? room : 1, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory.base == MAP_FAILED)
      return noMemory(room, "the system");
  }
  runtime = &use.runtime;
  device = use.device;
  kind = use.kind;
  address = memory;
  byteCount = room;
  used = bytes;
  charges.push_back(std::move(receipt));
  return {};
}

Status Buffer::grow(uint64_t bytes, Budget &budget, const std::string &holder) {
  if (bytes <= used)
    return {};
  if (bytes > byteCount)
    return corrupt("a size exceeds the module's own largest");
  Charge receipt;
  ASHLAR_RETURN_IF_ERROR(
      budget.charge(holder, {{kind, bytes - used, &receipt, device}}));
  charges.push_back(std::move(receipt));
  used = bytes;
  return {};
}

uint64_t Buffer::trim() {
  if (used == 0 || isEmbedders || !isHostMemory(device))
    return 0;
  // Mapped for us alone, so it reads as zeros when it is touched again.
  madvise(address.base, byteCount, MADV_DONTNEED);
  uint64_t bytes = used;
  charges.clear();
  used = 0;
  return bytes;
}

} // namespace ashlar::runtime
