// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A product as kernels for Hopper make it: one warp has tiles copied by tensor
// maps into a ring of stages, a warpgroup multiplies them.

#include "PtxEvaluate.h"
#include "PtxTensorMap.h"

using namespace ashlar::ptx;

namespace {

constexpr int size = 64, depth = 320; // 5 tiles of K in 2 stages

/// D = A B^T, 64 x 64; A and B have rows of `depth` bf16. Each stage has 8 KiB
/// of A, then of B.
const std::string body =
    "mov.b64 %rd1, a;\ncvta.param.u64 %rd1, %rd1;\n"
    "mov.b64 %rd2, b;\ncvta.param.u64 %rd2, %rd2;\n"
    "setp.ne.u32 %p10, %r0, 0;\n@%p10 bra READY;\n"
    "mbarrier.init.shared.b64 [full], 1;\n"
    "mbarrier.init.shared.b64 [full+8], 1;\n"
    "mbarrier.init.shared.b64 [empty], 128;\n"
    "mbarrier.init.shared.b64 [empty+8], 128;\n"
    "fence.mbarrier_init.release.cluster;\n"
    "READY:\nbar.sync 0;\n"
    "mov.u32 %r10, s;\nmov.u32 %r11, full;\nmov.u32 %r12, empty;\n"
    "mov.u32 %r20, 0;\n" // the tile
    "setp.lt.u32 %p11, %r0, 128;\n@%p11 bra CONSUMER;\n"
    // The producer.
    "setmaxnreg.dec.sync.aligned.u32 24;\n"
    "setp.ne.u32 %p12, %r0, 128;\n@%p12 ret;\n"
    "LOAD:\nand.b32 %r21, %r20, 1;\nshr.u32 %r22, %r20, 1;\n"
    "and.b32 %r22, %r22, 1;\nxor.b32 %r23, %r22, 1;\n"
    "mad.lo.u32 %r24, %r21, 8, %r11;\nmad.lo.u32 %r25, %r21, 8, %r12;\n"
    "mad.lo.u32 %r26, %r21, 16384, %r10;\nadd.u32 %r27, %r26, 8192;\n"
    "mul.lo.u32 %r28, %r20, 64;\n"
    "EMPTY:\nmbarrier.try_wait.parity.shared::cta.b64 %p13, [%r25], %r23;\n"
    "@!%p13 bra EMPTY;\n"
    "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r24], 16384;\n"
    "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::"
    "complete_tx::bytes [%r26], [%rd1, {%r28, 0}], [%r24];\n"
    "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::"
    "complete_tx::bytes [%r27], [%rd2, {%r28, 0}], [%r24];\n"
    "add.u32 %r20, %r20, 1;\nsetp.lt.u32 %p14, %r20, 5;\n@%p14 bra LOAD;\n"
    "ret;\n"
    // The consumers. Strides of 1024 bytes, a swizzle of 128 bytes.
    "CONSUMER:\nsetmaxnreg.inc.sync.aligned.u32 232;\n"
    "setp.ne.u32 %p16, %r0, %r0;\n" // the first adds to nothing
    "MULTIPLY:\nand.b32 %r21, %r20, 1;\nshr.u32 %r22, %r20, 1;\n"
    "and.b32 %r22, %r22, 1;\n"
    "mad.lo.u32 %r24, %r21, 8, %r11;\nmad.lo.u32 %r25, %r21, 8, %r12;\n"
    "mad.lo.u32 %r26, %r21, 16384, %r10;\nshr.u32 %r26, %r26, 4;\n"
    "cvt.u64.u32 %rd10, %r26;\nor.b64 %rd10, %rd10, 0x4000004000010000;\n"
    "add.u64 %rd11, %rd10, 512;\n"
    "FULL:\nmbarrier.try_wait.parity.shared::cta.b64 %p13, [%r24], %r22;\n"
    "@!%p13 bra FULL;\n"
    "wgmma.fence.sync.aligned;\n"
    "%STEPS%"
    "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"
    "mbarrier.arrive.shared::cta.b64 _, [%r25];\n"
    "add.u32 %r20, %r20, 1;\nsetp.lt.u32 %p14, %r20, 5;\n"
    "@%p14 bra MULTIPLY;\n"
    "mad.wide.u32 %rd12, %r0, 128, %rd0;\n";

std::string gemm() {
  std::string steps, text = body;
  for (int step = 0; step < 4; ++step) {
    steps += "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%d0";
    for (int j = 1; j < 32; ++j)
      steps += ", %d" + std::to_string(j);
    steps += "}, %rd10, %rd11, %p16, 1, 1, 0, 0;\n"
             "setp.eq.u32 %p16, %r0, %r0;\n";
    if (step < 3)
      steps += "add.u64 %rd10, %rd10, 2;\nadd.u64 %rd11, %rd11, 2;\n";
  }
  text.replace(text.find("%STEPS%"), 7, steps);
  for (int j = 0; j < 32; ++j)
    text += "st.global.f32 [%rd12+" + std::to_string(4 * j) + "], %d" +
            std::to_string(j) + ";\n";
  text = kernelText(1, ".reg .f32 %d<32>;\n" + text,
                    ".shared .align 1024 .b8 s[32768];\n"
                    ".shared .align 8 .b64 full[2];\n"
                    ".shared .align 8 .b64 empty[2];",
                    "sm_90a");
  return text.insert(text.find(".param .u64 p0"),
                     ".param .align 64 .b8 a[128], "
                     ".param .align 64 .b8 b[128], ");
}

std::string without(std::string text, const std::string &what,
                    const std::string &with = "") {
  size_t at = text.find(what);
  EXPECT_NE(at, text.npos) << what;
  return text.replace(at, what.size(), with);
}

/// Compares, where it runs; else what it says.
std::string outcome(const std::string &text, Fault::Kind kind) {
  Bench bench(text);
  std::vector<float> values[2];
  for (auto &each : values) {
    std::vector<uint16_t> bits(size * depth);
    for (uint16_t &one : bits) {
      one = fromDouble<BFloat>(double(int(generator()() % 161) - 80) / 10,
                               Rounding::Nearest)
                .bits;
      each.push_back(toFloat(BFloat{one}));
    }
    TensorMapOptions of;
    of.type = 9;
    of.rank = 2;
    of.dims[0] = depth;
    of.dims[1] = size;
    of.strides[0] = depth * 2;
    of.box[0] = of.box[1] = 64;
    of.elementStrides[0] = of.elementStrides[1] = 1;
    of.swizzle = 3;
    of.address = bench.memory.allocate(bits.size() * 2);
    std::memcpy(bench.memory.onHost(of.address, bits.size() * 2), bits.data(),
                bits.size() * 2);
    TensorMap map;
    EXPECT_EQ(TensorMap::make(of, map), "");
    auto &to = bench.launch.parameters;
    const auto *bytes = reinterpret_cast<const uint8_t *>(&map);
    to.insert(to.end(), bytes, bytes + sizeof(map));
  }
  uint64_t out = bench.array(std::vector<float>(size * size));
  std::string said = bench.fault(256, kind);
  if (!said.empty())
    return said;
  auto got = bench.read<float>(out, size * size);
  for (int t = 0; t < 128; ++t)
    for (int e = 0; e < 32; ++e) {
      int row = t / 32 * 16 + t % 32 / 4 + (e % 4 >= 2 ? 8 : 0),
          column = e / 4 * 8 + t % 4 * 2 + e % 2;
      double sum = 0;
      for (int k = 0; k < depth; ++k)
        sum += double(values[0][size_t(row * depth + k)]) *
               double(values[1][size_t(column * depth + k)]);
      EXPECT_NEAR(got[size_t(t * 32 + e)], sum, 1e-4 * (1 + std::fabs(sum)))
          << row << ", " << column << ", seed " << seedOfRun();
    }
  return "";
}

TEST(PtxGemm, AWarpLoadsAndAWarpgroupMultiplies) {
  EXPECT_EQ(outcome(gemm(), Fault::Race), "");
}

TEST(PtxGemm, OneThreadTellsThatAWarpgroupHasRead) {
  std::string text = gemm();
  for (int stage = 0; stage < 2; ++stage)
    text = without(text, stage ? "[empty+8], 128" : "[empty], 128",
                   stage ? "[empty+8], 1" : "[empty], 1");
  text = without(text, "mbarrier.arrive.shared::cta.b64 _, [%r25];",
                 "@!%p10 mbarrier.arrive.shared::cta.b64 _, [%r25];");
  EXPECT_EQ(outcome(text, Fault::Race), "");
}

TEST(PtxGemm, WhatIsLeftOutIsSeen) {
  auto expectSaid = [](const std::string &said, const char *part) {
    EXPECT_NE(said.find(part), said.npos) << part << " in: " << said;
  };
  // A stage is loaded again while it is under way, or while it is read.
  expectSaid(outcome(without(gemm(), "@!%p13 bra EMPTY;\n"), Fault::Limit),
             "an mbarrier whose phase expects 0 more");
  std::string early = without(gemm(), "wgmma.wait_group.sync.aligned 0;\n");
  early = without(early, "mad.wide.u32 %rd12",
                  "wgmma.wait_group.sync.aligned 0;\nmad.wide.u32 %rd12");
  expectSaid(outcome(early, Fault::Race), "read asynchronously");
  // What was not waited for is read.
  expectSaid(outcome(without(gemm(), "@!%p13 bra FULL;\n"), Fault::Race),
             "wgmma.mma_async");
  expectSaid(
      outcome(without(gemm(), "wgmma.fence.sync.aligned;\n"), Fault::Race),
      "no wgmma.fence");
  expectSaid(outcome(without(gemm(), "[%r24], 16384", "[%r24], 16400"),
                     Fault::Divergence),
             "mbarrier.try_wait");
  expectSaid(outcome(without(gemm(), "[empty], 128", "[empty], 129"),
                     Fault::Divergence),
             "mbarrier.try_wait");
}

} // namespace
