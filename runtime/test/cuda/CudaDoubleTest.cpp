// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The driver double by itself: it does what a driver does, and it sees what no
// program may do.

#include "CudaDouble.h"
#include "CudaApi.h"
#include "PtxKernel.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

using namespace ashlar::cuda;
using ashlar::test::CudaDouble;

namespace {

void *library() {
  static void *opened = dlopen(ASHLAR_CUDA_DOUBLE, RTLD_NOW | RTLD_LOCAL);
  return opened;
}
template <class... Given> CUresult cu(const char *name, Given... given) {
  void *found = dlsym(library(), name);
  EXPECT_NE(found, nullptr) << name;
  return reinterpret_cast<CUresult (*)(Given...)>(found)(given...);
}

/// out[i] = 2 * in[i]
const char *doubling = "mul.wide.u32 %rd10, %r0, 4;\n"
                       "add.s64 %rd11, %rd0, %rd10;\n"
                       "add.s64 %rd12, %rd1, %rd10;\n"
                       "ld.global.u32 %r10, [%rd11];\n"
                       "add.u32 %r10, %r10, %r10;\n"
                       "st.global.u32 [%rd12], %r10;";

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

TEST_F(CudaDoubleTest, CopiesAndALaunchInAStreamsOrder) {
  CUfunction function = load(ashlar::ptx::kernelText(2, doubling, "", "sm_80"));
  std::vector<uint32_t> in(64), out(64);
  for (uint32_t i = 0; i < 64; ++i)
    in[i] = i * i;
  CUdeviceptr from = allocate(256), to = allocate(256);
  void *parameters[] = {&from, &to};
  EXPECT_EQ(cu("cuMemcpyHtoDAsync_v2", from,
               static_cast<const void *>(in.data()), size_t(256), stream),
            SUCCESS);
  EXPECT_EQ(launch(function, 64, parameters), SUCCESS);
  EXPECT_EQ(cu("cuMemcpyDtoHAsync_v2", static_cast<void *>(out.data()), to,
               size_t(256), stream),
            SUCCESS);
  EXPECT_EQ(cu("cuStreamSynchronize", stream), SUCCESS);
  for (uint32_t i = 0; i < 64; ++i)
    EXPECT_EQ(out[i], 2 * i * i);
  EXPECT_EQ(cu("cuMemFree_v2", from), SUCCESS);
  EXPECT_EQ(cu("cuMemFree_v2", to), SUCCESS);
  EXPECT_EQ(cu("cuModuleUnload", module), SUCCESS);
  EXPECT_EQ(misuses(), 0u);
}

TEST_F(CudaDoubleTest, AFaultStaysUntilTheContextGoes) {
  CUfunction function = load(ashlar::ptx::kernelText(2, doubling, "", "sm_80"));
  CUdeviceptr from = allocate(128), to = allocate(256);
  EXPECT_EQ(cu("cuMemsetD32Async", from, 1u, size_t(32), stream), SUCCESS);
  void *parameters[] = {&from, &to};
  EXPECT_EQ(launch(function, 64, parameters), SUCCESS);
  EXPECT_EQ(cu("cuStreamSynchronize", stream), ILLEGAL_ADDRESS);
  EXPECT_EQ(launch(function, 32, parameters), ILLEGAL_ADDRESS);
  CUdeviceptr more = 0;
  EXPECT_EQ(cu("cuMemAlloc_v2", &more, size_t(4)), ILLEGAL_ADDRESS);
  EXPECT_EQ(cu("cuMemFree_v2", from), ILLEGAL_ADDRESS);
  EXPECT_EQ(cu("cuMemFree_v2", to), ILLEGAL_ADDRESS);
  EXPECT_EQ(cu("cuModuleUnload", module), ILLEGAL_ADDRESS);
}

} // namespace
