// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Buffer.h"

#include <algorithm>
#include <sys/mman.h>

namespace ashlar::runtime {

Buffer::~Buffer() {
  if (!address)
    return;
  if (device)
    device->ops.free(device->state, address, byteCount);
  else
    munmap(address, byteCount ? byteCount : 1);
}

Status Buffer::allocate(ashlar_device_t &onDevice, uint64_t bytes,
                        Charge receipt, uint64_t room) {
  void *memory = nullptr;
  room = std::max(room, bytes);
  ASHLAR_RETURN_IF_ERROR(onDevice.ops.allocate(onDevice.state, room, &memory));
  device = &onDevice;
  address = memory;
  byteCount = room;
  used = bytes;
  charges.push_back(std::move(receipt));
  return {};
}

Status Buffer::allocateHost(uint64_t bytes, Charge receipt, uint64_t room) {
  room = std::max(room, bytes);
  void *memory = mmap(nullptr, room ? room : 1, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return Status(ASHLAR_INTERNAL,
                  concat("the system has no ", room, " bytes of memory"));
  address = memory;
  byteCount = room;
  used = bytes;
  charges.push_back(std::move(receipt));
  return {};
}

Status Buffer::grow(uint64_t bytes, Budget &budget, const std::string &holder,
                    ashlar_memory_kind_t kind) {
  if (bytes <= used)
    return {};
  if (bytes > byteCount)
    return corrupt("a size exceeds the module's own largest");
  Charge receipt;
  ASHLAR_RETURN_IF_ERROR(
      budget.charge(holder, {{kind, bytes - used, receipt}}));
  charges.push_back(std::move(receipt));
  used = bytes;
  return {};
}

} // namespace ashlar::runtime
