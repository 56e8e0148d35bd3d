// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel must not do, done on purpose: each is reported with its line.

#include "PtxKernel.h"

using namespace ashlar::ptx;
using ::testing::Test;

TEST(PtxFault, AWriteBeyondAnAllocationNamesKernelThreadLineAndAddress) {
  Bench bench(kernelText(1, "mul.wide.u32 %rd10, %r0, 4;\n"
                            "add.s64 %rd11, %rd0, %rd10;\n"
                            "st.global.u32 [%rd11], %r0;"));
  uint64_t at = bench.array(std::vector<uint32_t>(40));
  expectSaid(bench.fault(64, Fault::IllegalAddress),
             {"kernel 'k'", "block (0, 0, 0)", "thread (40, 0, 0)",
              "st.global.u32 [%rd11], %r0;", hex(at + 160).c_str()});
}

TEST(PtxFault, AReadThatStraddlesTheEndIsOutOfBounds) {
  Bench bench(kernelText(1, "ld.global.u64 %rd10, [%rd0+4];"));
  bench.array(std::vector<uint32_t>(3));
  expectSaid(bench.fault(1, Fault::Misaligned), {"aligned to 8"});
  Bench other(kernelText(1, "ld.global.v2.u32 {%r10, %r11}, [%rd0+8];"));
  other.array(std::vector<uint32_t>(3));
  expectSaid(other.fault(1, Fault::IllegalAddress), {"has 4 left"});
}

TEST(PtxFault, AddressesOfTheHostAreNoneOfTheDevice) {
  uint32_t here = 0;
  Bench bench(kernelText(1, "st.global.u32 [%rd0], 1;"));
  append(bench.launch, &here);
  expectSaid(bench.fault(1, Fault::IllegalAddress), {"is it the host's?"});
  EXPECT_EQ(here, 0u);
  Bench null(kernelText(1, "st.u32 [%rd0], 1;"));
  append<uint64_t>(null.launch, 0);
  expectSaid(null.fault(1, Fault::IllegalAddress), {"null pointer"});
}

TEST(PtxFault, MemoryThatWasGivenBackIsNone) {
  Bench bench(kernelText(1, "ld.global.u32 %r10, [%rd0];"));
  bench.memory.release(bench.array(std::vector<uint32_t>(4)));
  EXPECT_NE(bench.fault(1, Fault::IllegalAddress), "");
}

static const char *exchange = // each writes its own, reads its neighbour's
    "mov.u32 %r20, s;\n"
    "shl.b32 %r10, %r0, 2;\nadd.u32 %r11, %r20, %r10;\n"
    "st.shared.u32 [%r11], %r0;\n%BARRIER%"
    "xor.b32 %r12, %r0, %DISTANCE%;\nshl.b32 %r12, %r12, 2;\n"
    "add.u32 %r12, %r12, %r20;\n"
    "ld.shared.u32 %r13, [%r12];\n"
    "mul.wide.u32 %rd10, %r0, 4;\nadd.s64 %rd11, %rd0, %rd10;\n"
    "st.global.u32 [%rd11], %r13;";

static std::string exchanging(const char *barrier, const char *distance) {
  std::string text = exchange;
  text.replace(text.find("%BARRIER%"), 9, barrier);
  text.replace(text.find("%DISTANCE%"), 10, distance);
  return kernelText(1, text, ".shared .align 4 .b8 s[512];");
}

TEST(PtxFault, ARaceInSharedMemoryIsSeen) {
  for (const char *distance : {"1", "32"}) {
    Bench bench(exchanging("", distance));
    bench.array(std::vector<uint32_t>(64));
    std::string said;
    try {
      bench.run(64);
    } catch (const Fault &fault) {
      // One way round nothing was written yet, the other way it was.
      EXPECT_TRUE(fault.kind == Fault::Race || fault.kind == Fault::NotWritten);
      said = fault.what();
    }
    expectSaid(said, {"ld.shared.u32"});
  }
}

TEST(PtxFault, ABarrierOrdersWhatAWarpsBarrierDoesNot) {
  Bench right(exchanging("bar.sync 0;\n", "32"));
  uint64_t out = right.array(std::vector<uint32_t>(64));
  right.run(64);
  auto got = right.read<uint32_t>(out, 64);
  for (uint32_t i = 0; i < 64; ++i)
    EXPECT_EQ(got[i], i ^ 32);
  // Within a warp the warp's barrier is enough, across it is not.
  Bench warp(exchanging("bar.warp.sync -1;\n", "1"));
  warp.array(std::vector<uint32_t>(64));
  warp.run(64);
  Bench across(exchanging("bar.warp.sync -1;\n", "32"));
  across.array(std::vector<uint32_t>(64));
  EXPECT_THROW(across.run(64), Fault);
}

