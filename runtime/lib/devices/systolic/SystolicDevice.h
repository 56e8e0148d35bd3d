// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_SYSTOLIC_SYSTOLICDEVICE_H
#define ASHLAR_RUNTIME_LIB_DEVICES_SYSTOLIC_SYSTOLICDEVICE_H

#include "../Device.h"

namespace ashlar::runtime {
/// Machines that are simulated: an executable says which.
extern const DeviceOps systolicDeviceOps;
} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_DEVICES_SYSTOLIC_SYSTOLICDEVICE_H
