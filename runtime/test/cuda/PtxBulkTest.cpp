// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies that an agent makes: what they bring and take, and who may look.

#include "PtxEvaluate.h"
#include "PtxTensorMap.h"

using namespace ashlar::ptx;

namespace {

/// A kernel whose parameters are a map, by value, and a pointer in %rd0; the
/// map's address is in %rd1.
std::string kernelOfMap(const std::string &body, const std::string &shared) {
  std::string text = kernelText(
      1, "mov.b64 %rd1, map;\ncvta.param.u64 %rd1, %rd1;\n" + body, shared);
  return replaced(text, "(.param .u64 p0",
                  "(.param .align 64 .b8 map[128], .param .u64 p0");
}

const char *wait = "A:\nmbarrier.try_wait.parity.shared.b64 %p12, [bar], 0;\n"
                   "@!%p12 bra A;\n";
std::string started(int bytes) {
  return "setp.ne.u32 %p10, %r0, 0;\n@%p10 bra READY;\n"
         "mbarrier.init.shared.b64 [bar], 1;\n"
         "fence.mbarrier_init.release.cluster;\n"
         "mbarrier.arrive.expect_tx.shared.b64 _, [bar], " +
         std::to_string(bytes) + ";\n";
}
const std::string shared = ".shared .align 1024 .b8 s[32768];\n"
                           ".shared .align 8 .b64 bar;";

struct Tensor {
  TensorMapOptions options;
  std::vector<int> from;
};

Tensor tensorOf(int type, std::vector<uint64_t> dims, std::vector<uint32_t> box,
                std::vector<int> from, int swizzle = 0,
                std::vector<uint32_t> elementStrides = {}, int fill = 0) {
  static const unsigned sizes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  Tensor made;
  TensorMapOptions &of = made.options;
  of.type = type;
  of.rank = uint32_t(dims.size());
  uint64_t bytes = sizes[type];
  for (size_t k = 0; k < dims.size(); ++k) {
    of.dims[k] = dims[k];
    of.box[k] = box[k];
    of.elementStrides[k] = elementStrides.empty() ? 1 : elementStrides[k];
    // With some bytes between the rows.
    bytes = (bytes * dims[k] + 15) / 16 * 16 + 16;
    if (k < 4)
      of.strides[k] = bytes;
  }
  of.swizzle = swizzle;
  of.fill = fill;
  made.from = from;
  return made;
}

/// What the box should be in shared memory, element by element.
std::vector<uint8_t> boxOf(const Tensor &tensor, unsigned size,
                           const std::vector<uint8_t> &global, uint8_t outside,
                           std::vector<uint64_t> *places = nullptr) {
  const TensorMapOptions &of = tensor.options;
  std::vector<uint8_t> made;
  uint32_t index[5] = {};
  uint32_t count[5] = {1, 1, 1, 1, 1};
  for (uint32_t k = 0; k < of.rank; ++k)
    count[k] = (of.box[k] + of.elementStrides[k] - 1) / of.elementStrides[k];
  for (index[4] = 0; index[4] < count[4]; ++index[4])
    for (index[3] = 0; index[3] < count[3]; ++index[3])
      for (index[2] = 0; index[2] < count[2]; ++index[2])
        for (index[1] = 0; index[1] < count[1]; ++index[1])
          for (index[0] = 0; index[0] < count[0]; ++index[0]) {
            bool isIn = true;
            uint64_t at = 0;
            for (uint32_t k = 0; k < of.rank; ++k) {
              int64_t c =
                  tensor.from[k] + int64_t(index[k] * of.elementStrides[k]);
              isIn &= c >= 0 && c < int64_t(of.dims[k]);
              at += uint64_t(c) * (k ? of.strides[k - 1] : size);
            }
            for (unsigned byte = 0; byte < size; ++byte) {
              made.push_back(isIn ? global[at + byte] : outside);
              if (places)
                places->push_back(isIn ? at + byte : ~0ull);
            }
          }
  if (of.swizzle) {
    // Rows as wide as the swizzle; units of 16 bytes exchanged by the line of
    // 128 bytes that a row is in.
    std::vector<uint8_t> out(made.size());
    std::vector<uint64_t> outPlaces(places ? places->size() : 0);
    uint64_t width = 16ull << of.swizzle, units = width / 16;
    for (uint64_t byte = 0; byte < made.size(); ++byte) {
      uint64_t row = byte / width, unit = byte % width / 16,
               line = row * width / 128;
      uint64_t to = row * width + (unit ^ line % units) * 16 + byte % 16;
      out[to] = made[byte];
      if (places)
        outPlaces[to] = (*places)[byte];
    }
    if (places)
      *places = outPlaces;
    return out;
  }
  return made;
}

std::vector<uint8_t> randomBytes(size_t count) {
  std::vector<uint8_t> made(count);
  for (uint8_t &each : made)
    each = uint8_t(generator()());
  return made;
}

std::string coordinatesOf(const Tensor &tensor) {
  std::string text;
  for (int each : tensor.from)
    text += (text.empty() ? "" : ", ") + std::to_string(each);
  return "{" + text + "}";
}
std::string rankOf(const Tensor &tensor) {
  return "." + std::to_string(tensor.options.rank) + "d";
}

void appendMap(Bench &bench, const Tensor &tensor, uint64_t address) {
  TensorMapOptions of = tensor.options;
  of.address = address;
  TensorMap map;
  EXPECT_EQ(TensorMap::make(of, map), "");
  auto &to = bench.launch.parameters;
  to.resize(sizeof(map));
  std::memcpy(to.data(), &map, sizeof(map));
}

const uint64_t allBytes = 1 << 17;
const unsigned sizes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};

