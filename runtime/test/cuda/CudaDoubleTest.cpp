// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The driver double by itself: it does what a driver does, and it sees what no
// program may do.

#include "CudaDoubleFixture.h"

#include <thread>

using namespace ashlar::cuda;

namespace {

/// out[i] = 2 * in[i]
const char *doubling = "mul.wide.u32 %rd10, %r0, 4;\n"
                       "add.s64 %rd11, %rd0, %rd10;\n"
                       "add.s64 %rd12, %rd1, %rd10;\n"
                       "ld.global.u32 %r10, [%rd11];\n"
                       "add.u32 %r10, %r10, %r10;\n"
                       "st.global.u32 [%rd12], %r10;";

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

TEST_F(CudaDoubleTest, WhatWasGivenBackIsNotUsedAgain) {
  CUdeviceptr memory = allocate(64);
  EXPECT_EQ(cu("cuMemFree_v2", memory), SUCCESS);
  EXPECT_EQ(cu("cuMemFree_v2", memory), INVALID_VALUE);
  EXPECT_EQ(cu("cuMemsetD8Async", memory, static_cast<unsigned char>(1),
               size_t(64), stream),
            INVALID_VALUE);
  EXPECT_EQ(misuses(), 2u);

  CUevent event = nullptr;
  EXPECT_EQ(cu("cuEventCreate", &event, 0u), SUCCESS);
  EXPECT_EQ(cu("cuEventDestroy_v2", event), SUCCESS);
  EXPECT_EQ(cu("cuEventDestroy_v2", event), INVALID_HANDLE);
  EXPECT_EQ(cu("cuEventRecord", event, stream), INVALID_HANDLE);
  EXPECT_EQ(misuses(), 4u);

  CUstream other = nullptr;
  EXPECT_EQ(cu("cuStreamCreate", &other, 0u), SUCCESS);
  EXPECT_EQ(cu("cuStreamDestroy_v2", other), SUCCESS);
  EXPECT_EQ(cu("cuStreamSynchronize", other), INVALID_HANDLE);

  CUfunction function = load(ashlar::ptx::kernelText(2, doubling, "", "sm_80"));
  EXPECT_EQ(cu("cuModuleUnload", module), SUCCESS);
  EXPECT_EQ(cu("cuModuleUnload", module), INVALID_HANDLE);
  CUdeviceptr none = 0;
  void *parameters[] = {&none, &none};
  EXPECT_EQ(launch(function, 1, parameters), INVALID_HANDLE);
  EXPECT_EQ(misuses(), 7u);
}

TEST_F(CudaDoubleTest, CopiesStayWithinAnAllocation) {
  CUdeviceptr memory = allocate(64);
  char host[80] = {};
  EXPECT_EQ(cu("cuMemcpyHtoD_v2", memory + 60, static_cast<const void *>(host),
               size_t(8)),
            INVALID_VALUE);
  EXPECT_EQ(
      cu("cuMemcpyDtoH_v2", static_cast<void *>(host), memory, size_t(65)),
      INVALID_VALUE);
  EXPECT_EQ(cu("cuMemcpyDtoDAsync_v2", memory, memory + 8, size_t(16), stream),
            INVALID_VALUE);
  EXPECT_EQ(cu("cuMemcpyHtoD_v2", CUdeviceptr(host),
               static_cast<const void *>(host), size_t(8)),
            INVALID_VALUE);
  EXPECT_EQ(cu("cuMemsetD32Async", memory + 2, 1u, size_t(1), stream),
            INVALID_VALUE);
  EXPECT_EQ(misuses(), 5u);
  EXPECT_EQ(cu("cuMemFree_v2", memory + 8), INVALID_VALUE);
  EXPECT_EQ(cu("cuMemFree_v2", memory), SUCCESS);
}

TEST_F(CudaDoubleTest, APoolHoldsWhatIsFreeUntilTheHostWaits) {
  CUmemoryPool pool = nullptr;
  CUmemPoolProps properties = {};
  EXPECT_EQ(cu("cuMemPoolCreate", &pool,
               static_cast<const CUmemPoolProps *>(&properties)),
            INVALID_VALUE);
  properties.allocType = properties.location.type = 1;
  EXPECT_EQ(cu("cuMemPoolCreate", &pool,
               static_cast<const CUmemPoolProps *>(&properties)),
            SUCCESS);
  auto unused = [] {
    size_t left = 0;
    EXPECT_EQ(cu("cuMemGetInfo_v2", &left, static_cast<size_t *>(nullptr)),
              SUCCESS);
    return left;
  };
  const size_t before = unused();
  CUdeviceptr memory = 0;
  EXPECT_EQ(cu("cuMemAllocFromPoolAsync", &memory, size_t(512), pool, stream),
            SUCCESS);
  EXPECT_EQ(cu("cuMemFreeAsync", memory, stream), SUCCESS);
  while (control->bytes > 0)
    std::this_thread::yield();
  EXPECT_EQ(unused(), before - 512);
  EXPECT_EQ(cu("cuStreamSynchronize", stream), SUCCESS);
  EXPECT_EQ(unused(), before);
  EXPECT_EQ(cu("cuMemPoolDestroy", pool), SUCCESS);
  EXPECT_EQ(cu("cuMemPoolDestroy", pool), INVALID_VALUE);
  EXPECT_EQ(misuses(), 2u);
}

TEST_F(CudaDoubleTest, MemoryInUseIsNotGivenBack) {
  // The stream waits, so that the work is pending for sure.
  CUstream gate = nullptr;
  EXPECT_EQ(cu("cuStreamCreate", &gate, 1u), SUCCESS);
  CUfunction spin = load(ashlar::ptx::kernelText(
      1,
      "A: ld.volatile.global.u32 %r10, [%rd0];\nsetp.eq.u32 %p10, %r10, 0;\n"
      "@%p10 bra A;",
      "", "sm_80"));
  CUdeviceptr flag = allocate(4), memory = allocate(64);
  EXPECT_EQ(cu("cuMemsetD32Async", flag, 0u, size_t(1), gate), SUCCESS);
  EXPECT_EQ(cu("cuStreamSynchronize", gate), SUCCESS);
  void *parameters[] = {&flag};
  EXPECT_EQ(launch(spin, 1, parameters), SUCCESS);
  EXPECT_EQ(cu("cuMemsetD8Async", memory, static_cast<unsigned char>(1),
               size_t(64), stream),
            SUCCESS);
  EXPECT_EQ(cu("cuStreamQuery", stream), NOT_READY);
  CUevent event = nullptr;
  EXPECT_EQ(cu("cuEventCreate", &event, 2u), SUCCESS);
  EXPECT_EQ(cu("cuEventQuery", event), SUCCESS);
  EXPECT_EQ(cu("cuEventRecord", event, stream), SUCCESS);
  EXPECT_EQ(cu("cuEventQuery", event), NOT_READY);
  EXPECT_EQ(misuses(), 0u);
  // In the stream's order it is allowed.
  EXPECT_EQ(cu("cuMemFreeAsync", memory, stream), SUCCESS);
  EXPECT_EQ(cu("cuMemFreeAsync", memory, stream), INVALID_VALUE);
  EXPECT_EQ(misuses(), 1u);
  // Another stream lets it go on.
  EXPECT_EQ(cu("cuMemsetD32Async", flag, 1u, size_t(1), gate), SUCCESS);
  EXPECT_EQ(cu("cuEventSynchronize", event), SUCCESS);
  EXPECT_EQ(cu("cuStreamSynchronize", stream), SUCCESS);
  EXPECT_EQ(cu("cuStreamQuery", stream), SUCCESS);

  EXPECT_EQ(cu("cuMemsetD32Async", flag, 0u, size_t(1), gate), SUCCESS);
  EXPECT_EQ(cu("cuStreamSynchronize", gate), SUCCESS);
  EXPECT_EQ(launch(spin, 1, parameters), SUCCESS);
  EXPECT_EQ(cu("cuMemsetD32Async", flag, 1u, size_t(1), gate), SUCCESS);
  EXPECT_EQ(cu("cuStreamSynchronize", stream), SUCCESS);
  EXPECT_EQ(cu("cuMemFree_v2", flag), SUCCESS);
  EXPECT_EQ(cu("cuModuleUnload", module), SUCCESS);
  EXPECT_EQ(cu("cuEventDestroy_v2", event), SUCCESS);
  EXPECT_EQ(cu("cuStreamDestroy_v2", gate), SUCCESS);
}

TEST_F(CudaDoubleTest, AFreeOfPendingWorkEndsTheProcess) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(
      {
        control->isMisuseFailure = false;
        CUfunction spin = load(
            ashlar::ptx::kernelText(1,
                                    "A: ld.volatile.global.u32 %r10, [%rd0];\n"
                                    "setp.ne.u32 %p10, %r10, 1;\n@%p10 bra A;",
                                    "", "sm_80"));
        CUdeviceptr flag = allocate(4);
        void *parameters[] = {&flag};
        launch(spin, 1, parameters);
        cu("cuMemFree_v2", flag);
      },
      "cuMemFree_v2: .* is given back while it is used by a launch");
}

