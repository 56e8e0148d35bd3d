// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory that a session owns, charged as long as it exists.

#ifndef ASHLAR_RUNTIME_LIB_BUFFER_H
#define ASHLAR_RUNTIME_LIB_BUFFER_H

#include "Budget.h"
#include "devices/Device.h"

namespace ashlar::runtime {

class Buffer {
public:
  Buffer() = default;
  Buffer(Buffer &&) = delete;
  ~Buffer();

  /// Takes over the receipt of what has been charged. At most once. It can grow
  /// to `room` bytes where it is; on a CPU, room is no memory until it is used.
  Status allocate(ashlar_device_t &device, uint64_t bytes, Charge receipt,
                  uint64_t room = 0);
  /// The same in the host's memory, whatever the device.
  Status allocateHost(uint64_t bytes, Charge receipt, uint64_t room = 0);
  /// To at least `bytes`, within the room; what is new is charged first.
  Status grow(uint64_t bytes, Budget &budget, const std::string &holder,
              ashlar_memory_kind_t kind);

  void *data() const { return address; }
  uint64_t size() const { return used; }

private:
  std::vector<Charge> charges;
  ashlar_device_t *device = nullptr; // null: the host
  void *address = nullptr;
  uint64_t byteCount = 0; // with room
  uint64_t used = 0;
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_BUFFER_H