void checkLoad(const Tensor &tensor, uint8_t outside = 0) {
  auto global = randomBytes(allBytes);
  auto expected = boxOf(tensor, sizes[tensor.options.type], global, outside);
  int bytes = int(expected.size());
  Bench bench(kernelOfMap(
      "prefetch.tensormap [%rd1];\nprefetch.param.tensormap [map];\n" +
          started(bytes) + "cp.async.bulk.tensor" + rankOf(tensor) +
          ".shared::cluster.global.tile.mbarrier::complete_tx::bytes [s], "
          "[%rd1, " +
          coordinatesOf(tensor) + "], [bar];\nREADY:\nbar.sync 0;\n" + wait +
          "mov.u32 %r10, %r0;\nB:\nmov.u32 %r11, s;\nadd.u32 %r11, %r11, "
          "%r10;\n"
          "ld.shared.u8 %r12, [%r11];\ncvt.u64.u32 %rd10, %r10;\n"
          "add.u64 %rd10, %rd0, %rd10;\nst.global.u8 [%rd10], %r12;\n"
          "add.u32 %r10, %r10, 64;\nsetp.lt.u32 %p11, %r10, " +
          std::to_string(bytes) + ";\n@%p11 bra B;",
      shared));
  uint64_t in = bench.memory.allocate(allBytes);
  std::memcpy(bench.memory.onHost(in, allBytes), global.data(), allBytes);
  appendMap(bench, tensor, in);
  uint64_t out = bench.array(std::vector<uint8_t>(expected.size()));
  SCOPED_TRACE(bench.program.quote(0) + rankOf(tensor) + ", seed " +
               std::to_string(seedOfRun()));
  bench.run(64);
  EXPECT_TRUE(bench.read<uint8_t>(out, expected.size()) == expected);
}

void checkStore(const Tensor &tensor) {
  auto global = randomBytes(allBytes), box = global;
  std::vector<uint64_t> places;
  size_t bytes =
      boxOf(tensor, sizes[tensor.options.type], global, 0, &places).size();
  auto values = randomBytes(bytes);
  auto expected = global;
  for (size_t k = 0; k < bytes; ++k)
    if (places[k] != ~0ull)
      expected[places[k]] = values[k];
  Bench bench(kernelOfMap(
      "mov.u32 %r10, %r0;\nB:\nmov.u32 %r11, s;\nadd.u32 %r11, %r11, %r10;\n"
      "cvt.u64.u32 %rd10, %r10;\nadd.u64 %rd10, %rd0, %rd10;\n"
      "ld.global.u8 %r12, [%rd10];\nst.shared.u8 [%r11], %r12;\n"
      "add.u32 %r10, %r10, 64;\nsetp.lt.u32 %p11, %r10, " +
          std::to_string(bytes) +
          ";\n@%p11 bra B;\nfence.proxy.async.shared::cta;\nbar.sync 0;\n"
          "setp.ne.u32 %p10, %r0, 0;\n@%p10 ret;\n"
          "cp.async.bulk.tensor" +
          rankOf(tensor) + ".global.shared::cta.tile.bulk_group [%rd1, " +
          coordinatesOf(tensor) +
          "], [s];\ncp.async.bulk.commit_group;\n"
          "cp.async.bulk.wait_group 0;",
      shared));
  uint64_t to = bench.memory.allocate(allBytes);
  std::memcpy(bench.memory.onHost(to, allBytes), global.data(), allBytes);
  appendMap(bench, tensor, to);
  bench.array(values);
  bench.run(64);
  EXPECT_TRUE(bench.read<uint8_t>(to, allBytes) == expected)
      << rankOf(tensor) << ", seed " << seedOfRun();
}

