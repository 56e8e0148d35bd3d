// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SharedMemory.h"

namespace ashlar::runtime {

SharedMemory::~SharedMemory() {
  if (memory.size)
    device->ops.external->close(device->state, memory);
}

Status SharedMemory::open(const ashlar_device_t &on, Budget &budget,
                          const String &name, int descriptor, uint64_t bytes) {
  if (!runtime->owns(on))
    return invalidArgument("the device is none of this runtime's", "device");
  ASHLAR_RETURN_IF_ERROR(runtime->device(on.name, device));
  ASHLAR_RETURN_IF_ERROR(device->status());
  const ExternalOps *ops = device->ops.external;
  if (!ops)
    return failure(ASHLAR_UNSUPPORTED,
                   concat(device->name,
                          " gives and takes no memory by file descriptor; "
                          "within the process, ashlar_tensor_t.device takes "
                          "any of the device's memory, elsewhere copy by way "
                          "of the host's"),
                   device->name);
  uint64_t step = 0;
  ASHLAR_RETURN_IF_ERROR(ops->granularity(device->state, &step));
  if (bytes == 0 || bytes > UINT64_MAX - step)
    return invalidArgument(concat(bytes, " bytes; expected at least 1, and at "
                                         "most what the device has"),
                           "bytes");
  bytes = (bytes + step - 1) / step * step;
  ASHLAR_RETURN_IF_ERROR(budget.charge(
      name, {{ASHLAR_MEMORY_OUTPUTS, bytes, &charge, device.get()}}));
  return ops->open(device->state, descriptor, bytes, &memory);
}

Status SharedMemory::share(int *outDescriptor) const {
  return device->ops.external->share(device->state, memory, outDescriptor);
}

void SharedMemory::query(ashlar_memory_info_t &out) const {
  out.data = memory.address.pointer();
  out.bytes = memory.size;
  out.device = device.get();
}

} // namespace ashlar::runtime
