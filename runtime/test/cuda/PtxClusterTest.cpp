// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Barriers in shared memory, and blocks that run together as a cluster.

#include "PtxKernel.h"

using namespace ashlar::ptx;

namespace {

/// Of a run of so many threads and blocks in clusters; empty: it went well.
std::string outcome(Bench &bench, uint32_t threads, Fault::Kind kind,
                    uint32_t blocks = 1, uint32_t cluster = 0) {
  bench.launch.cluster[0] = cluster;
  bench.launch.cluster[1] = bench.launch.cluster[2] = cluster ? 1 : 0;
  try {
    bench.run(threads, blocks);
  } catch (const Fault &fault) {
    EXPECT_EQ(fault.kind, kind) << fault.what();
    return fault.what();
  }
  return "";
}
std::string outcome(const std::string &body, const std::string &shared,
                    uint32_t threads, Fault::Kind kind, uint32_t blocks = 1,
                    uint32_t cluster = 0) {
  Bench bench(kernelText(1, body, shared));
  bench.array(std::vector<uint32_t>(256));
  return outcome(bench, threads, kind, blocks, cluster);
}

// Warp 0 writes, warp 1 reads; full and empty take turns. Sums 0 to 5 and the
// lane.
const std::string ring =
    "setp.ne.u32 %p10, %r0, 0;\n@%p10 bra READY;\n"
    "mbarrier.init.shared::cta.b64 [bars], 32;\n"
    "mbarrier.init.shared.b64 [bars+8], 32;\n"
    "READY:\nbar.sync 0;\n"
    "and.b32 %r10, %r0, 31;\nshl.b32 %r11, %r10, 2;\nmov.u32 %r12, s;\n"
    "add.u32 %r11, %r11, %r12;\nmov.u32 %r13, 0;\nmov.u32 %r14, 0;\n"
    "setp.lt.u32 %p11, %r0, 32;\nLOOP:\nand.b32 %r15, %r13, 1;\n"
    "@!%p11 bra CONSUMER;\nxor.b32 %r16, %r15, 1;\n"
    "EMPTY:\n"
    "mbarrier.try_wait.parity.shared::cta.b64 %p12, [bars+8], %r16;\n"
    "@!%p12 bra EMPTY;\n"
    "add.u32 %r17, %r13, %r10;\nst.shared.u32 [%r11], %r17;\n"
    "mbarrier.arrive.shared.b64 %rd10, [bars];\nbra NEXT;\n"
    "CONSUMER:\n"
    "FULL:\nmbarrier.try_wait.parity.acquire.cta.shared.b64 %p12, [bars], "
    "%r15, 1000;\n@!%p12 bra FULL;\n"
    "xor.b32 %r20, %r11, 4;\nld.shared.u32 %r18, [%r20];\n"
    "add.u32 %r14, %r14, %r18;\n"
    "mbarrier.arrive.release.cta.shared::cta.b64 _, [bars+8];\n"
    "NEXT:\nadd.u32 %r13, %r13, 1;\nsetp.lt.u32 %p13, %r13, 6;\n"
    "@%p13 bra LOOP;\nsub.u32 %r19, %r0, 32;\n"
    "mad.wide.u32 %rd11, %r19, 4, %rd0;\n@!%p11 st.global.u32 [%rd11], %r14;";
const std::string ringShared =
    ".shared .align 8 .b64 bars[2];\n.shared .align 4 .b8 s[128];";

TEST(PtxMbarrier, TwoWarpsTakeTurns) {
  Bench bench(kernelText(1, ring, ringShared));
  uint64_t out = bench.array(std::vector<uint32_t>(32));
  bench.run(64);
  auto got = bench.read<uint32_t>(out, 32);
  for (uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(got[i], 15 + 6 * (i ^ 1));
}

TEST(PtxMbarrier, WhoDoesNotWaitRaces) {
  expectSaid(outcome(replaced(ring, "@!%p12 bra FULL;", ""), ringShared, 64,
                     Fault::Race),
             {"ld.shared.u32", "a race"});
  expectSaid(outcome(replaced(ring, "@!%p12 bra EMPTY;", ""), ringShared, 64,
                     Fault::Race),
             {"st.shared.u32", "a race"});
  // Relaxed ones are no order.
  Bench relaxed(replaced(
      replaced(kernelText(1, ring, ringShared), ".version 8.0", ".version 8.6"),
      "mbarrier.arrive.shared.b64", "mbarrier.arrive.relaxed.cta.shared.b64"));
  relaxed.array(std::vector<uint32_t>(32));
  expectSaid(relaxed.fault(64, Fault::Race), {"ld.shared.u32"});
  expectSaid(
      outcome(replaced(ring, "bar.sync 0;", ""), ringShared, 64, Fault::Race),
      {"thread 0 initialized", "no barrier"});
}

TEST(PtxMbarrier, LanesOfOneWarpAreOrderedToo) {
  auto text = [](const char *arrive) {
    return "setp.eq.u32 %p10, %r0, 0;\n"
           "@%p10 mbarrier.init.shared.b64 [bars], 32;\nbar.warp.sync -1;\n"
           "mov.u32 %r12, s;\nmad.lo.u32 %r11, %r0, 4, %r12;\n"
           "st.shared.u32 [%r11], %r0;\n" +
           std::string(arrive) +
           "A: mbarrier.test_wait.shared.b64 %p11, [bars], %rd10;\n"
           "@!%p11 bra A;\nxor.b32 %r11, %r11, 4;\n"
           "ld.shared.u32 %r13, [%r11];";
  };
  std::string arrive = "mbarrier.arrive.shared.b64 %rd10, [bars];\n";
  EXPECT_EQ(outcome(text(arrive.c_str()), ringShared, 32, Fault::Race), "");
  expectSaid(outcome(replaced(text(arrive.c_str()), "@!%p11 bra A;", ""),
                     ringShared, 32, Fault::Race),
             {"ld.shared.u32", "thread 1 wrote"});
}

const std::string single =
    "mbarrier.init.shared.b64 [bars], 3;\n"
    "mbarrier.arrive.noComplete.shared.b64 %rd10, [bars], 2;\n"
    "mbarrier.pending_count.b64 %r10, %rd10;\n"
    "mbarrier.test_wait.shared.b64 %p10, [bars], %rd10;\n"
    "mbarrier.arrive.expect_tx.shared.b64 %rd11, [bars], 48;\n"
    "mbarrier.test_wait.shared.b64 %p11, [bars], %rd11;\n"
    "mbarrier.expect_tx.relaxed.cta.shared.b64 [bars], 16;\n"
    "mbarrier.complete_tx.relaxed.cta.shared.b64 [bars], 60;\n"
    "mbarrier.test_wait.parity.shared.b64 %p12, [bars], 0;\n"
    "mbarrier.complete_tx.shared.b64 [bars], 4;\n"
    "mbarrier.test_wait.shared.b64 %p13, [bars], %rd10;\n"
    "mbarrier.test_wait.parity.shared.b64 %p14, [bars], 1;\n"
    "mbarrier.arrive_drop.shared.b64 %rd12, [bars];\n"
    "mov.u64 %rd13, bars;\ncvta.shared.u64 %rd13, %rd13;\n"
    "mbarrier.arrive.b64 _, [%rd13], 2;\n"
    "mbarrier.arrive.shared.b64 _, [bars], 2;\n"
    "mbarrier.test_wait.parity.shared.b64 %p15, [bars], 0;\n"
    "mbarrier.inval.shared.b64 [bars];\nst.shared.u32 [bars], 1;\n"
    "selp.u32 %r11, 1, 0, %p10;\nselp.u32 %r12, 2, 0, %p11;\n"
    "selp.u32 %r13, 4, 0, %p12;\nselp.u32 %r14, 8, 0, %p13;\n"
    "selp.u32 %r15, 16, 0, %p14;\nselp.u32 %r16, 32, 0, %p15;\n"
    "add.u32 %r11, %r11, %r12;\nadd.u32 %r11, %r11, %r13;\n"
    "add.u32 %r11, %r11, %r14;\nadd.u32 %r11, %r11, %r15;\n"
    "add.u32 %r11, %r11, %r16;\n"
    "st.global.v2.u32 [%rd0], {%r10, %r11};";

TEST(PtxMbarrier, PhasesEndWithArrivalsAndBytes) {
  Bench bench(kernelText(1, single, ringShared));
  uint64_t out = bench.array(std::vector<uint32_t>(2));
  bench.run(1);
  // Two had not arrived before; after 3 and 64 bytes the phase is over; of the
  // third phase both that are left have arrived.
  EXPECT_EQ(bench.read<uint32_t>(out, 2), (std::vector<uint32_t>{3, 40}));
}

TEST(PtxMbarrier, WhatIsNoneIsReported) {
  auto after = [](const std::string &body, Fault::Kind kind) {
    return outcome("mbarrier.init.shared.b64 [bars], 2;\n" + body, ringShared,
                   1, kind);
  };
  expectSaid(after("mbarrier.arrive.shared.b64 _, [bars], 3;", Fault::Limit),
             {"3 arrive", "expects 2"});
  expectSaid(after("mbarrier.arrive.noComplete.shared.b64 _, [bars], 2;",
                   Fault::Limit),
             {"ends the phase"});
  expectSaid(
      after("mbarrier.arrive.shared.b64 _, [bars+8];", Fault::NotWritten),
      {"no mbarrier was initialized at shared 0x8"});
  expectSaid(after("mbarrier.inval.shared.b64 [bars];\n"
                   "mbarrier.arrive.shared.b64 _, [bars];",
                   Fault::NotWritten),
             {"no mbarrier"});
  expectSaid(after("mbarrier.init.shared.b64 [bars], 2;", Fault::Race),
             {"an ordinary access to an mbarrier"});
  expectSaid(after("ld.shared.u32 %r10, [bars+4];", Fault::Race),
             {"ld.shared.u32", "an ordinary access to an mbarrier"});
  expectSaid(
      after("mbarrier.expect_tx.shared.b64 [bars], 1048576;", Fault::Limit),
      {"1048576 bytes"});
  expectSaid(after("mov.u32 %r10, 2;\n"
                   "mbarrier.test_wait.parity.shared.b64 %p10, [bars], %r10;",
                   Fault::Limit),
             {"a parity of 2"});
  expectSaid(after("mbarrier.init.shared.b64 [bars+12], 1;", Fault::Misaligned),
             {"aligned to 8"});
  expectSaid(after("A: mbarrier.try_wait.parity.shared.b64 %p10, [bars], 0;\n"
                   "@!%p10 bra A;",
                   Fault::Divergence),
             {"waiting, threads 0 at", "mbarrier.try_wait"});
}

TEST(PtxMbarrier, AWaitMayBeInVain) {
  // Who asks once goes on without it.
  expectSaid(outcome("mbarrier.init.shared.b64 [bars], 1;\n"
                     "mbarrier.try_wait.parity.shared.b64 %p10, [bars], 0;\n"
                     "@!%p10 trap;",
                     ringShared, 1, Fault::Trap),
             {"trap"});
  // Who does what it waits for only when it waited in vain gets on.
  EXPECT_EQ(outcome("mbarrier.init.shared.b64 [bars], 3;\nA:\n"
                    "mbarrier.try_wait.parity.shared.b64 %p10, [bars], 0;\n"
                    "@!%p10 mbarrier.arrive.shared.b64 _, [bars];\n"
                    "@!%p10 bra A;",
                    ringShared, 1, Fault::Divergence),
            "");
}

TEST(PtxMbarrier, CopiesOfAThreadArriveWithIt) {
  auto text = [](const char *wait) {
    return "setp.ne.u32 %p10, %r0, 0;\n"
           "@!%p10 mbarrier.init.shared.b64 [bars], 64;\nbar.sync 0;\n"
           "mov.u32 %r12, t;\nmad.lo.u32 %r11, %r0, 4, %r12;\n"
           "mad.wide.u32 %rd11, %r0, 4, %rd0;\n"
           "cp.async.ca.shared.global [%r11], [%rd11], 4;\n"
           "cp.async.mbarrier.arrive.noinc.shared.b64 [bars];\n" +
           std::string(wait) +
           "xor.b32 %r13, %r11, 128;\nld.shared.u32 %r14, [%r13];\n"
           "setp.ne.u32 %p12, %r14, 0;\n@%p12 trap;";
  };
  std::string shared = ".shared .align 8 .b64 bars[2];\n"
                       ".shared .align 256 .b8 t[256];";
  EXPECT_EQ(outcome(text("A:\nmbarrier.try_wait.parity.shared.b64 %p11, "
                         "[bars], 0;\n@!%p11 bra A;\n"),
                    shared, 64, Fault::Race),
            "");
  EXPECT_NE(outcome(text(""), shared, 64, Fault::NotWritten), "");
}

// Each thread writes into the next block and reads what came from the last.
const std::string around =
    "mov.u32 %r10, %cluster_ctarank;\nmov.u32 %r11, %cluster_nctarank;\n"
    "add.u32 %r12, %r10, 1;\nrem.u32 %r12, %r12, %r11;\n"
    "mov.u32 %r13, s;\nmad.lo.u32 %r14, %r0, 4, %r13;\n"
    "mapa.shared::cluster.u32 %r15, %r14, %r12;\n"
    "mov.u32 %r16, %clusterid.x;\nmul.lo.u32 %r17, %r16, 1000;\n"
    "mad.lo.u32 %r17, %r10, 100, %r17;\nadd.u32 %r17, %r17, %r0;\n"
    "st.shared::cluster.u32 [%r15], %r17;\n"
    "barrier.cluster.arrive.release.aligned;\n"
    "barrier.cluster.wait.acquire.aligned;\n"
    "ld.shared.u32 %r18, [%r14];\nmov.u32 %r19, %ctaid.x;\n"
    "mad.lo.u32 %r20, %r19, 32, %r0;\nmad.wide.u32 %rd10, %r20, 4, %rd0;\n"
    "st.global.u32 [%rd10], %r18;";
const std::string aroundShared = ".shared .align 4 .b8 s[128];";

TEST(PtxCluster, BlocksReachEachOthersSharedMemory) {
  Bench bench(kernelText(1, around, aroundShared));
  uint64_t out = bench.array(std::vector<uint32_t>(256));
  EXPECT_EQ(outcome(bench, 32, Fault::Race, 8, 4), "");
  auto got = bench.read<uint32_t>(out, 256);
  for (uint32_t block = 0; block < 8; ++block)
    for (uint32_t i = 0; i < 32; ++i)
      EXPECT_EQ(got[block * 32 + i],
                block / 4 * 1000 + (block + 3) % 4 * 100 + i);
  std::string text = kernelText(1, around, aroundShared);
  Bench required(replaced(text, ")\n{", ")\n.reqnctapercluster 2\n{"));
  out = required.array(std::vector<uint32_t>(256));
  EXPECT_EQ(outcome(required, 32, Fault::Race, 8), "");
  EXPECT_EQ(required.read<uint32_t>(out, 256)[32 * 7], 3000u);
}

TEST(PtxCluster, WhatIsNotOrderedRaces) {
  auto run = [](const std::string &what, const std::string &with,
                Fault::Kind kind) {
    return outcome(replaced(around, what, with), aroundShared, 32, kind, 4, 4);
  };
  expectSaid(
      run("barrier.cluster.wait.acquire.aligned;", "", Fault::NotWritten),
      {"kernel 'k', block (0, 0, 0)", "ld.shared.u32"});
  expectSaid(
      run("arrive.release.aligned", "arrive.relaxed.aligned", Fault::Race),
      {"ld.shared.u32", "a race"});
  expectSaid(run("barrier.cluster.arrive.release.aligned;\n"
                 "barrier.cluster.wait.acquire.aligned;",
                 "bar.sync 0;", Fault::Race),
             {"a race", "thread 0 of block 3 of the cluster wrote"});
}

TEST(PtxCluster, AddressesOfOtherBlocksHaveTheirRules) {
  auto run = [](const std::string &what, const std::string &with,
                Fault::Kind kind) {
    return outcome(replaced(around, what, with), aroundShared, 32, kind, 4, 4);
  };
  expectSaid(run("st.shared::cluster.u32 [%r15]", "st.shared.u32 [%r15]",
                 Fault::IllegalAddress),
             {"another block's, without .shared::cluster"});
  expectSaid(run("%r15, %r14, %r12", "%r15, %r14, 4", Fault::IllegalAddress),
             {"mapa to block 4 of a cluster of 4"});
  expectSaid(run("barrier.cluster.arrive.release.aligned;\n"
                 "barrier.cluster.wait.acquire.aligned;",
                 "ret;", Fault::IllegalAddress),
             {"which has ended"});
  expectSaid(run("barrier.cluster.wait.acquire.aligned;",
                 "barrier.cluster.arrive.release.aligned;", Fault::Divergence),
             {"a second barrier.cluster.arrive"});
  // By generic addresses, too.
  std::string generic = replaced(
      around, "st.shared::cluster.u32 [%r15], %r17;",
      "cvt.u64.u32 %rd11, %r14;\ncvta.shared.u64 %rd11, %rd11;\n"
      "mapa.u64 %rd12, %rd11, %r12;\ngetctarank.u64 %r21, %rd12;\n"
      "setp.ne.u32 %p10, %r21, %r12;\n@%p10 trap;\nst.u32 [%rd12], %r17;");
  EXPECT_EQ(outcome(generic, aroundShared, 32, Fault::Trap, 4, 4), "");
}

TEST(PtxCluster, OtherBlocksArriveAtAnMbarrier) {
  // All but the first write into its memory and arrive there.
  std::string text =
      "mov.u32 %r10, %cluster_ctarank;\nmov.u32 %r11, bars;\n"
      "mov.u32 %r12, s;\nsetp.ne.u32 %p10, %r10, 0;\n"
      "@%p10 bra INIT;\nmbarrier.init.shared.b64 [%r11], 3;\n"
      "fence.mbarrier_init.release.cluster;\nINIT:\n"
      "barrier.cluster.arrive;\nbarrier.cluster.wait;\n"
      "@%p10 bra OTHER;\n"
      "A:\nmbarrier.try_wait.parity.shared.b64 %p11, [%r11], 0;\n"
      "@!%p11 bra A;\n"
      "ld.shared.v4.u32 {%r13, %r14, %r15, %r16}, [%r12];\n"
      "st.global.v4.u32 [%rd0], {%r13, %r14, %r15, %r16};\n"
      "bra DONE;\nOTHER:\nmad.lo.u32 %r12, %r10, 4, %r12;\n"
      "mov.u32 %r17, 0;\nmapa.shared::cluster.u32 %r11, %r11, %r17;\n"
      "mapa.shared::cluster.u32 %r12, %r12, %r17;\n"
      "st.shared::cluster.u32 [%r12], %r10;\n"
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r11];\n"
      "DONE:\nbarrier.cluster.arrive;\nbarrier.cluster.wait;";
  std::string shared = ".shared .align 8 .b64 bars[1];\n"
                       ".shared .align 16 .b8 s[16];";
  std::string own = replaced(text, "@%p10 bra INIT;",
                             "@%p10 bra INIT;\nst.shared.u32 [%r12], 7;");
  Bench bench(kernelText(1, own, shared));
  uint64_t out = bench.array(std::vector<uint32_t>(4));
  EXPECT_EQ(outcome(bench, 1, Fault::Race, 4, 4), "");
  EXPECT_EQ(bench.read<uint32_t>(out, 4), (std::vector<uint32_t>{7, 1, 2, 3}));
  expectSaid(outcome(replaced(own,
                              "st.shared::cluster.u32 [%r12], %r10;\n"
                              "mbarrier.arrive.release.cluster."
                              "shared::cluster.b64 _, [%r11];",
                              "mbarrier.arrive.release.cluster."
                              "shared::cluster.b64 _, [%r11];\n"
                              "st.shared::cluster.u32 [%r12], %r10;"),
                     shared, 1, Fault::Race, 4, 4),
             {"a race"});
  // The first must not end before the others reached it.
  expectSaid(
      outcome(replaced(own, "@%p10 bra OTHER;", "@%p10 bra OTHER;\nret;"),
              shared, 1, Fault::IllegalAddress, 4, 4),
      {"which has ended"});
}

TEST(PtxCluster, WhoDoesNotArriveIsNamed) {
  expectSaid(outcome("mov.u32 %r10, %cluster_ctarank;\n"
                     "setp.eq.u32 %p10, %r10, 1;\n@%p10 bra A;\n"
                     "barrier.cluster.arrive;\nbarrier.cluster.wait;\nret;\n"
                     "A:\nbarrier.cluster.arrive;\nsetp.lt.u32 %p11, %r0, 32;\n"
                     "@%p11 ret;\nbar.sync 0;",
                     "", 64, Fault::Divergence, 2, 2),
             {"block 1 of the cluster:", "exited, threads 0-31", "bar.sync 0"});
}

TEST(PtxCluster, LaunchesOfClustersThatThereAreNot) {
  expectSaid(outcome("", "", 1, Fault::BadLaunch, 6, 4), {"whole clusters"});
  expectSaid(outcome("", "", 1, Fault::BadLaunch, 32, 32),
             {"a cluster of 32 blocks"});
  Bench bench(
      replaced(kernelText(0, ""), ")\n{", ")\n.reqnctapercluster 2\n{"));
  expectSaid(outcome(bench, 1, Fault::BadLaunch, 8, 4), {".reqnctapercluster"});
}

} // namespace