TEST_F(CudaDoubleTest, EventsOrderStreamsAndMeasure) {
  CUstream other = nullptr;
  EXPECT_EQ(cu("cuStreamCreateWithPriority", &other, 1u, -1), SUCCESS);
  CUevent begin = nullptr, end = nullptr;
  EXPECT_EQ(cu("cuEventCreate", &begin, 0u), SUCCESS);
  EXPECT_EQ(cu("cuEventCreate", &end, 0u), SUCCESS);
  float milliseconds = -1;
  EXPECT_EQ(cu("cuEventElapsedTime", &milliseconds, begin, end),
            INVALID_HANDLE);
  EXPECT_EQ(misuses(), 1u);
  CUdeviceptr memory = allocate(4 << 20);
  for (int round = 0; round < 20; ++round) {
    unsigned value = unsigned(round), got = 0;
    EXPECT_EQ(cu("cuEventRecord", begin, stream), SUCCESS);
    EXPECT_EQ(cu("cuMemsetD32Async", memory, value, size_t(1 << 20), stream),
              SUCCESS);
    EXPECT_EQ(cu("cuEventRecord", end, stream), SUCCESS);
    EXPECT_EQ(cu("cuStreamWaitEvent", other, end, 0u), SUCCESS);
    EXPECT_EQ(cu("cuMemcpyDtoHAsync_v2", static_cast<void *>(&got),
                 memory + (4 << 20) - 4, size_t(4), other),
              SUCCESS);
    EXPECT_EQ(got, value);
    EXPECT_EQ(cu("cuEventElapsedTime", &milliseconds, begin, end), SUCCESS);
    EXPECT_GT(milliseconds, 0);
  }
  EXPECT_EQ(cu("cuMemFree_v2", memory), SUCCESS);
  EXPECT_EQ(cu("cuEventDestroy_v2", begin), SUCCESS);
  EXPECT_EQ(cu("cuEventDestroy_v2", end), SUCCESS);
  EXPECT_EQ(cu("cuStreamDestroy_v2", other), SUCCESS);
}

