// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether the machine and the build have what tests of kernels on the device
// level-zero need: a driver and a GPU, or the double that ctest puts in front,
// which an OpenCL device runs the kernels for.

#ifndef ASHLAR_RUNTIME_CONFORMANCE_NEEDSLEVELZERO_H
#define ASHLAR_RUNTIME_CONFORMANCE_NEEDSLEVELZERO_H

#include "ModuleBuilder.h"
#include "devices/Device.h"

namespace ashlar::runtime {
extern const DeviceOps level_zeroDeviceOps;
}

namespace ashlar::test {

/// Empty: they can run on level-zero:0.
inline std::string whyNoLevelZero() {
  if (runtime::level_zeroDeviceOps.count() == 0)
    return "no GPU of Level Zero's, and no driver double in LD_LIBRARY_PATH "
           "with an OpenCL device behind it (docs/gpu.md)";
  if (levelZeroKernels().empty())
    return "no kernels for Level Zero: the build found no clang-22";
  return "";
}

} // namespace ashlar::test

#endif // ASHLAR_RUNTIME_CONFORMANCE_NEEDSLEVELZERO_H
