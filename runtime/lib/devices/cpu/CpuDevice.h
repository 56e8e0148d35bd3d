// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_CPU_CPUDEVICE_H
#define ASHLAR_RUNTIME_LIB_DEVICES_CPU_CPUDEVICE_H

#include "../Device.h"

namespace ashlar::runtime {
extern const DeviceOps cpuDeviceOps;
}

#endif // ASHLAR_RUNTIME_LIB_DEVICES_CPU_CPUDEVICE_H