TEST(PtxBulk, TensorsOfAllRanks) {
  for (auto check : {+[](const Tensor &t) { checkLoad(t); },
                     +[](const Tensor &t) { checkStore(t); }}) {
    check(tensorOf(0, {1000}, {64}, {100}));
    check(tensorOf(6, {100, 50}, {32, 16}, {8, 3}));
    check(tensorOf(7, {20, 10, 8}, {12, 5, 4}, {3, 2, 1}));
    check(tensorOf(8, {6, 5, 4, 3}, {4, 3, 2, 2}, {1, 1, 1, 1}));
    check(tensorOf(9, {16, 5, 4, 3, 3}, {8, 3, 2, 2, 2}, {4, 1, 1, 1, 0}));
  }
}

TEST(PtxBulk, SwizzlesExchangeUnits) {
  for (int swizzle : {1, 2, 3})
    for (int type : {0, 6, 7}) {
      uint32_t width = 16u << swizzle, elements = width / sizes[type];
      Tensor tensor =
          tensorOf(type, {300, 60}, {elements, 40}, {7, 2}, swizzle);
      checkLoad(tensor);
      checkStore(tensor);
    }
}

TEST(PtxBulk, WhatIsOutsideIsZeroAndStays) {
  for (std::vector<int> from :
       {std::vector<int>{-3, -2}, {90, 45}, {-40, 0}, {0, 60}, {97, -15}}) {
    Tensor tensor = tensorOf(6, {100, 50}, {32, 16}, from);
    checkLoad(tensor);
    checkStore(tensor);
  }
  checkLoad(tensorOf(6, {100, 50}, {64, 16}, {70, 40}, 3));
}

TEST(PtxBulk, ElementsWithStrides) {
  Tensor tensor =
      tensorOf(6, {100, 50, 9}, {16, 9, 4}, {5, 44, 2}, 0, {4, 2, 3});
  tensor.options.elementStrides[0] = 1; // it counts for nothing
  checkLoad(tensor);
  checkStore(tensor);
}

TEST(PtxBulk, OutsideMayBeNaN) {
  // A box without any of the tensor.
  Tensor tensor = tensorOf(7, {16, 4}, {16, 2}, {16, 0}, 0, {}, 1);
  Bench bench(kernelOfMap(
      started(128) +
          "cp.async.bulk.tensor.2d.shared::cluster.global.tile."
          "mbarrier::complete_tx::bytes [s], [%rd1, {16, 0}], "
          "[bar];\nREADY:\n" +
          wait + "ld.shared.u32 %r10, [s+124];\nst.global.u32 [%rd0], %r10;",
      shared));
  appendMap(bench, tensor, bench.memory.allocate(4096));
  uint64_t out = bench.array(std::vector<uint32_t>(1));
  bench.run(1);
  EXPECT_TRUE(std::isnan(bench.read<float>(out, 1)[0]));
}

// One box of 256 bytes, loaded by thread 0 and read by all.
const std::string loading =
    "setp.ne.u32 %p10, %r0, 0;\n@%p10 bra READY;\n"
    "mbarrier.init.shared.b64 [bar], 1;\nfence.proxy.async;\n"
    "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;\n"
    "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::"
    "bytes [s], [%rd1, {0, 0}], [bar];\n"
    "READY:\nbar.sync 0;\n" +
    std::string(wait) +
    "mov.u32 %r10, s;\nmad.lo.u32 %r10, %r0, 4, %r10;\n"
    "ld.shared.u32 %r11, [%r10];";

