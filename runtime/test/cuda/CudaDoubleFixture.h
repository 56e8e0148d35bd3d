// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls of the driver double from tests, each of which has a context and a
// stream.

#ifndef ASHLAR_RUNTIME_TEST_CUDA_CUDADOUBLEFIXTURE_H
#define ASHLAR_RUNTIME_TEST_CUDA_CUDADOUBLEFIXTURE_H

#include "CudaApi.h"
#include "CudaDouble.h"
#include "PtxKernel.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

namespace ashlar::cuda {

using ashlar::test::CudaDouble;

inline void *library() {
  static void *opened = dlopen(ASHLAR_CUDA_DOUBLE, RTLD_NOW | RTLD_LOCAL);
  return opened;
}
template <class... Given> CUresult cu(const char *name, Given... given) {
  void *found = dlsym(library(), name);
  EXPECT_NE(found, nullptr) << name;
  return reinterpret_cast<CUresult (*)(Given...)>(found)(given...);
}

class CudaDoubleTest : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_NE(library(), nullptr) << dlerror();
    control = static_cast<CudaDouble *>(dlsym(library(), "ashlar_cuda_double"));
    control->isMisuseFailure = true;
    control->start(0, 0, false);
    misusesBefore = control->misuses;
    ASSERT_EQ(cu("cuInit", 0u), SUCCESS);
    ASSERT_EQ(cu("cuDevicePrimaryCtxRetain", &context, 0), SUCCESS);
    ASSERT_EQ(cu("cuCtxSetCurrent", context), SUCCESS);
    ASSERT_EQ(cu("cuStreamCreate", &stream, 1u), SUCCESS);
  }
  void TearDown() override {
    control->start(0, 0, false);
    cu("cuStreamDestroy_v2", stream);
    EXPECT_EQ(cu("cuDevicePrimaryCtxRelease_v2", 0), SUCCESS);
    cu("cuCtxSetCurrent", CUcontext(nullptr));
    for (auto &each : control->alive)
      EXPECT_EQ(each, 0);
    EXPECT_EQ(control->bytes, 0);
  }
  uint64_t misuses() const { return control->misuses - misusesBefore; }

  CUdeviceptr allocate(size_t size) {
    CUdeviceptr made = 0;
    EXPECT_EQ(cu("cuMemAlloc_v2", &made, size), SUCCESS);
    return made;
  }
  CUfunction load(const std::string &text) {
    CUfunction function = nullptr;
    EXPECT_EQ(cu("cuModuleLoadData", &module,
                 static_cast<const void *>(text.c_str())),
              SUCCESS);
    EXPECT_EQ(cu("cuModuleGetFunction", &function, module, "k"), SUCCESS);
    return function;
  }
  CUresult launch(CUfunction function, unsigned threads, void **parameters,
                  unsigned shared = 0) {
    return cu("cuLaunchKernel", function, 1u, 1u, 1u, threads, 1u, 1u, shared,
              stream, parameters, static_cast<void **>(nullptr));
  }

  CudaDouble *control = nullptr;
  CUcontext context = nullptr;
  CUstream stream = nullptr;
  CUmodule module = nullptr;
  uint64_t misusesBefore = 0;
};

} // namespace ashlar::cuda

#endif // ASHLAR_RUNTIME_TEST_CUDA_CUDADOUBLEFIXTURE_H
