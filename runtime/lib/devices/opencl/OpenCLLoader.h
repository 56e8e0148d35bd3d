// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The system's OpenCL loader and the devices that its drivers have. Nothing is
// opened before somebody asks.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_OPENCL_OPENCLLOADER_H
#define ASHLAR_RUNTIME_LIB_DEVICES_OPENCL_OPENCLLOADER_H

#include "../../OwnMemory.h"
#include "OpenCLApi.h"

namespace ashlar::runtime::opencl {

/// What the loader found; never changes, lives as long as the process.
struct Drivers {
  ASHLAR_OWN_NEW
  /// By whom a device is driven.
  struct Device {
    Platform platform;
    DeviceId id;
  };
  Functions functions;    // the last may be null
  Vector<Device> devices; // of all platforms, in the loader's order
};

/// Opens libOpenCL.so.1 and asks each driver for its devices, once for the
/// process: drivers start threads and cannot be closed. Without a loader, or
/// with one that lacks a function, there are no devices.
const Drivers &drivers();

} // namespace ashlar::runtime::opencl

#endif // ASHLAR_RUNTIME_LIB_DEVICES_OPENCL_OPENCLLOADER_H