std::string outcome(const std::string &body, Fault::Kind kind,
                    uint32_t threads = 64) {
  Bench bench(kernelOfMap(body, shared));
  appendMap(bench, tensorOf(7, {16, 8}, {16, 4}, {0, 0}),
            bench.memory.allocate(1024));
  bench.array(std::vector<uint32_t>(64));
  return bench.fault(threads, kind);
}
std::string changed(const std::string &what, const std::string &with,
                    Fault::Kind kind) {
  return outcome(replaced(loading, what, with), kind);
}

TEST(PtxBulk, WhatComesIsThereWhenItWasWaitedFor) {
  EXPECT_EQ(outcome(loading, Fault::Race), "");
  expectSaid(changed("@!%p12 bra A;", "", Fault::NotWritten),
             {"ld.shared.u32", "cp.async", "did not wait"});
  // Where only one thread waits, a barrier hands that on.
  std::string one = replaced(replaced(loading, "A:\n", "@%p10 bra B;\nA:\n"),
                             "@!%p12 bra A;\n", "@!%p12 bra A;\nB:\n");
  expectSaid(outcome(one, Fault::NotWritten), {"ld.shared.u32", "cp.async"});
  EXPECT_EQ(outcome(replaced(one, "B:\n", "B:\nbar.sync 0;\n"), Fault::Race),
            "");
  expectSaid(changed("_, [bar], 256", "_, [bar], 272", Fault::Divergence),
             {"waiting, threads 0-63", "mbarrier.try_wait"});
  expectSaid(changed("fence.proxy.async;\n", "", Fault::Race),
             {"cp.async.bulk.tensor", "an mbarrier", "made known"});
  expectSaid(outcome("mbarrier.init.shared.b64 [bar], 1;\nfence.proxy.async;\n"
                     "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;\n"
                     "cp.async.bulk.tensor.2d.shared::cluster.global."
                     "mbarrier::complete_tx::bytes [s], [%rd1, {0, 0}], "
                     "[bar];",
                     Fault::Race, 1),
             {"all threads end while a copy is under way"});
}

TEST(PtxBulk, WhatComesDoesNotMeetOrdinaryAccesses) {
  // A store of before is known by a fence only, a read of before is none.
  std::string store = "st.shared.u32 [s+64], 1;\n";
  expectSaid(changed("mbarrier.arrive", store + "mbarrier.arrive", Fault::Race),
             {"0x40", "fence.proxy.async"});
  EXPECT_EQ(changed("mbarrier.arrive",
                    store + "fence.proxy.async;\nmbarrier.arrive", Fault::Race),
            "");
  EXPECT_EQ(changed("mbarrier.arrive",
                    store + "fence.proxy.async;\nld.shared.u32 %r20, [s+64];\n"
                            "mbarrier.arrive",
                    Fault::Race),
            "");
  expectSaid(
      changed("READY:\n", "READY:\nst.shared.u32 [s+64], 1;\n", Fault::Race),
      {"a race"});
  // Read by some while others let it be overwritten.
  std::string twice = replaced(
      loading, "ld.shared.u32 %r11, [%r10];",
      "ld.shared.u32 %r11, [%r10];\n@%p10 ret;\n"
      "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;\n"
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::"
      "bytes [s], [%rd1, {0, 0}], [bar];\n"
      "C:\nmbarrier.try_wait.parity.shared.b64 %p12, [bar], 1;\n"
      "@!%p12 bra C;");
  EXPECT_EQ(outcome(replaced(twice, "@%p10 ret;", "bar.sync 0;\n@%p10 ret;"),
                    Fault::Race),
            "");
  std::string late = replaced(twice, "ld.shared.u32 %r11, [%r10];\n@%p10 ret;",
                              "@!%p10 bra D;\nld.shared.u32 %r11, [%r10];\n"
                              "ret;\nD:");
  expectSaid(outcome(late, Fault::Race), {"ld.shared.u32", "a race"});
}

TEST(PtxBulk, MapsAndPlacesHaveTheirRules) {
  expectSaid(changed("[s], [%rd1, {0, 0}]", "[s+64], [%rd1, {0, 0}]",
                     Fault::Misaligned),
             {"a box in shared memory", "128"});
}

