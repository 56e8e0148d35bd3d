// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether the machine and the build have what tests of kernels on the device
// cuda need: NVIDIA's driver, or the double that ctest puts in front.

#ifndef ASHLAR_RUNTIME_CONFORMANCE_NEEDSCUDA_H
#define ASHLAR_RUNTIME_CONFORMANCE_NEEDSCUDA_H

#include "ModuleBuilder.h"
#include "devices/Device.h"

namespace ashlar::runtime {
extern const DeviceOps cudaDeviceOps;
}

namespace ashlar::test {

/// Empty: they can run on cuda:0.
inline std::string whyNoCuda() {
  if (runtime::cudaDeviceOps.count() == 0)
    return "no GPU of NVIDIA's, and no driver double in LD_LIBRARY_PATH";
  if (cudaKernels().empty())
    return "no kernels for CUDA: the build found no clang-22";
  return "";
}

} // namespace ashlar::test

#endif // ASHLAR_RUNTIME_CONFORMANCE_NEEDSCUDA_H
