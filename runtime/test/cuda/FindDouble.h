// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The driver double, for tests of the device that has it as its driver.

#ifndef ASHLAR_RUNTIME_TEST_CUDA_FINDDOUBLE_H
#define ASHLAR_RUNTIME_TEST_CUDA_FINDDOUBLE_H

#include "CudaDouble.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

namespace ashlar::test {

inline constexpr char noDouble[] = "the double is not in LD_LIBRARY_PATH";

/// Null: the driver is another one, or there is none.
inline CudaDouble *findDouble() {
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  return library
             ? static_cast<CudaDouble *>(dlsym(library, "ashlar_cuda_double"))
             : nullptr;
}

/// The same of AMD's.
inline CudaDouble *findHipDouble() {
  void *library = dlopen("libamdhip64.so.6", RTLD_NOW);
  return library
             ? static_cast<CudaDouble *>(dlsym(library, "ashlar_hip_double"))
             : nullptr;
}

/// Of contexts, memory, streams and the like.
inline void expectNothingAlive(const CudaDouble &driver) {
  for (int i = 0; i < CudaDouble::Kinds; ++i)
    EXPECT_EQ(driver.alive[i], 0) << i;
}

} // namespace ashlar::test

#endif // ASHLAR_RUNTIME_TEST_CUDA_FINDDOUBLE_H
