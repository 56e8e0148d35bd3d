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

  /// Takes over the receipt of what has been charged. At most once.
  Status allocate(ashlar_device_t &device, uint64_t bytes, Charge receipt);
  /// The same in the host's memory, whatever the device.
  Status allocateHost(uint64_t bytes, Charge receipt);

  void *data() const { return address; }
  uint64_t size() const { return byteCount; }

private:
  Charge charge;
  ashlar_device_t *device = nullptr; // null: the host
  void *address = nullptr;
  uint64_t byteCount = 0;
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_BUFFER_H
