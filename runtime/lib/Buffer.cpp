// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Buffer.h"

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
                        Charge receipt) {
  void *memory = nullptr;
  ASHLAR_RETURN_IF_ERROR(onDevice.ops.allocate(onDevice.state, bytes, &memory));
  device = &onDevice;
  address = memory;
  byteCount = bytes;
  charge = std::move(receipt);
  return {};
}

Status Buffer::allocateHost(uint64_t bytes, Charge receipt) {
  void *memory = mmap(nullptr, bytes ? bytes : 1, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return Status(ASHLAR_INTERNAL,
                  concat("the system has no ", bytes, " bytes of memory"));
  address = memory;
  byteCount = bytes;
  charge = std::move(receipt);
  return {};
}

} // namespace ashlar::runtime
