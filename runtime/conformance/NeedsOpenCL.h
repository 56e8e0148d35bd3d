// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether the machine and the build have what tests of kernels on the device
// opencl need.

#ifndef ASHLAR_RUNTIME_CONFORMANCE_NEEDSOPENCL_H
#define ASHLAR_RUNTIME_CONFORMANCE_NEEDSOPENCL_H

#include "ModuleBuilder.h"
#include "ashlar/runtime/opencl_abi.h"
#include "devices/Device.h"

namespace ashlar::runtime {
extern const DeviceOps openclDeviceOps;
}

/// What a driver allocates and keeps is its own affair, under ASan as well.
extern "C" __attribute__((weak, used, visibility("default"))) const char *
__lsan_default_suppressions() {
  return "leak:libintelocl.so\nleak:libcommon_clang.so\nleak:libpocl\n";
}

namespace ashlar::test {

/// Empty: they can run on opencl:0.
inline std::string whyNoOpenCL() {
  const runtime::DeviceOps &ops = runtime::openclDeviceOps;
  if (ops.count() == 0)
    return "no OpenCL device; docs/gpu.md says what to install";
  ashlar_device_t device(ops, "opencl:0");
  if (runtime::Status opened = device.open(0); !opened.ok())
    return opened.message();
  if (!ops.accepts(device.state, ASHLAR_OPENCL_FORMAT))
    return "no OpenCL device that takes SPIR-V: opencl:0 does not";
  if (openclKernels().empty())
    return "no kernels for OpenCL: the build found no clang-22";
  return "";
}

} // namespace ashlar::test

#endif // ASHLAR_RUNTIME_CONFORMANCE_NEEDSOPENCL_H