TEST(PtxFault, AWriteAfterReadsNeedsABarrierToo) {
  auto text = [](const char *barrier) {
    return kernelText(0,
                      "setp.eq.u32 %p10, %r0, 0;\n@%p10 st.shared.u32 [s], 7;\n"
                      "bar.sync 0;\nld.shared.u32 %r10, [s];\n" +
                          std::string(barrier) +
                          "setp.eq.u32 %p11, %r0, 40;\n"
                          "@%p11 st.shared.u32 [s], 8;",
                      ".shared .align 4 .b8 s[4];");
  };
  Bench wrong(text(""));
  expectSaid(wrong.fault(64, Fault::Race),
             {"a race", "st.shared.u32 [s], 8", "read"});
  Bench right(text("bar.sync 0;\n"));
  right.run(64);
}

TEST(PtxFault, SharedMemoryThatNobodyWroteIsNotRead) {
  Bench bench(kernelText(0, "ld.shared.u32 %r10, [s+4];",
                         ".shared .align 4 .b8 s[8];"));
  expectSaid(bench.fault(1, Fault::NotWritten), {"0x4", "no thread wrote"});
}

TEST(PtxFault, SharedAndLocalMemoryHaveAnEnd) {
  Bench bench(
      kernelText(0, "st.shared.u32 [s+16], 1;", ".shared .align 4 .b8 s[16];"));
  expectSaid(bench.fault(1, Fault::IllegalAddress), {"16 bytes"});
  Bench local(kernelText(0, ".local .align 4 .b8 l[8];\nmov.u64 %rd10, l;\n"
                            "cvta.local.u64 %rd11, %rd10;\n"
                            "st.u32 [%rd11+8], 1;"));
  expectSaid(local.fault(1, Fault::IllegalAddress), {"local 0x8", "8 bytes"});
}

TEST(PtxFault, ABarrierThatSomeDoNotReachIsReported) {
  Bench bench(kernelText(0, "setp.lt.u32 %p10, %r0, 40;\n@%p10 ret;\n"
                            "bar.sync 0;"));
  expectSaid(bench.fault(64, Fault::Divergence),
             {"exited, threads 0-39", "waiting, threads 40-63", "bar.sync 0;"});
  Bench two(kernelText(0, "setp.lt.u32 %p10, %r0, 32;\n@%p10 bra A;\n"
                          "bar.sync 1;\nbra B;\nA:\nbar.sync 2;\nB:"));
  expectSaid(two.fault(64, Fault::Divergence), {"bar.sync 1;", "bar.sync 2;"});
  Bench aligned(kernelText(0, "setp.lt.u32 %p10, %r0, 40;\n@%p10 bra A;\n"
                              "bar.sync 0;\nbra B;\nA:\nbar.sync 0;\nB:"));
  expectSaid(aligned.fault(64, Fault::Divergence), {"aligned", "warp 1"});
}

TEST(PtxFault, AnEndlessLoopEnds) {
  Bench bench(kernelText(0, "A: bra A;"));
  bench.launch.limit = 1000;
  expectSaid(bench.fault(1, Fault::Limit), {"more than 1000 instructions"});
}

TEST(PtxFault, AShuffleFromALaneThatIsNotThereIsReported) {
  Bench bench(kernelText(0, "setp.lt.u32 %p10, %r0, 16;\n@%p10 bra A;\n"
                            "ret;\nA:\n"
                            "shfl.sync.bfly.b32 %r10, %r0, 16, 31, 0xffff;"));
  expectSaid(bench.fault(32, Fault::Divergence), {"does not take part"});
}

TEST(PtxFault, ConstantMemoryAndParametersAreNotWritten) {
  Bench bench(kernelText(0, "mov.u64 %rd10, c;\nst.global.u32 [%rd10], 1;",
                         ".const .align 4 .b8 c[4] = {1, 2, 3, 4};"));
  expectSaid(bench.fault(1, Fault::IllegalAddress), {"constant memory"});
}

