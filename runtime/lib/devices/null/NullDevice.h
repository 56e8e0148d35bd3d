// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_NULL_NULLDEVICE_H
#define ASHLAR_RUNTIME_LIB_DEVICES_NULL_NULLDEVICE_H

#include "../Device.h"

namespace ashlar::runtime {
/// Takes any code and computes nothing: what a new device is copied from.
extern const DeviceOps nullDeviceOps;
} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_DEVICES_NULL_NULLDEVICE_H