TEST_F(CudaDoubleTest, PageableMemoryIsStagedPinnedMemoryIsNot) {
  void *pinned = nullptr;
  EXPECT_EQ(cu("cuMemHostAlloc", &pinned, size_t(4), 0u), SUCCESS);
  CUfunction spin = load(ashlar::ptx::kernelText(
      1,
      "A: ld.volatile.global.u32 %r10, [%rd0];\nsetp.ne.u32 %p10, %r10, 1;\n"
      "@%p10 bra A;",
      "", "sm_80"));
  CUstream gate = nullptr;
  EXPECT_EQ(cu("cuStreamCreate", &gate, 1u), SUCCESS);
  CUdeviceptr flag = allocate(4), memory = allocate(8);
  EXPECT_EQ(cu("cuMemsetD32Async", flag, 0u, size_t(1), gate), SUCCESS);
  EXPECT_EQ(cu("cuStreamSynchronize", gate), SUCCESS);
  void *parameters[] = {&flag};
  EXPECT_EQ(launch(spin, 1, parameters), SUCCESS);
  unsigned pageable = 1;
  *static_cast<unsigned *>(pinned) = 1;
  EXPECT_EQ(cu("cuMemcpyHtoDAsync_v2", memory,
               static_cast<const void *>(&pageable), size_t(4), stream),
            SUCCESS);
  EXPECT_EQ(cu("cuMemcpyHtoDAsync_v2", memory + 4,
               static_cast<const void *>(pinned), size_t(4), stream),
            SUCCESS);
  pageable = 2;
  *static_cast<unsigned *>(pinned) = 2;
  EXPECT_EQ(cu("cuMemsetD32Async", flag, 1u, size_t(1), gate), SUCCESS);
  unsigned got[2];
  EXPECT_EQ(cu("cuMemcpyDtoHAsync_v2", static_cast<void *>(got), memory,
               size_t(8), stream),
            SUCCESS);
  EXPECT_EQ(got[0], 1u);
  EXPECT_EQ(got[1], 2u);
  EXPECT_EQ(cu("cuMemFreeHost", pinned), SUCCESS);
  EXPECT_EQ(cu("cuMemFreeHost", pinned), INVALID_VALUE);
  EXPECT_EQ(cu("cuMemFree_v2", flag), SUCCESS);
  EXPECT_EQ(cu("cuMemFree_v2", memory), SUCCESS);
  EXPECT_EQ(cu("cuModuleUnload", module), SUCCESS);
  EXPECT_EQ(cu("cuStreamDestroy_v2", gate), SUCCESS);
}