TEST(PtxBulk, MapsAreWhatTheDriverMade) {
  std::string body = replaced(loading, "[%rd1, {0, 0}]", "[%rd0, {0, 0}]");
  expectSaid(outcome(body, Fault::IllegalAddress), {"is no tensor map"});
  expectSaid(outcome("add.u64 %rd1, %rd1, 8;\n" + loading, Fault::Misaligned),
             {"a tensor map", "64 bytes"});
  Bench rank(kernelOfMap(loading, shared));
  appendMap(rank, tensorOf(7, {64}, {64}, {0}), rank.memory.allocate(1024));
  rank.array(std::vector<uint32_t>(64));
  expectSaid(rank.fault(64, Fault::IllegalAddress),
             {"a tensor map of 1 dimensions for 2"});
  Bench small(kernelOfMap(loading, shared));
  appendMap(small, tensorOf(7, {16, 8}, {16, 4}, {0, 0}),
            small.memory.allocate(128));
  small.array(std::vector<uint32_t>(64));
  expectSaid(small.fault(64, Fault::IllegalAddress),
             {"cp.async.bulk.tensor", "a read of 64 bytes"});
}

// All write 1 KiB, thread 0 stores it.
const std::string storing =
    "mov.u32 %r10, s;\nmad.lo.u32 %r10, %r0, 16, %r10;\n"
    "st.shared.v4.u32 [%r10], {%r0, %r0, %r0, %r0};\n"
    "fence.proxy.async.shared::cta;\nbar.sync 0;\n"
    "setp.ne.u32 %p10, %r0, 0;\n@%p10 bra DONE;\n"
    "cp.async.bulk.global.shared::cta.bulk_group [%rd0], [s], 512;\n"
    "cp.async.bulk.commit_group;\n"
    "cp.async.bulk.global.shared::cta.bulk_group [%rd0+512], [s+512], 512;\n"
    "cp.async.bulk.commit_group;\n"
    "cp.async.bulk.wait_group.read 0;\nDONE:\nbar.sync 0;\n"
    "st.shared.u32 [%r10], 7;\n@!%p10 cp.async.bulk.wait_group 0;";

std::string outcomeOfStore(const std::string &text, uint32_t threads = 64) {
  Bench bench(kernelText(1, text, shared));
  uint64_t out = bench.array(std::vector<uint32_t>(256));
  std::string said = bench.fault(threads, Fault::Race);
  if (said.empty()) {
    auto got = bench.read<uint32_t>(out, 256);
    for (uint32_t i = 0; i < 256; ++i)
      EXPECT_EQ(got[i], i / 4);
  }
  return said;
}

TEST(PtxBulk, WhatIsReadIsNotOverwrittenBeforeItWasWaitedFor) {
  EXPECT_EQ(outcomeOfStore(storing), "");
  expectSaid(outcomeOfStore(
                 replaced(storing, "wait_group.read 0", "wait_group.read 1")),
             {"read asynchronously"});
  expectSaid(
      outcomeOfStore(replaced(storing, "DONE:\nbar.sync 0;\n", "DONE:\n")),
      {"st.shared.u32 [%r10], 7", "read asynchronously"});
  expectSaid(
      outcomeOfStore(replaced(storing, "fence.proxy.async.shared::cta;\n", "")),
      {"cp.async.bulk.global", "fence.proxy.async"});
  // One lane waits for itself alone.
  std::string ofAWarp =
      replaced(storing, "[%rd0+512], [s+512], 512", "[%rd0+512], [s+256], 256");
  expectSaid(
      outcomeOfStore(replaced(ofAWarp, "DONE:\nbar.sync 0;\n", "DONE:\n"), 32),
      {"thread (1, 0, 0)", "read asynchronously"});
  // The end of a group that is not committed, and of one that is not waited
  // for.
  std::string unwaited = replaced(storing, "st.shared.u32 [%r10], 7;\n", "");
  for (const char *each : {"@!%p10 cp.async.bulk.wait_group 0;",
                           "cp.async.bulk.wait_group.read 0;\n"})
    unwaited = replaced(unwaited, each, "");
  expectSaid(outcomeOfStore(unwaited), {"the thread ends"});
  expectSaid(outcomeOfStore(replaced(
                 unwaited, "[s+512], 512;\ncp.async.bulk.commit_group;",
                 "[s+512], 512;\ncp.async.bulk.wait_group 0;")),
             {"the thread ends"});
}

