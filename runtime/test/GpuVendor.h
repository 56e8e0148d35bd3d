// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which vendor's device a test of GPUs is compiled for, and its driver's
// double: CUDA's, or HIP's with ASHLAR_TEST_HIP.

#ifndef ASHLAR_RUNTIME_TEST_GPUVENDOR_H
#define ASHLAR_RUNTIME_TEST_GPUVENDOR_H

#include "NeedsCuda.h"
#include "NeedsHip.h"
#include "cuda/FindDouble.h"

#include <cstring>

namespace ashlar::test {

#ifdef ASHLAR_TEST_HIP
inline constexpr char gpuDevice[] = "hip:0", gpuErrors[] = "hipError",
                      gpuLibrary[] = "libamdhip64.so.6", gpuPrefix[] = "hip";
inline constexpr auto useGpu = &ModuleBuilder::useHip;
/// Of the driver, in front of each that is made on a device, and around it.
inline constexpr unsigned gpuEnterCalls = 2, gpuContextCalls = 3;
inline std::string whyNoGpu() { return whyNoHip(); }
inline CudaDouble *findGpuDouble() { return findHipDouble(); }
#else
inline constexpr char gpuDevice[] = "cuda:0", gpuErrors[] = "CUDA_ERROR_",
                      gpuLibrary[] = "libcuda.so.1", gpuPrefix[] = "cu";
inline constexpr auto useGpu = &ModuleBuilder::useCuda;
inline constexpr unsigned gpuEnterCalls = 1, gpuContextCalls = 1;
inline std::string whyNoGpu() { return whyNoCuda(); }
inline CudaDouble *findGpuDouble() { return findDouble(); }
#endif

/// Why a test is skipped, or nothing: then `driver` is the double.
inline std::string whyNoDouble(CudaDouble *&driver) {
  std::string why = whyNoGpu();
  if (why.empty() && !(driver = findGpuDouble()))
    why = noDouble;
  return why;
}

/// "cuStreamQuery" and "hipStreamQuery" begin with "StreamQuery".
inline bool isCall(const char *name, const char *begin) {
  return std::strncmp(name + std::strlen(gpuPrefix), begin,
                      std::strlen(begin)) == 0;
}
/// Makes a device the thread's current one, or gives that back.
inline bool isOfTheThread(const char *name) {
  return isCall(name, "Ctx") || isCall(name, "SetDevice") ||
         isCall(name, "GetDevice");
}

} // namespace ashlar::test

#endif // ASHLAR_RUNTIME_TEST_GPUVENDOR_H
