// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one list of devices: those of ASHLAR_DEVICES, in its order, null, and
// what only tests link, behind them.

#include "Device.h"

#define ASHLAR_DEVICE(NAME)                                                    \
  namespace ashlar::runtime {                                                  \
  extern const DeviceOps NAME##DeviceOps;                                      \
  }
#include "BuiltDevices.def"
#undef ASHLAR_DEVICE
namespace ashlar::runtime {
// No address where it is not linked.
extern const DeviceOps guardDeviceOps __attribute__((weak));
} // namespace ashlar::runtime

namespace ashlar::runtime {

const Vector<const DeviceOps *> &allDevices() {
#define ASHLAR_DEVICE(NAME) &NAME##DeviceOps,
  static const Vector<const DeviceOps *> devices = [] {
    OwnMemory::Scope ofAll(nullptr); // whichever runtime asks first
    Vector<const DeviceOps *> list = {
#include "BuiltDevices.def"
    };
    if (&guardDeviceOps)
      list.push_back(&guardDeviceOps);
    return list;
  }();
  return devices;
}

} // namespace ashlar::runtime
