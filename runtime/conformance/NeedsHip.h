// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether the machine and the build have what tests of kernels on the device
// hip need: AMD's driver, or the double that ctest puts in front.

#ifndef ASHLAR_RUNTIME_CONFORMANCE_NEEDSHIP_H
#define ASHLAR_RUNTIME_CONFORMANCE_NEEDSHIP_H

#include "ModuleBuilder.h"
#include "devices/Device.h"

namespace ashlar::runtime {
extern const DeviceOps hipDeviceOps;
}

namespace ashlar::test {

/// Empty: they can run on hip:0.
inline std::string whyNoHip() {
  if (runtime::hipDeviceOps.count() == 0)
    return "no GPU of AMD's, and no driver double in LD_LIBRARY_PATH";
  if (hipKernels().empty())
    return "no kernels for HIP: the build found no clang-22";
  return "";
}

} // namespace ashlar::test

#endif // ASHLAR_RUNTIME_CONFORMANCE_NEEDSHIP_H