TEST_F(CudaDoubleTest, LaunchesThatCannotBeAreRefused) {
  CUfunction function = load(ashlar::ptx::kernelText(
      1, "mov.u32 %r10, more;\nst.shared.u32 [%r10], 1;",
      ".extern .shared .align 16 .b8 more[];\n"
      ".shared .align 4 .b8 fixed[1024];",
      "sm_80"));
  CUdeviceptr none = 0;
  void *parameters[] = {&none};
  void *missing[] = {nullptr};
  EXPECT_EQ(launch(function, 0, parameters), INVALID_VALUE);
  EXPECT_EQ(launch(function, 1025, parameters), INVALID_VALUE);
  EXPECT_EQ(launch(function, 1, missing), INVALID_VALUE);
  EXPECT_EQ(launch(function, 1, nullptr), INVALID_VALUE);
  EXPECT_EQ(launch(function, 1, parameters, (47 << 10) + 1), INVALID_VALUE);
  EXPECT_EQ(misuses(), 5u);
  EXPECT_EQ(launch(function, 1, parameters, 47 << 10), SUCCESS);
  // As much as compute capability 8.0 has: 163 KiB, less what is static.
  EXPECT_EQ(cu("cuFuncSetAttribute", function, 8, (162 << 10) + 1),
            INVALID_VALUE);
  EXPECT_EQ(cu("cuFuncSetAttribute", function, 8, 162 << 10), SUCCESS);
  EXPECT_EQ(launch(function, 1, parameters, 162 << 10), SUCCESS);
  EXPECT_EQ(launch(function, 1, parameters, (162 << 10) + 1), INVALID_VALUE);
  int value = 0;
  EXPECT_EQ(cu("cuFuncGetAttribute", &value, 1, function), SUCCESS);
  EXPECT_EQ(value, 1024);
  EXPECT_EQ(cu("cuOccupancyMaxActiveBlocksPerMultiprocessor", &value, function,
               256, size_t(79 << 10)),
            SUCCESS);
  EXPECT_EQ(value, 2);
  EXPECT_EQ(cu("cuStreamSynchronize", stream), SUCCESS);
  EXPECT_EQ(cu("cuModuleUnload", module), SUCCESS);
}

TEST_F(CudaDoubleTest, ClustersNeedADeviceThatHasThem) {
  CUfunction function = load(ashlar::ptx::kernelText(0, "", "", "sm_80"));
  CUlaunchAttribute attribute{};
  attribute.id = LaunchClusterDimension;
  attribute.value.clusterDim = {2, 1, 1};
  CUlaunchConfig config{4, 1, 1, 32, 1, 1, 0, stream, &attribute, 1};
  void *none[] = {nullptr};
  EXPECT_EQ(cu("cuLaunchKernelEx", &config, function,
               static_cast<void **>(none), static_cast<void **>(nullptr)),
            NOT_SUPPORTED);
  config.numAttrs = 0;
  EXPECT_EQ(cu("cuLaunchKernelEx", &config, function,
               static_cast<void **>(none), static_cast<void **>(nullptr)),
            SUCCESS);
  int value = 1;
  EXPECT_EQ(cu("cuDeviceGetAttribute", &value, 120, 0), SUCCESS);
  EXPECT_EQ(value, 0);
  EXPECT_EQ(cu("cuStreamSynchronize", stream), SUCCESS);
  EXPECT_EQ(cu("cuModuleUnload", module), SUCCESS);
}