// A warp stores four matrices, 32 rows of 16 bytes, its first lane a box of
// them; then the same again in their place. Each time lane l holds 2 l and
// 2 l + 1 of each matrix.
const std::string storingMatrices =
    "mov.u32 %r10, s;\nmad.lo.u32 %r10, %r0, 16, %r10;\n"
    "setp.ne.u32 %p10, %r0, 0;\n"
    "mul.lo.u32 %r11, %r0, 2;\nadd.u32 %r12, %r11, 1;\n"
    "shl.b32 %r12, %r12, 16;\nor.b32 %r11, %r11, %r12;\n"
    "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r10], {%r11, %r11, %r11, "
    "%r11};\n"
    "fence.proxy.async.shared::cta;\nbar.warp.sync 0xffffffff;\n"
    "@%p10 bra FIRST;\n"
    "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd1, {0, 0}], "
    "[s];\ncp.async.bulk.commit_group;\n"
    "cp.async.bulk.wait_group.read 0;\n"
    "FIRST:\nbar.warp.sync 0xffffffff;\n"
    "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r10], {%r11, %r11, %r11, "
    "%r11};\n"
    "fence.proxy.async.shared::cta;\nbar.warp.sync 0xffffffff;\n"
    "@%p10 bra LAST;\n"
    "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd1, {0, 32}], "
    "[s];\ncp.async.bulk.commit_group;\n"
    "cp.async.bulk.wait_group.read 0;\nLAST:\n";

std::string outcomeOfMatrices(const std::string &text) {
  Bench bench(kernelOfMap(text, shared));
  Tensor tensor = tensorOf(9, {8, 48}, {8, 32}, {0, 0}); // 16 rows are outside
  tensor.options.strides[0] = 16;
  uint64_t to = bench.memory.allocate(48 * 16);
  appendMap(bench, tensor, to);
  bench.array(std::vector<uint32_t>(1));
  std::string said = bench.fault(32, Fault::Race);
  if (said.empty()) {
    auto got = bench.read<uint16_t>(to, 48 * 8);
    for (uint32_t i = 0; i < got.size(); ++i)
      EXPECT_EQ(got[i], i % 64);
  }
  return said;
}

TEST(PtxBulk, MatricesLeaveByBoxes) {
  EXPECT_EQ(outcomeOfMatrices(storingMatrices), "");
  // Written again while the engine reads: no wait, and none that others know.
  std::string again = "cp.async.bulk.wait_group.read 0;\nFIRST:\n";
  expectSaid(outcomeOfMatrices(replaced(storingMatrices, again, "FIRST:\n")),
             {"stmatrix", "read asynchronously"});
  expectSaid(outcomeOfMatrices(replaced(storingMatrices,
                                        "FIRST:\nbar.warp.sync 0xffffffff;\n",
                                        "FIRST:\n")),
             {"stmatrix", "read asynchronously"});
  // Stored by instructions that the engine need not see.
  std::string fence = "fence.proxy.async.shared::cta;\n";
  std::string unfenced = storingMatrices;
  for (size_t at; (at = unfenced.find(fence)) != std::string::npos;)
    unfenced.erase(at, fence.size());
  expectSaid(outcomeOfMatrices(unfenced),
             {"cp.async.bulk.tensor", "fence.proxy.async"});
  // And by other lanes, which have not met.
  std::string unmet = storingMatrices, meet = "bar.warp.sync 0xffffffff;\n";
  for (size_t at; (at = unmet.find(meet)) != std::string::npos;)
    unmet.erase(at, meet.size());
  expectSaid(outcomeOfMatrices(unmet), {"cp.async.bulk.tensor"});
}