TEST(PtxFault, BlocksThatWriteTheSameByteRace) {
  std::string own = "mov.u32 %r10, %ctaid.x;\nmad.wide.u32 %rd10, %r10, 4, "
                    "%rd0;\nst.global.u32 [%rd10], %r10;";
  Bench right(kernelText(1, own));
  right.array(std::vector<uint32_t>(8));
  right.run(1, 8);
  auto expectRace = [](const std::string &body, const char *what) {
    Bench wrong(kernelText(1, body));
    wrong.array(std::vector<uint32_t>(8));
    try {
      wrong.run(1, 8);
      ADD_FAILURE() << body;
    } catch (const Fault &fault) {
      EXPECT_EQ(fault.kind, Fault::Race);
      expectSaid(fault.what(), {"block (1, 0, 0)", what, "block 0"});
    }
  };
  expectRace("mov.u32 %r10, %ctaid.x;\nmad.wide.u32 %rd10, %r10, 4, %rd0;\n"
             "st.global.u8 [%rd10], %r10;\nst.global.u16 [%rd0+2], %r10;",
             "another block of this launch wrote");
  expectRace(own + "\nld.global.u32 %r11, [%rd0];",
             "a read of a byte that another block");
}

TEST(PtxFault, WhatIsReadAsConstantDoesNotChange) {
  std::string read = "ld.global.nc.u32 %r10, [%rd0+4];\n",
              write = "st.global.u32 [%rd0+4], 1;\n";
  Bench before(kernelText(1, read + write));
  before.array(std::vector<uint32_t>(2));
  expectSaid(before.fault(1, Fault::Race), {"st.global", "ld.global.nc"});
  Bench after(kernelText(1, write + read));
  after.array(std::vector<uint32_t>(2));
  expectSaid(after.fault(1, Fault::Race), {"ld.global.nc"});
}

TEST(PtxFault, WhatIsAllowedIsNotReported) {
  auto expectFine = [](const char *what, const std::string &body,
                       const std::string &before) {
    for (bool isAllowed : {false, true}) {
      setenv("ASHLAR_PTX_ALLOW", isAllowed ? what : "", 1);
      Bench bench(kernelText(1, body, before));
      bench.array(std::vector<uint32_t>(64));
      if (isAllowed)
        EXPECT_NO_THROW(bench.run(64, 2)) << what;
      else
        EXPECT_THROW(bench.run(64, 2), Fault) << what;
    }
    unsetenv("ASHLAR_PTX_ALLOW");
  };
  std::string s = ".shared .align 4 .b8 s[4];";
  expectFine("races", "st.shared.u32 [s], 1;", s);
  expectFine("unwritten", "ld.shared.u32 %r10, [s];", s);
  expectFine("blocks", "st.global.u32 [%rd0], 1;", "");
}

TEST(PtxFault, WideReadsMayHoldAGapThatNobodyWrote) {
  std::string s = ".shared .align 16 .b8 s[32];";
  std::string written = "st.shared.u32 [s], 1;\nst.shared.u32 [s+8], 1;\n"
                        "bar.sync 0;\n";
  auto run = [&](const std::string &read) {
    Bench bench(kernelText(1, written + read, s));
    bench.array(std::vector<uint32_t>(64));
    bench.run(1, 1);
  };
  EXPECT_NO_THROW(run("ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [s];"));
  EXPECT_THROW(run("ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [s+16];"),
               Fault);
  EXPECT_NO_THROW(run("ld.shared.v2.u32 {%r10, %r11}, [s];"));
  EXPECT_THROW(run("ld.shared.v2.u32 {%r10, %r11}, [s+16];"), Fault);
  EXPECT_THROW(run("ld.shared.u32 %r10, [s+4];"), Fault);
}

TEST(PtxFault, WhatItDoesNotKnowIsAnErrorThatQuotesTheLine) {
  auto refused = [](const std::string &line) {
    Memory memory;
    try {
      Program program(parse(kernelText(0, line)), memory);
    } catch (const Error &error) {
      return std::string(error.what());
    }
    return std::string();
  };
  expectSaid(refused("frobnicate.f32 %f10, %f11;"),
             {"frobnicate.f32 %f10, %f11;", "does not know"});
  expectSaid(refused("add.odd.s32 %r10, %r11, %r12;"), {"'.odd' of 'add'"});
  expectSaid(refused("add.s32 %r10, %r11;"), {"expected 3 operands"});
  expectSaid(refused("bra NOWHERE;"), {"no label 'NOWHERE'"});
  expectSaid(refused("mov.u32 %r10, %nothing;"), {"%nothing"});
  expectSaid(refused("call.uni f;"), {"'f' is defined nowhere"});
}
