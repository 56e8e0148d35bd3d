// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_CPU_CPUDEVICE_H
#define ASHLAR_RUNTIME_LIB_DEVICES_CPU_CPUDEVICE_H

#include "../Device.h"

namespace ashlar::runtime {
/// The processor that this process runs on.
extern const DeviceOps cpuDeviceOps;
} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_DEVICES_CPU_CPUDEVICE_H
