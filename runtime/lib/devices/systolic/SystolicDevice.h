// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_SYSTOLIC_SYSTOLICDEVICE_H
#define ASHLAR_RUNTIME_LIB_DEVICES_SYSTOLIC_SYSTOLICDEVICE_H

#include "../Device.h"

namespace ashlar::runtime {
extern const DeviceOps systolicDeviceOps;
}

#endif // ASHLAR_RUNTIME_LIB_DEVICES_SYSTOLIC_SYSTOLICDEVICE_H