TEST(PtxBulk, PlainCopiesHaveTheirRules) {
  std::string load =
      "mbarrier.init.shared.b64 [bar], 1;\nfence.proxy.async;\n"
      "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 64;\n"
      "createpolicy.fractional.L2::evict_first.b64 %rd10, 0f3F800000;\n"
      "cp.async.bulk.prefetch.L2.global [%rd0], 64;\n"
      "mov.u32 %r10, 64;\n"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes."
      "L2::cache_hint [s+16], [%rd0+64], %r10, [bar], %rd10;\n" +
      std::string(wait) +
      "ld.shared.u32 %r11, [s+20];\nst.global.u32 [%rd0], %r11;";
  auto run = [&](const std::string &text, Fault::Kind kind) {
    Bench bench(kernelText(1, text, shared));
    std::vector<uint32_t> values(64);
    for (uint32_t i = 0; i < 64; ++i)
      values[i] = i;
    uint64_t at = bench.array(values);
    std::string said = bench.fault(1, kind);
    if (said.empty())
      EXPECT_EQ(bench.read<uint32_t>(at, 1)[0], 17u);
    return said;
  };
  EXPECT_EQ(run(load, Fault::Race), "");
  expectSaid(run(replaced(load, "[s+16]", "[s+8]"), Fault::Misaligned), {"16"});
  expectSaid(run(replaced(load, "[%rd0+64]", "[%rd0+8]"), Fault::Misaligned),
             {"global memory", "16"});
  expectSaid(run(replaced(load, "%r10, 64", "%r10, 40"), Fault::Misaligned),
             {"a size"});
  expectSaid(
      run(replaced(load, "[%rd0+64]", "[%rd0+208]"), Fault::IllegalAddress),
      {"has 48 left"});
}

std::string runClusters(Bench &bench, Fault::Kind kind, uint32_t threads,
                        uint32_t blocks) {
  bench.launch.cluster[0] = blocks;
  bench.launch.cluster[1] = bench.launch.cluster[2] = 1;
  try {
    bench.run(threads, blocks);
  } catch (const Fault &fault) {
    EXPECT_EQ(fault.kind, kind) << fault.what();
    return fault.what();
  }
  return "";
}

TEST(PtxBulk, OneCopyComesToManyBlocks) {
  // Block 0 copies to itself and to block 2, block 1 to itself alone.
  auto text = [](const char *mask) {
    return kernelOfMap(
        "mov.u32 %r10, %cluster_ctarank;\n"
        "mbarrier.init.shared.b64 [bar], 1;\n"
        "fence.mbarrier_init.release.cluster;\n"
        "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;\n"
        "barrier.cluster.arrive;\nbarrier.cluster.wait;\n"
        "setp.eq.u32 %p10, %r10, 2;\nsetp.eq.u32 %p11, %r10, 0;\n"
        "@%p10 bra A;\nmov.u16 %rs10, 2;\n"
        "@%p11 mov.u16 %rs10, " +
            std::string(mask) +
            ";\nmov.u32 %r11, %r10;\n"
            "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::"
            "complete_tx::bytes.multicast::cluster [s], [%rd1, {0, %r11}], "
            "[bar], %rs10;\n" +
            wait +
            "ld.shared.u32 %r12, [s+4];\nmad.wide.u32 %rd10, %r10, 4, %rd0;\n"
            "st.global.u32 [%rd10], %r12;\n"
            "barrier.cluster.arrive;\nbarrier.cluster.wait;",
        shared);
  };
  for (const char *mask : {"5", "1"}) {
    Bench bench(text(mask));
    std::vector<uint32_t> values(128);
    for (uint32_t i = 0; i < 128; ++i)
      values[i] = i;
    uint64_t in = bench.memory.allocate(512);
    std::memcpy(bench.memory.onHost(in, 512), values.data(), 512);
    appendMap(bench, tensorOf(7, {16, 4}, {16, 4}, {0, 0}), in);
    uint64_t out = bench.array(std::vector<uint32_t>(3));
    std::string said = runClusters(bench, Fault::Divergence, 1, 3);
    if (mask[0] == '1') {
      expectSaid(said, {"block 2 of the cluster: waiting"});
      continue;
    }
    EXPECT_EQ(said, "");
    // Rows are 80 bytes from each other.
    EXPECT_EQ(bench.read<uint32_t>(out, 3), (std::vector<uint32_t>{1, 21, 1}));
  }
}

