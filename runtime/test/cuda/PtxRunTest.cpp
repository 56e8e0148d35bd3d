// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What kernels are made of besides arithmetic: memory, branches, calls,
// barriers, warps.

#include "PtxEvaluate.h"

using namespace ashlar::ptx;

namespace {

TEST(PtxRun, ABlockReducesThroughSharedMemory) {
  Bench bench(kernelText(
      2,
      "mov.u32 %r1, %ctaid.x;\nmad.lo.u32 %r2, %r1, 128, %r0;\n"
      "mad.wide.u32 %rd10, %r2, 4, %rd0;\nld.global.nc.f32 %f10, [%rd10];\n"
      "shl.b32 %r3, %r0, 2;\nmov.u32 %r4, buffer;\nadd.u32 %r5, %r4, %r3;\n"
      "st.shared.f32 [%r5], %f10;\nmov.u32 %r6, 64;\n"
      "LOOP:\nbar.sync 0;\nsetp.ge.u32 %p10, %r0, %r6;\n@%p10 bra SKIP;\n"
      "shl.b32 %r7, %r6, 2;\nadd.u32 %r8, %r5, %r7;\n"
      "ld.shared.f32 %f11, [%r8];\nld.shared.f32 %f12, [%r5];\n"
      "add.f32 %f12, %f12, %f11;\nst.shared.f32 [%r5], %f12;\nSKIP:\n"
      "shr.u32 %r6, %r6, 1;\nsetp.ne.u32 %p11, %r6, 0;\n@%p11 bra LOOP;\n"
      "setp.ne.u32 %p12, %r0, 0;\n@%p12 ret;\n"
      "mad.wide.u32 %rd11, %r1, 4, %rd1;\nld.shared.f32 %f13, [buffer];\n"
      "st.global.f32 [%rd11], %f13;",
      ".shared .align 16 .b8 buffer[512];"));
  std::vector<float> in(512);
  for (float &each : in)
    each = float(generator()() % 1000);
  bench.array(in);
  uint64_t out = bench.array(std::vector<float>(4));
  Executed done = bench.run(128, 4);
  EXPECT_EQ(done.blocks, 4u);
  EXPECT_GT(done.instructions, 4u * 128 * 30);
  auto got = bench.read<float>(out, 4);
  for (int b = 0; b < 4; ++b) {
    float sum = 0;
    for (int i = 0; i < 128; ++i)
      sum += in[b * 128 + i];
    EXPECT_EQ(got[b], sum);
  }
}

TEST(PtxRun, SharedMemoryThatTheLaunchSizes) {
  Bench bench(kernelText(1,
                         "mov.u32 %r10, more;\nshl.b32 %r11, %r0, 2;\n"
                         "add.u32 %r12, %r10, %r11;\nst.shared.u32 [%r12], "
                         "%r0;\nst.shared.u32 [fixed], 9;\nbar.sync 0;\n"
                         "ld.shared.u32 %r13, [more+28];\n"
                         "mov.u32 %r14, %dynamic_smem_size;\n"
                         "st.global.v2.u32 [%rd0], {%r13, %r14};",
                         ".extern .shared .align 16 .b8 more[];\n"
                         ".shared .align 4 .b8 fixed[4];"));
  uint64_t out = bench.array(std::vector<uint32_t>(2));
  bench.launch.dynamicShared = 32;
  // All write the fixed one: a race.
  EXPECT_NE(bench.fault(8, Fault::Race), "");
  bench.launch.dynamicShared = 28;
  EXPECT_NE(bench.fault(1, Fault::IllegalAddress), "");
  (void)out;
}

TEST(PtxRun, FunctionsTakeAndGiveStructures) {
  Bench bench(kernelText(
      2,
      "mul.wide.u32 %rd10, %r0, 8;\nadd.s64 %rd11, %rd0, %rd10;\n"
      "ld.global.v2.u32 {%r10, %r11}, [%rd11];\n"
      "{\n.param .align 8 .b8 given[8];\n.param .b32 back;\n"
      "st.param.v2.b32 [given], {%r10, %r11};\n"
      "call.uni (back), gcd, (given);\nld.param.b32 %r12, [back];\n}\n"
      "mul.wide.u32 %rd12, %r0, 4;\nadd.s64 %rd13, %rd1, %rd12;\n"
      "st.global.u32 [%rd13], %r12;",
      // Recursive, with a local variable that each call has for itself.
      ".func (.param .b32 result) gcd(.param .align 8 .b8 pair[8])\n{\n"
      ".reg .pred %p<4>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n"
      ".local .align 4 .b8 kept[4];\nmov.u64 %rd1, kept;\n"
      "ld.param.u32 %r1, [pair];\nld.param.u32 %r2, [pair+4];\n"
      "setp.eq.u32 %p1, %r2, 0;\n@%p1 bra DONE;\n"
      "rem.u32 %r3, %r1, %r2;\nst.local.u32 [%rd1], %r2;\n"
      "{\n.param .align 8 .b8 next[8];\n.param .b32 got;\n"
      "st.param.b32 [next], %r2;\nst.param.b32 [next+4], %r3;\n"
      "call.uni (got), gcd, (next);\nld.param.b32 %r1, [got];\n}\n"
      "ld.local.u32 %r4, [kept];\nsetp.ne.u32 %p2, %r4, %r2;\n@%p2 trap;\n"
      "DONE:\nst.param.b32 [result], %r1;\nret;\n}"));
  std::vector<uint32_t> in, expected;
  for (uint32_t i = 0; i < 32; ++i) {
    uint32_t f = uint32_t(generator()() % 500 + 1),
             a = uint32_t(generator()() % 500 + 1),
             b = uint32_t(generator()() % 500 + 1);
    in.push_back(f * a);
    in.push_back(f * b);
    uint32_t x = f * a, y = f * b;
    while (y)
      std::swap(x %= y, y);
    expected.push_back(x);
  }
  bench.array(in);
  uint64_t out = bench.array(std::vector<uint32_t>(32));
  bench.run(32);
  EXPECT_EQ(bench.read<uint32_t>(out, 32), expected);
}

TEST(PtxRun, TablesOfBranches) {
  auto got = evaluate<uint32_t>(
      "mov.u32 $d, 99;\nsetp.gt.u32 %p10, $a, 3;\n@%p10 bra OUT;\n"
      "T: .branchtargets L0, L1, L0, L2;\nbrx.idx $a, T;\n"
      "L0: mov.u32 $d, 10;\nbra OUT;\nL1: mov.u32 $d, 11;\nbra OUT;\n"
      "L2: mov.u32 $d, 12;\nOUT:",
      [] {
        std::vector<uint32_t> values(256);
        for (uint32_t i = 0; i < 256; ++i)
          values[i] = i % 6;
        return values;
      }());
  const uint32_t expected[] = {10, 11, 10, 12, 99, 99};
  for (uint32_t i = 0; i < 256; ++i)
    EXPECT_EQ(got[i], expected[i % 6]);
}

TEST(PtxRun, VariablesHaveTheirValuesAndAddresses) {
  Bench bench(kernelText(
      1,
      "ld.const.f32 %f10, [weights+8];\nmov.u64 %rd10, table;\n"
      "ld.global.u64 %rd11, [%rd10+8];\nld.global.u16 %rs10, [%rd11];\n"
      "cvt.u32.u16 %r10, %rs10;\nst.global.f32 [%rd0], %f10;\n"
      "st.global.u32 [%rd0+4], %r10;\nld.global.s8 %r11, [bytes+1];\n"
      "st.global.u32 [%rd0+8], %r11;\natom.global.add.u32 %r12, [counter], 5;\n"
      "st.global.u32 [%rd0+12], %r12;",
      ".const .align 4 .f32 weights[3] = {0f3F800000, -2.5, 0f40490FDB};\n"
      ".global .align 2 .u16 numbers[3] = {7, 8, 0xffff};\n"
      ".global .align 8 .u64 table[2] = {numbers, generic(numbers)+4};\n"
      ".global .align 1 .b8 bytes[4] = {1, 254};\n"
      ".global .align 4 .u32 counter = 37;"));
  uint64_t out = bench.array(std::vector<uint32_t>(4));
  bench.run(1);
  auto got = bench.read<uint32_t>(out, 4);
  EXPECT_EQ(got[0], 0x40490fdbu);
  EXPECT_EQ(got[1], 0xffffu);
  EXPECT_EQ(got[2], 0xfffffffeu);
  EXPECT_EQ(got[3], 37u);
  EXPECT_EQ(bench.read<uint32_t>(bench.program.addressOf("counter"), 1)[0],
            42u);
}

TEST(PtxRun, GenericAddressesKnowTheirSpace) {
  Bench bench(kernelText(
      1,
      ".local .align 8 .b8 l[8];\nmov.u64 %rd10, s;\ncvta.shared.u64 %rd11, "
      "%rd10;\nmov.u64 %rd12, l;\ncvta.local.u64 %rd13, %rd12;\n"
      "st.u32 [%rd11], 11;\nst.u32 [%rd13+4], 22;\n"
      "ld.shared.u32 %r10, [s];\nld.local.u32 %r11, [l+4];\n"
      "isspacep.shared %p10, %rd11;\nisspacep.global %p11, %rd0;\n"
      "isspacep.local %p12, %rd11;\nselp.u32 %r12, 1, 0, %p10;\n"
      "@%p11 add.u32 %r12, %r12, 2;\n@%p12 add.u32 %r12, %r12, 4;\n"
      "cvta.to.shared.u64 %rd14, %rd11;\nsub.u64 %rd14, %rd14, %rd10;\n"
      "cvt.u32.u64 %r13, %rd14;\n"
      "st.global.v4.u32 [%rd0], {%r10, %r11, %r12, %r13};",
      ".shared .align 8 .b8 s[8];"));
  uint64_t out = bench.array(std::vector<uint32_t>(4));
  bench.run(1);
  EXPECT_EQ(bench.read<uint32_t>(out, 4),
            (std::vector<uint32_t>{11, 22, 3, 0}));
}

TEST(PtxRun, Shuffles) {
  std::vector<uint32_t> a = valuesOf<uint32_t>(256);
  struct Case {
    const char *line;
    int (*from)(int lane);
  } cases[] = {
      {"shfl.sync.bfly.b32 $d, $a, 5, 31, -1;", [](int l) { return l ^ 5; }},
      {"shfl.sync.down.b32 $d, $a, 7, 31, -1;",
       [](int l) { return l + 7 < 32 ? l + 7 : l; }},
      {"shfl.sync.up.b32 $d, $a, 3, 0, -1;",
       [](int l) { return l >= 3 ? l - 3 : l; }},
      {"shfl.sync.idx.b32 $d, $a, 9, 31, -1;", [](int) { return 9; }},
      // In segments of eight.
      {"shfl.sync.down.b32 $d, $a, 2, 0x181f, -1;",
       [](int l) { return l % 8 + 2 < 8 ? l + 2 : l; }},
      {"shfl.sync.idx.b32 $d, $a, 3, 0x181f, -1;",
       [](int l) { return l / 8 * 8 + 3; }}};
  for (const Case &each : cases) {
    auto got = evaluate<uint32_t>(each.line, a);
    for (int i = 0; i < 256; ++i)
      EXPECT_EQ(got[i], a[i / 32 * 32 + each.from(i % 32)]) << each.line << i;
  }
  auto in = evaluate<uint32_t>("shfl.sync.down.b32 %r40|%p10, $a, 7, 31, -1;\n"
                               "selp.u32 $d, 1, 0, %p10;",
                               a);
  for (int i = 0; i < 256; ++i)
    EXPECT_EQ(in[i], i % 32 + 7 < 32);
}

TEST(PtxRun, VotesAndReductionsOfAWarp) {
  auto a = valuesOf<uint32_t>(256);
  auto ballots = evaluate<uint32_t>("setp.lt.s32 %p10, $a, 0;\n"
                                    "vote.sync.ballot.b32 $d, %p10, -1;",
                                    a);
  auto sums = evaluate<uint32_t>("redux.sync.add.u32 $d, $a, -1;", a);
  auto least = evaluate<uint32_t>("redux.sync.min.s32 $d, $a, -1;", a);
  auto same = evaluate<uint32_t>("match.any.sync.b32 $d, $a, -1;", a);
  auto all = evaluate<uint32_t>("setp.ne.u32 %p9, $a, 77;\nvote.sync.all.pred "
                                "%p10, %p9, -1;\nselp.u32 $d, 1, 0, %p10;",
                                a);
  for (int warp = 0; warp < 8; ++warp) {
    uint32_t ballot = 0, sum = 0;
    int32_t min = INT32_MAX;
    bool is = true;
    for (int l = 0; l < 32; ++l) {
      uint32_t v = a[warp * 32 + l];
      ballot |= (v >> 31) << l;
      sum += v;
      min = std::min(min, int32_t(v));
      is &= v != 77;
    }
    for (int l = 0; l < 32; ++l) {
      uint32_t equal = 0;
      for (int k = 0; k < 32; ++k)
        equal |= uint32_t(a[warp * 32 + k] == a[warp * 32 + l]) << k;
      EXPECT_EQ(ballots[warp * 32 + l], ballot);
      EXPECT_EQ(sums[warp * 32 + l], sum);
      EXPECT_EQ(int32_t(least[warp * 32 + l]), min);
      EXPECT_EQ(same[warp * 32 + l], equal);
      EXPECT_EQ(all[warp * 32 + l], is);
    }
  }
}

TEST(PtxRun, LanesThatParted) {
  // Half of a warp shuffles among itself; who is active is who came.
  auto got = evaluate<uint32_t>(
      "and.b32 %r40, %r0, 1;\nsetp.eq.u32 %p10, %r40, 0;\nmov.u32 $d, $a;\n"
      "@!%p10 bra OUT;\nactivemask.b32 $d;\n"
      "shfl.sync.bfly.b32 %r41, %r0, 2, 31, 0x55555555;\n"
      "xor.b32 $d, $d, %r41;\nOUT:",
      std::vector<uint32_t>(256, 1));
  for (uint32_t i = 0; i < 256; ++i)
    EXPECT_EQ(got[i], i % 2 ? 1 : 0x55555555u ^ (i ^ 2));
}

TEST(PtxRun, BarriersThatReduceAndNamedOnes) {
  auto got = evaluate<uint32_t>(
      "setp.lt.u32 %p10, %r0, 100;\nbar.red.popc.u32 $d, 0, %p10;\n"
      "bar.red.and.pred %p11, 0, %p10;\nbar.red.or.pred %p12, 0, %p10;\n"
      "@%p11 add.u32 $d, $d, 1000;\n@%p12 add.u32 $d, $d, 2000;\n"
      "setp.lt.u32 %p13, %r0, 64;\n@!%p13 bra OUT;\nbar.sync 3, 64;\nOUT:",
      std::vector<uint32_t>(256));
  for (uint32_t each : got)
    EXPECT_EQ(each, 2100u);
}

TEST(PtxRun, AProducerHandsOverByNamedBarriers) {
  // Warp 0 writes, warp 1 reads; one barrier says full, another says empty.
  auto text = [](const char *empty) {
    return kernelText(
        1,
        "shl.b32 %r10, %r0, 2;\nand.b32 %r10, %r10, 127;\nmov.u32 %r11, s;\n"
        "add.u32 %r12, %r11, %r10;\nsetp.lt.u32 %p10, %r0, 32;\n"
        "mov.u32 %r13, 0;\nmov.u32 %r14, 0;\nLOOP:\n@!%p10 bra CONSUMER;\n" +
            std::string(empty) +
            "st.shared.u32 [%r12], %r13;\nbar.arrive 1, 64;\nbra NEXT;\n"
            "CONSUMER:\nbar.arrive 2, 64;\nbar.sync 1, 64;\n"
            "ld.shared.u32 %r15, [%r12];\nadd.u32 %r14, %r14, %r15;\nNEXT:\n"
            "add.u32 %r13, %r13, 1;\nsetp.lt.u32 %p11, %r13, 4;\n"
            "@%p11 bra LOOP;\n@%p10 ret;\n"
            "mad.wide.u32 %rd10, %r0, 4, %rd0;\nst.global.u32 [%rd10], %r14;",
        ".shared .align 4 .b8 s[128];");
  };
  Bench right(text("bar.sync 2, 64;\n"));
  uint64_t out = right.array(std::vector<uint32_t>(64));
  right.run(64);
  EXPECT_EQ(right.read<uint32_t>(out, 64)[40], 6u);
  Bench wrong(text(""));
  wrong.array(std::vector<uint32_t>(64));
  EXPECT_THROW(wrong.run(64), Fault);
}

TEST(PtxRun, HintsChangeNothing) {
  Bench bench(kernelText(
      2,
      "createpolicy.fractional.L2::evict_last.b64 %rd10, 0f3F800000;\n"
      "createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 %rd11;\n"
      "createpolicy.range.global.L2::evict_last.b64 %rd12, [%rd1], 64, 128;\n"
      "griddepcontrol.wait;\nprefetch.global.L2 [%rd1];\n"
      "prefetch.global.L2::evict_last [%rd1+4];\nprefetchu.L1 [%rd1];\n"
      "ld.global.L1::no_allocate.L2::cache_hint.u32 %r10, [%rd1], %rd10;\n"
      "ld.global.nc.L2::cache_hint.L2::128B.v2.u32 {%r11, %r12}, [%rd1+8], "
      "%rd11;\n"
      "cp.async.ca.shared.global.L2::cache_hint.L2::128B [s], [%rd1+4], 4, "
      "%rd12;\n"
      "cp.async.cg.shared.global.L2::cache_hint [s+16], [%rd1], 16, 4, %rd12;\n"
      "cp.async.wait_all;\nld.shared.u32 %r13, [s];\n"
      "ld.shared.v2.u32 {%r14, %r15}, [s+16];\n"
      "st.global.L2::cache_hint.u32 [%rd0], %r10, %rd10;\n"
      "st.global.v4.u32 [%rd0+16], {%r12, %r13, %r14, %r15};\n"
      "red.global.add.L2::cache_hint.u32 [%rd0+4], 7, %rd10;\n"
      "griddepcontrol.launch_dependents;",
      ".shared .align 16 .b8 s[32];"));
  uint64_t out = bench.array(std::vector<uint32_t>(8));
  bench.array(std::vector<uint32_t>{11, 22, 33, 44});
  bench.run(1);
  EXPECT_EQ(bench.read<uint32_t>(out, 8),
            (std::vector<uint32_t>{11, 7, 0, 0, 44, 22, 11, 0}));
}

TEST(PtxRun, Atomics) {
  Bench bench(kernelText(
      2,
      "atom.global.add.u32 %r10, [%rd0], 1;\nred.global.max.s32 [%rd0+4], "
      "%r0;\natom.add.f32 %f10, [%rd0+8], 0f3F000000;\n"
      "atom.shared.inc.u32 %r11, [s], 9;\n"
      "atom.global.cas.b32 %r12, [%rd0+12], %r0, 100;\n"
      "mad.wide.u32 %rd10, %r10, 4, %rd1;\nst.global.u32 [%rd10], %r0;\n"
      "atom.global.exch.b64 %rd11, [%rd0+16], 5;\n"
      "red.global.add.noftz.f16x2 [%rd0+24], 0x3c004000;",
      ".shared .align 4 .b8 s[4];"));
  std::vector<uint32_t> cells = {0, 0, 0, 3, 9, 9, 0, 0};
  uint64_t at = bench.array(cells);
  uint64_t order = bench.array(std::vector<uint32_t>(64));
  // No one wrote the shared counter.
  EXPECT_NE(bench.fault(64, Fault::NotWritten), "");
  Bench good(kernelText(
      2, "atom.global.add.u32 %r10, [%rd0], 1;\nred.global.max.s32 [%rd0+4], "
         "%r0;\natom.add.f32 %f10, [%rd0+8], 0f3F000000;\n"
         "atom.global.cas.b32 %r12, [%rd0+12], %r0, 100;\n"
         "mad.wide.u32 %rd10, %r10, 4, %rd1;\nst.global.u32 [%rd10], %r0;\n"
         "atom.global.exch.b64 %rd11, [%rd0+16], 5;\n"
         "red.global.add.noftz.f16x2 [%rd0+24], 0x3c004000;"));
  at = good.array(cells);
  order = good.array(std::vector<uint32_t>(64));
  good.run(64);
  auto got = good.read<uint32_t>(at, 8);
  EXPECT_EQ(got[0], 64u);
  EXPECT_EQ(got[1], 63u);
  EXPECT_EQ(bitsAs<float>(got[2]), 32.0f);
  EXPECT_EQ(got[3], 100u);
  EXPECT_EQ(got[4], 5u);
  EXPECT_EQ(got[5], 0u);
  EXPECT_EQ(got[6], 0x54005800u); // 64 and 128
  auto seen = good.read<uint32_t>(order, 64);
  std::sort(seen.begin(), seen.end());
  for (uint32_t i = 0; i < 64; ++i)
    EXPECT_EQ(seen[i], i);
}

TEST(PtxRun, SpecialRegisters) {
  Bench bench(kernelText(
      1, "mov.u32 %r10, %tid.y;\nmov.u32 %r11, %ntid.x;\n"
         "mad.lo.u32 %r12, %r10, %r11, %r0;\nmov.u32 %r13, %ctaid.x;\n"
         "mov.u32 %r14, %nctaid.x;\nmov.u32 %r15, %laneid;\n"
         "mov.u32 %r16, %lanemask_lt;\npopc.b32 %r17, %r16;\n"
         "sub.u32 %r18, %r15, %r17;\nmov.u32 %r19, %ntid.y;\n"
         "mul.lo.u32 %r20, %r19, %r11;\nmad.lo.u32 %r21, %r13, %r20, %r12;\n"
         "mad.wide.u32 %rd10, %r21, 4, %rd0;\nadd.u32 %r22, %r21, %r18;\n"
         "st.global.u32 [%rd10], %r22;\nmov.u64 %rd11, %clock64;"));
  uint64_t out = bench.array(std::vector<uint32_t>(120));
  bench.launch.block[1] = 5;
  bench.run(8, 3);
  auto got = bench.read<uint32_t>(out, 120);
  for (uint32_t i = 0; i < 120; ++i)
    EXPECT_EQ(got[i], i);
}

TEST(PtxRun, WhatACompilerWritesAround) {
  Memory memory;
  Program program(
      parse("//\n// Generated\n//\n.version 7.0\n.target sm_80, debug\n"
            ".address_size 64\n.file 1 \"a \\ b.cpp\"\n/* .entry */\n"
            ".visible .entry k(\n.param .u64 .ptr .global .align 16 k_param_0,"
            "\n.param .align 4 .b8 k_param_1[12]\n)\n.maxntid 128, 1, 1\n"
            ".minnctapersm 2\n{\n.reg .b32 %r<3>;\n.loc 1 3 0\n"
            ".pragma \"nounroll\";\nld.param.b32 %r1, [k_param_1+8];\n"
            "ret; // done\n}\n.section .debug_abbrev\n{\n.b8 1\n.b8 17\n}\n"),
      memory);
  const Function &function = *program.kernel("k")->function;
  EXPECT_EQ(function.parameterBytes, 20u);
  EXPECT_EQ(function.maxntid[0], 128u);
  EXPECT_EQ(function.minBlocks, 2u);
}

} // namespace
