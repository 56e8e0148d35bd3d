// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Graphs of the driver double: what a stream captures is launched as often as
// one likes, and what no program may do meanwhile is seen.

#include "CudaDoubleFixture.h"

#include <thread>

using namespace ashlar::cuda;

namespace {

class CudaGraphsTest : public CudaDoubleTest {
protected:
  CUresult begin() { return cu("cuStreamBeginCapture_v2", stream, 1); }
  CUresult end(CUgraph &graph) {
    return cu("cuStreamEndCapture", stream, &graph);
  }
  CUresult instantiate(CUgraphExec &made, CUgraph graph) {
    return cu("cuGraphInstantiateWithFlags", &made, graph, 0ull);
  }
  CUresult launchGraph(CUgraphExec graph) {
    return cu("cuGraphLaunch", graph, stream);
  }
  CUresult fill(CUdeviceptr at, unsigned value, size_t count = 16) {
    return cu("cuMemsetD32Async", at, value, count, stream);
  }
  uint32_t read(CUdeviceptr at) {
    uint32_t value = 0;
    EXPECT_EQ(cu("cuStreamSynchronize", stream), SUCCESS);
    EXPECT_EQ(cu("cuMemcpyDtoH_v2", static_cast<void *>(&value), at, size_t(4)),
              SUCCESS);
    return value;
  }
  /// A fill of `at` with 7.
  CUgraphExec captured(CUdeviceptr at) {
    CUgraph graph = nullptr;
    CUgraphExec made = nullptr;
    EXPECT_EQ(begin(), SUCCESS);
    EXPECT_EQ(fill(at, 7), SUCCESS);
    EXPECT_EQ(end(graph), SUCCESS);
    EXPECT_EQ(instantiate(made, graph), SUCCESS);
    EXPECT_EQ(cu("cuGraphDestroy", graph), SUCCESS);
    return made;
  }
};

TEST_F(CudaGraphsTest, DoWhatWasCapturedEachTimeAndNotBefore) {
  CUfunction function = load(ashlar::ptx::kernelText(
      1,
      "ld.global.u32 %r10, [%rd0];\nadd.u32 %r10, %r10, 1;\n"
      "st.global.u32 [%rd0], %r10;",
      "", "sm_80"));
  CUdeviceptr a = allocate(64), b = allocate(64);
  uint32_t *pinned = nullptr;
  EXPECT_EQ(cu("cuMemHostAlloc", &pinned, size_t(64), 0u), SUCCESS);
  *pinned = 99;
  EXPECT_EQ(fill(a, 10), SUCCESS);
  EXPECT_EQ(fill(b, 0), SUCCESS);
  void *parameters[] = {&a};
  CUgraph graph = nullptr;
  CUgraphExec made = nullptr;
  EXPECT_EQ(begin(), SUCCESS);
  const uint64_t launches = control->launches;
  EXPECT_EQ(launch(function, 1, parameters), SUCCESS);
  EXPECT_EQ(cu("cuMemcpyDtoDAsync_v2", b, a, size_t(4), stream), SUCCESS);
  EXPECT_EQ(cu("cuMemcpyDtoHAsync_v2", static_cast<void *>(pinned), b,
               size_t(4), stream),
            SUCCESS);
  EXPECT_EQ(end(graph), SUCCESS);
  EXPECT_EQ(control->launches, launches);
  EXPECT_EQ(read(b), 0u);
  EXPECT_EQ(*pinned, 99u);
  EXPECT_EQ(instantiate(made, graph), SUCCESS);
  EXPECT_EQ(control->alive[CudaDouble::Graphs], 2);
  EXPECT_EQ(cu("cuGraphDestroy", graph), SUCCESS);
  for (uint32_t round = 1; round < 4; ++round) {
    EXPECT_EQ(launchGraph(made), SUCCESS);
    EXPECT_EQ(read(b), 10 + round);
    EXPECT_EQ(*pinned, 10 + round);
    EXPECT_EQ(control->launches, launches + round);
  }
  // What is under way goes on.
  EXPECT_EQ(launchGraph(made), SUCCESS);
  EXPECT_EQ(cu("cuGraphExecDestroy", made), SUCCESS);
  EXPECT_EQ(read(b), 14u);
  EXPECT_EQ(cu("cuMemFreeHost", static_cast<void *>(pinned)), SUCCESS);
  EXPECT_EQ(cu("cuMemFree_v2", a), SUCCESS);
  EXPECT_EQ(cu("cuMemFree_v2", b), SUCCESS);
  EXPECT_EQ(cu("cuModuleUnload", module), SUCCESS);
  EXPECT_EQ(misuses(), 0u);
}

TEST_F(CudaGraphsTest, ThatWereDestroyedOrNeverMadeAreNotLaunched) {
  CUdeviceptr a = allocate(64);
  CUgraphExec made = captured(a);
  EXPECT_EQ(cu("cuGraphExecDestroy", made), SUCCESS);
  EXPECT_EQ(launchGraph(made), INVALID_HANDLE);
  EXPECT_EQ(cu("cuGraphExecDestroy", made), INVALID_HANDLE);
  EXPECT_EQ(cu("cuGraphDestroy", CUgraph(nullptr)), INVALID_HANDLE);
  EXPECT_EQ(instantiate(made, nullptr), INVALID_HANDLE);
  EXPECT_EQ(misuses(), 4u);
  EXPECT_EQ(cu("cuMemFree_v2", a), SUCCESS);
}

TEST_F(CudaGraphsTest, WhoseMemoryOrModuleIsGoneAreNotLaunched) {
  CUdeviceptr a = allocate(64);
  CUgraphExec made = captured(a);
  EXPECT_EQ(launchGraph(made), SUCCESS);
  EXPECT_EQ(cu("cuStreamSynchronize", stream), SUCCESS);
  EXPECT_EQ(cu("cuMemFree_v2", a), SUCCESS);
  EXPECT_EQ(launchGraph(made), INVALID_VALUE);
  EXPECT_EQ(misuses(), 1u);
  EXPECT_EQ(cu("cuGraphExecDestroy", made), SUCCESS);

  CUfunction function = load(ashlar::ptx::kernelText(0, "", "", "sm_80"));
  CUgraph graph = nullptr;
  EXPECT_EQ(begin(), SUCCESS);
  EXPECT_EQ(launch(function, 1, nullptr), SUCCESS);
  EXPECT_EQ(end(graph), SUCCESS);
  EXPECT_EQ(instantiate(made, graph), SUCCESS);
  EXPECT_EQ(launchGraph(made), SUCCESS);
  EXPECT_EQ(cu("cuStreamSynchronize", stream), SUCCESS);
  EXPECT_EQ(cu("cuModuleUnload", module), SUCCESS);
  EXPECT_EQ(launchGraph(made), INVALID_VALUE);
  EXPECT_EQ(misuses(), 2u);
  EXPECT_EQ(cu("cuGraphExecDestroy", made), SUCCESS);
  EXPECT_EQ(cu("cuGraphDestroy", graph), SUCCESS);
}

TEST_F(CudaGraphsTest, ACaptureTakesNothingThatWaitsOrAllocates) {
  CUdeviceptr a = allocate(64), more = 0;
  CUevent event = nullptr;
  EXPECT_EQ(cu("cuEventCreate", &event, 0u), SUCCESS);
  CUgraph graph = nullptr;
  char host[64];
  auto refuses = [&](auto what) {
    const uint64_t before = misuses();
    EXPECT_EQ(begin(), SUCCESS);
    EXPECT_EQ(what(), STREAM_CAPTURE_UNSUPPORTED);
    EXPECT_EQ(misuses(), before + 1);
    // It is over for this capture.
    EXPECT_EQ(fill(a, 1), STREAM_CAPTURE_INVALIDATED);
    EXPECT_EQ(end(graph), STREAM_CAPTURE_INVALIDATED);
    EXPECT_EQ(graph, nullptr);
  };
  refuses([&] { return cu("cuStreamSynchronize", stream); });
  refuses([&] { return cu("cuStreamQuery", stream); });
  refuses([&] { return cu("cuCtxSynchronize"); });
  refuses([&] { return cu("cuEventRecord", event, stream); });
  refuses([&] { return cu("cuStreamWaitEvent", stream, event, 0u); });
  refuses([&] { return cu("cuEventSynchronize", event); });
  refuses([&] { return cu("cuEventQuery", event); });
  refuses([&] { return cu("cuMemAlloc_v2", &more, size_t(64)); });
  refuses([&] {
    return cu("cuMemcpyDtoHAsync_v2", static_cast<void *>(host), a, size_t(64),
              stream);
  });
  refuses([&] {
    return cu("cuMemcpyHtoDAsync_v2", a, static_cast<const void *>(host),
              size_t(64), stream);
  });
  // Other threads neither wait for it nor end it.
  refuses([&] {
    CUresult code = SUCCESS;
    std::thread([&] {
      cu("cuCtxSetCurrent", context);
      code = cu("cuStreamSynchronize", stream);
    }).join();
    return code;
  });
  EXPECT_EQ(begin(), SUCCESS);
  EXPECT_EQ(begin(), ILLEGAL_STATE);
  std::thread([&] {
    cu("cuCtxSetCurrent", context);
    EXPECT_EQ(end(graph), STREAM_CAPTURE_WRONG_THREAD);
  }).join();
  EXPECT_EQ(end(graph), SUCCESS);
  EXPECT_EQ(cu("cuGraphDestroy", graph), SUCCESS);
  EXPECT_EQ(end(graph), ILLEGAL_STATE);
  EXPECT_EQ(cu("cuStreamBeginCapture_v2", CUstream(nullptr), 1),
            STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(cu("cuStreamBeginCapture_v2", stream, 0), INVALID_VALUE);
  EXPECT_EQ(misuses(), 16u);
  // Work goes on as ever.
  EXPECT_EQ(fill(a, 5), SUCCESS);
  EXPECT_EQ(read(a), 5u);
  EXPECT_EQ(cu("cuEventDestroy_v2", event), SUCCESS);
  EXPECT_EQ(cu("cuMemFree_v2", a), SUCCESS);
}

TEST_F(CudaGraphsTest, AnEndThatFailsIsAnEnd) {
  CUdeviceptr a = allocate(64);
  CUgraph graph = nullptr;
  control->start(3, OUT_OF_MEMORY, false);
  EXPECT_EQ(begin(), SUCCESS);
  EXPECT_EQ(fill(a, 7), SUCCESS);
  EXPECT_EQ(end(graph), OUT_OF_MEMORY);
  EXPECT_TRUE(control->failedInCapture);
  EXPECT_EQ(graph, nullptr);
  EXPECT_EQ(fill(a, 3), SUCCESS);
  EXPECT_EQ(read(a), 3u);
  EXPECT_EQ(cu("cuMemFree_v2", a), SUCCESS);
  EXPECT_EQ(misuses(), 0u);
}

TEST_F(CudaGraphsTest, AreGoneWithTheirContext) {
  CUdeviceptr a = allocate(64);
  CUgraphExec made = captured(a);
  const int64_t left = control->left[CudaDouble::Graphs];
  EXPECT_EQ(cu("cuMemFree_v2", a), SUCCESS);
  EXPECT_EQ(cu("cuStreamDestroy_v2", stream), SUCCESS);
  EXPECT_EQ(cu("cuDevicePrimaryCtxRelease_v2", 0), SUCCESS);
  EXPECT_EQ(control->left[CudaDouble::Graphs], left + 1);
  EXPECT_EQ(cu("cuDevicePrimaryCtxRetain", &context, 0), SUCCESS);
  EXPECT_EQ(cu("cuCtxSetCurrent", context), SUCCESS);
  EXPECT_EQ(cu("cuStreamCreate", &stream, 1u), SUCCESS);
  EXPECT_EQ(launchGraph(made), INVALID_HANDLE);
  EXPECT_EQ(misuses(), 1u);
}

} // namespace