TEST_F(CudaDoubleTest, ModulesThatDoNotFitTellWhyInTheLog) {
  char log[256];
  auto refused = [&](const std::string &text) {
    int options[] = {5, 6};
    void *values[] = {log, reinterpret_cast<void *>(sizeof(log))};
    log[0] = 0;
    return cu("cuModuleLoadDataEx", &module,
              static_cast<const void *>(text.c_str()), 2u, options, values);
  };
  EXPECT_EQ(refused(ashlar::ptx::kernelText(0, "odd.f32 %f1;", "", "sm_80")),
            INVALID_PTX);
  EXPECT_NE(std::string(log).find("odd.f32 %f1;"), std::string::npos) << log;
  EXPECT_EQ(refused(ashlar::ptx::kernelText(0, "", "", "sm_90")), INVALID_PTX);
  EXPECT_NE(std::string(log).find("sm_90"), std::string::npos) << log;
  EXPECT_EQ(refused(ashlar::ptx::kernelText(0, "", "", "sm_80a")), SUCCESS);
  EXPECT_EQ(cu("cuModuleUnload", module), SUCCESS);
  EXPECT_EQ(refused(".version 8.7\n.target sm_80\n.address_size 64\n"),
            UNSUPPORTED_PTX_VERSION);
  EXPECT_EQ(refused("\x7f"
                    "ELF..."),
            NO_BINARY_FOR_GPU);
  EXPECT_EQ(refused(".version 7.0\n.target sm_80\n.address_size 64\n"),
            SUCCESS);
  CUfunction function = nullptr;
  EXPECT_EQ(cu("cuModuleGetFunction", &function, module, "absent"), NOT_FOUND);
  EXPECT_EQ(cu("cuModuleUnload", module), SUCCESS);
}

TEST_F(CudaDoubleTest, AnyCallFailsOnDemand) {
  control->start(2, OUT_OF_MEMORY, false);
  CUdeviceptr memory = allocate(16), more = 0;
  EXPECT_EQ(cu("cuMemAlloc_v2", &more, size_t(16)), OUT_OF_MEMORY);
  EXPECT_STREQ(control->failed, "cuMemAlloc_v2");
  EXPECT_EQ(cu("cuMemAlloc_v2", &more, size_t(16)), SUCCESS);
  EXPECT_EQ(control->mostBytes, 32);
  // A lost device: what gives back does so, but says it.
  control->start(1, ECC_UNCORRECTABLE, true);
  EXPECT_EQ(cu("cuMemAlloc_v2", &memory, size_t(16)), ECC_UNCORRECTABLE);
  EXPECT_EQ(cu("cuStreamSynchronize", stream), ECC_UNCORRECTABLE);
  EXPECT_EQ(cu("cuMemFree_v2", memory), ECC_UNCORRECTABLE);
  EXPECT_EQ(cu("cuMemFree_v2", more), ECC_UNCORRECTABLE);
  EXPECT_EQ(control->bytes, 0);
}

TEST_F(CudaDoubleTest, MemoryHasAnEnd) {
  size_t unused = 0, total = 0;
  EXPECT_EQ(cu("cuMemGetInfo_v2", &unused, &total), SUCCESS);
  EXPECT_EQ(unused, total);
  CUdeviceptr memory = 0;
  EXPECT_EQ(cu("cuMemAlloc_v2", &memory, total + 1), OUT_OF_MEMORY);
  memory = allocate(1000);
  EXPECT_EQ(cu("cuMemGetInfo_v2", &unused, &total), SUCCESS);
  EXPECT_EQ(total - unused, 1024u);
  EXPECT_EQ(cu("cuMemFree_v2", memory), SUCCESS);
  EXPECT_EQ(misuses(), 0u);
}

