// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one list of devices.

#include "Device.h"
#include "cpu/CpuDevice.h"
#include "null/NullDevice.h"
#include "systolic/SystolicDevice.h"

const std::vector<const ashlar::runtime::DeviceOps *> &
ashlar::runtime::allDevices() {
  static const std::vector<const DeviceOps *> devices = {
      &cpuDeviceOps, &systolicDeviceOps, &nullDeviceOps};
  return devices;
}