TEST(PtxBulk, ABlockSendsToAnother) {
  auto text = [](const char *fence, const char *rank) {
    return kernelText(
        1,
        "mov.u32 %r10, %cluster_ctarank;\n"
        "mbarrier.init.shared.b64 [bar], 1;\n"
        "fence.mbarrier_init.release.cluster;\n"
        "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;\n"
        "st.shared.v4.u32 [s], {%r10, %r10, %r10, %r10};\n" +
            std::string(fence) +
            "barrier.cluster.arrive;\nbarrier.cluster.wait;\n"
            "xor.b32 %r11, %r10, 1;\nmov.u32 %r12, s;\nmov.u32 %r13, bar;\n"
            "mapa.shared::cluster.u32 %r14, %r12, %r11;\n"
            "mapa.shared::cluster.u32 %r15, %r13, " +
            rank +
            ";\ncp.async.bulk.shared::cluster.shared::cta.mbarrier::"
            "complete_tx::bytes [%r14+32], [s], 16, [%r15];\n" +
            wait +
            "ld.shared.u32 %r16, [s+36];\nmad.wide.u32 %rd10, %r10, 4, %rd0;\n"
            "st.global.u32 [%rd10], %r16;\n"
            "barrier.cluster.arrive;\nbarrier.cluster.wait;",
        shared);
  };
  Bench bench(text("fence.proxy.async;\n", "%r11"));
  uint64_t out = bench.array(std::vector<uint32_t>(2));
  EXPECT_EQ(runClusters(bench, Fault::Race, 1, 2), "");
  EXPECT_EQ(bench.read<uint32_t>(out, 2), (std::vector<uint32_t>{1, 0}));
  Bench own(text("fence.proxy.async;\n", "%r10"));
  own.array(std::vector<uint32_t>(2));
  expectSaid(runClusters(own, Fault::IllegalAddress, 1, 2),
             {"another block than the copy's"});
  Bench unfenced(text("", "%r11"));
  unfenced.array(std::vector<uint32_t>(2));
  expectSaid(runClusters(unfenced, Fault::Race, 1, 2), {"fence.proxy.async"});
}

TEST(PtxBulk, RulesOfTensorMaps) {
  auto why = [](auto change) {
    TensorMapOptions of =
        tensorOf(6, {64, 32, 8}, {32, 16, 2}, {0, 0, 0}, 2).options;
    of.address = 1 << 20;
    change(of);
    TensorMap map;
    return TensorMap::make(of, map);
  };
  using Options = TensorMapOptions;
  EXPECT_EQ(why([](Options &) {}), "");
  auto said = [&](auto change, const char *what) {
    expectSaid(why(change), {what});
  };
  said([](Options &of) { of.type = 13; }, "tensorDataType");
  said([](Options &of) { of.rank = 0; }, "tensorRank");
  said([](Options &of) { of.rank = 6; }, "tensorRank");
  said([](Options &of) { of.rank = 2, of.interleave = 1; }, "3 at least");
  said([](Options &of) { of.address += 8; }, "16 bytes");
  said([](Options &of) { of.interleave = 2, of.address += 16; }, "32 bytes");
  said([](Options &of) { of.dims[1] = 0; }, "globalDim[1]");
  said([](Options &of) { of.dims[2] = (1ull << 32) + 1; }, "globalDim[2]");
  EXPECT_EQ(why([](Options &of) { of.dims[2] = 1ull << 32; }), "");
  said([](Options &of) { of.strides[0] += 8; }, "globalStrides[0]");
  said([](Options &of) { of.strides[1] = 1ull << 40; }, "globalStrides[1]");
  said([](Options &of) { of.strides[0] = 112; }, "less than the 128 bytes");
  said([](Options &of) { of.box[1] = 257; }, "boxDim[1]");
  EXPECT_EQ(why([](Options &of) { of.box[1] = 256; }), "");
  said([](Options &of) { of.box[2] = 0; }, "boxDim[2]");
  said([](Options &of) { of.box[0] = 12; }, "a multiple of 16");
  said([](Options &of) { of.box[0] = 40; }, "the swizzle has 64");
  EXPECT_EQ(why([](Options &of) { of.box[0] = 40, of.swizzle = 3; }), "");
  EXPECT_EQ(why([](Options &of) { of.box[0] = 40, of.swizzle = 0; }), "");
  said([](Options &of) { of.elementStrides[1] = 9; }, "elementStrides[1]");
  said([](Options &of) { of.elementStrides[0] = 0; }, "elementStrides[0]");
  said([](Options &of) { of.swizzle = 4; }, "swizzle");
  said([](Options &of) { of.interleave = 3; }, "interleave");
  said([](Options &of) { of.promotion = 4; }, "l2Promotion");
  said([](Options &of) { of.fill = 2; }, "oobFill");
  said([](Options &of) { of.fill = 1, of.type = 1; }, "whole numbers");
  said(
      [](Options &of) {
        of.interleave = 2, of.strides[0] = 160, of.strides[1] = 5120,
        of.swizzle = 2;
      },
      "swizzle of 32 bytes");
}

} // namespace
