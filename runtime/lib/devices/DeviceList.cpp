// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one list of devices: those of ASHLAR_DEVICES, in its order, and null.

#include "Device.h"

#define ASHLAR_DEVICE(NAME)                                                    \
  namespace ashlar::runtime {                                                  \
  extern const DeviceOps NAME##DeviceOps;                                      \
  }
#include "BuiltDevices.def"
#undef ASHLAR_DEVICE

const std::vector<const ashlar::runtime::DeviceOps *> &
ashlar::runtime::allDevices() {
#define ASHLAR_DEVICE(NAME) &NAME##DeviceOps,
  static const std::vector<const DeviceOps *> devices = {
#include "BuiltDevices.def"
  };
  return devices;
}
