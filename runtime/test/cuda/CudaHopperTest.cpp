// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The driver double as a device of compute capability 9.0: clusters, much
// shared memory.

#include "CudaDoubleFixture.h"

#include <cstdlib>

using namespace ashlar::cuda;

namespace {

class CudaHopperTest : public CudaDoubleTest {
protected:
  void SetUp() override {
    setenv("ASHLAR_CUDA_DOUBLE_CC", "9.0", 1); // before it is first used
    CudaDoubleTest::SetUp();
  }
  void TearDown() override {
    EXPECT_EQ(cu("cuStreamSynchronize", stream), SUCCESS);
    EXPECT_EQ(cu("cuModuleUnload", module), SUCCESS);
    CudaDoubleTest::TearDown();
  }
  CUresult launchClusters(CUfunction function, unsigned blocks,
                          unsigned cluster, void **parameters) {
    CUlaunchAttribute attribute{};
    attribute.id = LaunchClusterDimension;
    attribute.value.clusterDim = {cluster, 1, 1};
    CUlaunchConfig config{blocks, 1, 1, 32, 1, 1, 0, stream, &attribute, 1};
    return cu("cuLaunchKernelEx", &config, function, parameters,
              static_cast<void **>(nullptr));
  }
};

const char *tellsRank = "mov.u32 %r10, %cluster_ctarank;\n"
                        "mov.u32 %r11, %ctaid.x;\n"
                        "mad.wide.u32 %rd10, %r11, 4, %rd0;\n"
                        "setp.eq.u32 %p10, %r0, 0;\n"
                        "@%p10 st.global.u32 [%rd10], %r10;";

TEST_F(CudaHopperTest, LaunchesOfClusters) {
  CUfunction function = load(ashlar::ptx::kernelText(1, tellsRank));
  CUdeviceptr memory = allocate(16 * 4);
  void *parameters[] = {&memory};
  EXPECT_EQ(launchClusters(function, 16, 4, parameters), SUCCESS);
  unsigned got[16];
  EXPECT_EQ(cu("cuMemcpyDtoHAsync_v2", static_cast<void *>(got), memory,
               size_t(64), stream),
            SUCCESS);
  EXPECT_EQ(cu("cuStreamSynchronize", stream), SUCCESS);
  for (unsigned i = 0; i < 16; ++i)
    EXPECT_EQ(got[i], i % 4);
  EXPECT_EQ(misuses(), 0u);
  EXPECT_EQ(launchClusters(function, 6, 4, parameters), INVALID_VALUE);
  EXPECT_EQ(launchClusters(function, 16, 0, parameters), INVALID_VALUE);
  EXPECT_EQ(launchClusters(function, 16, 16, parameters), INVALID_CLUSTER_SIZE);
  EXPECT_EQ(misuses(), 3u);
  EXPECT_EQ(cu("cuFuncSetAttribute", function, 14, 1), SUCCESS);
  EXPECT_EQ(launchClusters(function, 16, 16, parameters), SUCCESS);
  EXPECT_EQ(launchClusters(function, 32, 32, parameters), INVALID_CLUSTER_SIZE);
  EXPECT_EQ(cu("cuStreamSynchronize", stream), SUCCESS);
  EXPECT_EQ(cu("cuMemFree_v2", memory), SUCCESS);
}

TEST_F(CudaHopperTest, AKernelSaysWhatItsClustersAre) {
  std::string text = ashlar::ptx::kernelText(1, tellsRank);
  text.insert(text.find(")\n{") + 2, ".reqnctapercluster 2, 1, 1\n");
  CUfunction function = load(text);
  int value = 0;
  EXPECT_EQ(cu("cuFuncGetAttribute", &value, 11, function), SUCCESS);
  EXPECT_EQ(value, 2);
  CUdeviceptr memory = allocate(16 * 4);
  void *parameters[] = {&memory};
  EXPECT_EQ(launchClusters(function, 16, 2, parameters), SUCCESS);
  EXPECT_EQ(launch(function, 1, parameters), INVALID_VALUE);
  EXPECT_EQ(launchClusters(function, 16, 4, parameters), INVALID_VALUE);
  EXPECT_EQ(misuses(), 2u);
  EXPECT_EQ(cu("cuStreamSynchronize", stream), SUCCESS);
  EXPECT_EQ(cu("cuMemFree_v2", memory), SUCCESS);
}

TEST_F(CudaHopperTest, SharedMemoryBeyond48KiBIsAskedFor) {
  CUfunction function = load(ashlar::ptx::kernelText(
      0,
      "mov.u32 %r10, %dynamic_smem_size;\nmov.u32 %r11, more;\n"
      "add.u32 %r10, %r10, %r11;\nst.shared.u32 [%r10+-4], 1;\n"
      "ld.shared.u32 %r12, [%r10+-4];",
      ".extern .shared .align 1024 .b8 more[];\n"
      ".shared .align 4 .b8 fixed[64];"));
  // After 64 bytes dynamic memory starts at a multiple of 1024.
  void *none[] = {nullptr};
  EXPECT_EQ(launch(function, 1, none, 47 << 10), SUCCESS);
  EXPECT_EQ(launch(function, 1, none, 48 << 10), INVALID_VALUE);
  EXPECT_EQ(launch(function, 1, none, 200 << 10), INVALID_VALUE);
  EXPECT_EQ(misuses(), 2u);
  int value = 0;
  EXPECT_EQ(cu("cuDeviceGetAttribute", &value, 97, 0), SUCCESS);
  EXPECT_EQ(value, 227 << 10);
  EXPECT_EQ(cu("cuFuncSetAttribute", function, 8, 227 << 10), INVALID_VALUE);
  EXPECT_EQ(cu("cuFuncSetAttribute", function, 8, 200 << 10), SUCCESS);
  EXPECT_EQ(launch(function, 1, none, 200 << 10), SUCCESS);
  EXPECT_EQ(launch(function, 1, none, (200 << 10) + 1), INVALID_VALUE);
}

TEST_F(CudaHopperTest, StaticSharedMemoryBeyond48KiBIsRefused) {
  auto text = [](const char *bytes) {
    return ashlar::ptx::kernelText(0, "st.shared.u32 [s], 1;",
                                   ".shared .align 4 .b8 s[" +
                                       std::string(bytes) + "];");
  };
  EXPECT_EQ(cu("cuModuleLoadData", &module,
               static_cast<const void *>(text("49156").c_str())),
            INVALID_PTX);
  load(text("49152"));
}

/// Copies a box of a matrix, 16 x 4 of 64 x 8, to where the pointer says.
const char *copiesBox =
    "mov.b64 %rd1, map;\ncvta.param.u64 %rd1, %rd1;\n"
    "mbarrier.init.shared.b64 [bar], 1;\nfence.proxy.async;\n"
    "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;\n"
    "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::"
    "bytes [s], [%rd1, {32, 6}], [bar];\n"
    "A:\nmbarrier.try_wait.parity.shared.b64 %p12, [bar], 0;\n@!%p12 bra A;\n"
    "cp.async.bulk.global.shared::cta.bulk_group [%rd0], [s], 256;\n"
    "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;";

TEST_F(CudaHopperTest, KernelsTakeTensorMapsByValue) {
  std::string text = ashlar::ptx::kernelText(1, copiesBox,
                                             ".shared .align 128 .b8 s[256];\n"
                                             ".shared .align 8 .b64 bar;");
  text.insert(text.find("(.param .u64 p0") + 1,
              ".param .align 64 .b8 map[128], ");
  CUfunction function = load(text);
  CUdeviceptr from = allocate(64 * 8 * 4), to = allocate(256);
  std::vector<float> in(64 * 8), out(64);
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = float(i);
  EXPECT_EQ(cu("cuMemcpyHtoDAsync_v2", from,
               static_cast<const void *>(in.data()), size_t(2048), stream),
            SUCCESS);
  CUtensorMap map;
  uint64_t dims[] = {64, 8}, strides[] = {256};
  uint32_t box[] = {16, 4}, elementStrides[] = {1, 1};
  auto encode = [&](CUtensorMap *into, uint64_t address) {
    return cu("cuTensorMapEncodeTiled", into, 7, 2u,
              reinterpret_cast<void *>(address),
              static_cast<const uint64_t *>(dims),
              static_cast<const uint64_t *>(strides),
              static_cast<const uint32_t *>(box),
              static_cast<const uint32_t *>(elementStrides), 0, 0, 0, 0);
  };
  EXPECT_EQ(encode(&map, from), SUCCESS);
  void *parameters[] = {&map, &to};
  EXPECT_EQ(launch(function, 1, parameters), SUCCESS);
  EXPECT_EQ(cu("cuMemcpyDtoHAsync_v2", static_cast<void *>(out.data()), to,
               size_t(256), stream),
            SUCCESS);
  EXPECT_EQ(cu("cuStreamSynchronize", stream), SUCCESS);
  for (size_t i = 0; i < 64; ++i)
    EXPECT_EQ(out[i], i / 16 < 2 ? in[(6 + i / 16) * 64 + 32 + i % 16] : 0);
  EXPECT_EQ(misuses(), 0u);
  EXPECT_EQ(encode(&map, from + 8), INVALID_VALUE);
  EXPECT_EQ(encode(reinterpret_cast<CUtensorMap *>(
                       reinterpret_cast<char *>(&map) + 32),
                   from),
            INVALID_VALUE);
  box[0] = 3;
  EXPECT_EQ(encode(&map, from), INVALID_VALUE);
  EXPECT_EQ(misuses(), 3u);
  EXPECT_EQ(cu("cuMemFree_v2", from), SUCCESS);
  EXPECT_EQ(cu("cuMemFree_v2", to), SUCCESS);
}

} // namespace