TEST_F(CudaDoubleTest, ThereMustBeAContext) {
  EXPECT_EQ(cu("cuCtxSetCurrent", CUcontext(nullptr)), SUCCESS);
  CUdeviceptr memory = 0;
  EXPECT_EQ(cu("cuMemAlloc_v2", &memory, size_t(16)), INVALID_CONTEXT);
  EXPECT_EQ(misuses(), 1u);
  EXPECT_EQ(cu("cuCtxPushCurrent_v2", context), SUCCESS);
  CUcontext current = nullptr;
  EXPECT_EQ(cu("cuStreamGetCtx", stream, &current), SUCCESS);
  EXPECT_EQ(current, context);
  EXPECT_EQ(cu("cuCtxPopCurrent_v2", &current), SUCCESS);
  EXPECT_EQ(cu("cuCtxPopCurrent_v2", &current), INVALID_CONTEXT);
  EXPECT_EQ(cu("cuCtxSetCurrent", context), SUCCESS);
}

TEST_F(CudaDoubleTest, WhatAContextLeavesIsCounted) {
  int64_t before = control->left[CudaDouble::DeviceMemory];
  allocate(16);
  cu("cuStreamDestroy_v2", stream);
  EXPECT_EQ(cu("cuDevicePrimaryCtxRelease_v2", 0), SUCCESS);
  EXPECT_EQ(control->left[CudaDouble::DeviceMemory], before + 1);
  EXPECT_EQ(cu("cuCtxSynchronize"), CONTEXT_IS_DESTROYED);
  EXPECT_EQ(cu("cuDevicePrimaryCtxRelease_v2", 0), INVALID_CONTEXT);
  EXPECT_EQ(cu("cuDevicePrimaryCtxRetain", &context, 0), SUCCESS);
  EXPECT_EQ(cu("cuCtxSetCurrent", context), SUCCESS);
  EXPECT_EQ(cu("cuStreamCreate", &stream, 1u), SUCCESS);
}

TEST_F(CudaDoubleTest, DevicesTellWhatTheyAre) {
  int value = 0, count = 0;
  EXPECT_EQ(cu("cuDeviceGetCount", &count), SUCCESS);
  EXPECT_EQ(count, 1);
  EXPECT_EQ(cu("cuDeviceGet", &value, 1), INVALID_DEVICE);
  EXPECT_EQ(cu("cuDeviceGetAttribute", &value, 75, 0), SUCCESS);
  EXPECT_EQ(value, 8);
  EXPECT_EQ(cu("cuDeviceGetAttribute", &value, 97, 0), SUCCESS);
  EXPECT_EQ(value, 163 << 10);
  EXPECT_EQ(misuses(), 0u);
  EXPECT_EQ(cu("cuDeviceGetAttribute", &value, 4711, 0), INVALID_VALUE);
  EXPECT_EQ(cu("cuDeviceGetAttribute", &value, 75, 1), INVALID_DEVICE);
  EXPECT_EQ(misuses(), 2u);
  const char *name = nullptr;
  EXPECT_EQ(cu("cuGetErrorName", int(ILLEGAL_ADDRESS), &name), SUCCESS);
  EXPECT_STREQ(name, "CUDA_ERROR_ILLEGAL_ADDRESS");
  void *found = nullptr;
  EXPECT_EQ(cu("cuGetProcAddress_v2", "cuMemAlloc", &found, 12000, uint64_t(0),
               static_cast<int *>(nullptr)),
            SUCCESS);
  EXPECT_EQ(found, dlsym(library(), "cuMemAlloc_v2"));
}

TEST_F(CudaDoubleTest, TheStandardStreamWaitsForBlockingOnes) {
  CUstream blocking = nullptr;
  EXPECT_EQ(cu("cuStreamCreate", &blocking, 0u), SUCCESS);
  CUdeviceptr memory = allocate(4 << 20);
  for (unsigned round = 1; round < 10; ++round) {
    EXPECT_EQ(cu("cuMemsetD32Async", memory, round, size_t(1 << 20), blocking),
              SUCCESS);
    unsigned got = 0;
    EXPECT_EQ(cu("cuMemcpyDtoH_v2", static_cast<void *>(&got),
                 memory + (4 << 20) - 4, size_t(4)),
              SUCCESS);
    EXPECT_EQ(got, round);
  }
  EXPECT_EQ(cu("cuMemFree_v2", memory), SUCCESS);
  EXPECT_EQ(cu("cuStreamDestroy_v2", blocking), SUCCESS);
}

} // namespace
