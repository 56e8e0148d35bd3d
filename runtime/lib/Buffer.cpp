// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CheckedMath.h"
#include "SharedArena.h"

#include <algorithm>
#include <sys/mman.h>
#include <unistd.h>

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
  if (shared)
    shared->quit(*this, sharedNumber);
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

Status Buffer::grow(uint64_t bytes, Budget &budget, const String &holder) {
  if (bytes <= used)
    return {};
  if (shared)
    return shared->grow(*this, sharedNumber, bytes);
  if (bytes > byteCount)
    return corrupt("a size exceeds the module's own largest");
  Charge receipt;
  ASHLAR_RETURN_IF_ERROR(
      budget.charge(holder, {{kind, bytes - used, &receipt, device}}));
  charges.push_back(std::move(receipt));
  used = bytes;
  return {};
}

uint64_t Buffer::shrink(uint64_t bytes) {
  if (used <= bytes || isEmbedders || !isHostMemory(device))
    return 0;
  // Mapped for us alone, so it reads as zeros when it is touched again.
  uint64_t kept = alignUp(bytes, uint64_t(sysconf(_SC_PAGESIZE)));
  if (kept < byteCount)
    madvise(static_cast<char *>(address.base) + kept, byteCount - kept,
            MADV_DONTNEED);
  uint64_t all = used - bytes;
  for (uint64_t left = all; left;) {
    left -= charges.back().payBack(left);
    if (charges.back().isEmpty())
      charges.pop_back();
  }
  used = bytes;
  return all;
}

void Buffer::takeCharges(Buffer &before) {
  before.charges.reserve(before.charges.size() + charges.size());
  for (Charge &each : charges)
    before.charges.push_back(std::move(each));
  charges = std::move(before.charges);
}

void Buffer::share(SharedArena &of, uint32_t number, ashlar_device_t *on,
                   uint64_t bytes) {
  shared = &of;
  sharedNumber = number;
  device = on;
  used = bytes;
}

DeviceAddress Buffer::sharedPlace() const {
  return shared->at(sharedNumber, device);
}

uint64_t Buffer::trimShared() { return shared->trim(*this, sharedNumber); }

} // namespace ashlar::runtime
