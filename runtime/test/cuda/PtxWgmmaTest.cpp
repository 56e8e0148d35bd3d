// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A warpgroup's products, from shared memory as its figures in the manual have
// it, against plain ones; and what the manual forbids around them.

#include "PtxEvaluate.h"
#include "PtxReference.h"

using namespace ashlar::ptx;

namespace {

struct Kind {
  const char *types;
  int k, bits;
  double (*value)(uint32_t bits);
  uint32_t (*make)(uint64_t random);
};

template <class T> double narrow(uint32_t bits) {
  return Narrow<T>::value(uint16_t(bits));
}
template <class T> uint32_t smallNarrow(uint64_t random) { // -8 to 8
  return fromDouble<T>(double(int(random % 161) - 80) / 10, Rounding::Nearest)
      .bits;
}
template <int mantissa> double eightBits(uint32_t b) {
  int bias = mantissa == 3 ? 7 : 15, e = int(b & 0x7f) >> mantissa,
      m = int(b & ((1 << mantissa) - 1));
  return (b & 0x80 ? -1 : 1) *
         std::ldexp(e ? m + (1 << mantissa) : m, (e ? e : 1) - bias - mantissa);
}
double single(uint32_t b) { return double(bitsAs<float>(b & 0xffffe000)); }
uint32_t smallSingle(uint64_t random) {
  return bitsAs<uint32_t>(float(int(random % 1601) - 800) / 100);
}
double signedByte(uint32_t b) { return int8_t(b); }
double unsignedByte(uint32_t b) { return b; }
uint32_t anyByte(uint64_t random) { return random & 0xff; }
uint32_t smallByte(uint64_t random) { return random & 0xbf; } // no NaN

const Kind half{"f32.f16.f16", 16, 16, narrow<Half>, smallNarrow<Half>},
    halfSum{"f16.f16.f16", 16, 16, narrow<Half>, smallNarrow<Half>},
    bfloat{"f32.bf16.bf16", 16, 16, narrow<BFloat>, smallNarrow<BFloat>},
    tf32{"f32.tf32.tf32", 8, 32, single, smallSingle},
    s8{"s32.s8.s8", 32, 8, signedByte, anyByte},
    u8{"s32.u8.u8", 32, 8, unsignedByte, anyByte},
    fine{"f32.e4m3.e4m3", 32, 8, eightBits<3>, smallByte},
    wide{"f32.e5m2.e5m2", 32, 8, eightBits<2>, smallByte};

/// A matrix of rows along M or N and columns along K in shared memory.
struct Placed {
  int width = 16; // bytes of a swizzle's row; 16: none
  bool isMnMajor = false;
  int step = 0;         // of 32 bytes within a row
  uint64_t pattern = 0; // where it starts
  uint64_t leading = 144, stride = 288;

  /// Of the unit of 16 bytes at `u` along the direction of the rows and in row
  /// `v`: rows of a swizzle one after another, units exchanged within them.
  uint64_t at(int u, int v) const {
    if (width == 16)
      return uint64_t(v % 8 * 16) +
             (isMnMajor ? uint64_t(v / 8) * leading + uint64_t(u) * stride
                        : uint64_t(v / 8) * stride + uint64_t(u) * leading);
    int units = width / 16, line = v % 8 * width / 128;
    u += isMnMajor ? 0 : 2 * step;
    return uint64_t(u / units) * leading + uint64_t(v / 8) * stride +
           uint64_t(v % 8 * width) + uint64_t((u % units ^ line % units) * 16);
  }
  uint64_t descriptor(uint64_t base) const {
    uint64_t start = base + pattern + uint64_t(step) * 32;
    uint64_t mode = width == 128 ? 1 : width == 64 ? 2 : width == 32 ? 3 : 0;
    uint64_t offset = width == 16 ? 0 : (base + pattern) >> 7 & 7;
    return (start >> 4 & 0x3fff) | (leading >> 4) << 16 | (stride >> 4) << 32 |
           offset << 49 | mode << 62;
  }
};
Placed swizzled(int width, bool isMnMajor = false, int step = 0,
                uint64_t pattern = 0) {
  // Further apart than they need, so that the offsets count.
  return {width, isMnMajor, step, pattern, 6144, 2048};
}
Placed plain(bool isMnMajor = false) { return {16, isMnMajor, 0, 0, 144, 288}; }

struct Case {
  Kind kind;
  int n;
  Placed a, b;
  bool isInRegisters = false;
  int scaleD = 1, signA = 1, signB = 1;
};

constexpr uint64_t bytesOfEach = 96 << 10; // of A and of B in shared memory

void check(const Case &c) {
  const Kind &kind = c.kind;
  std::string types = kind.types;
  bool isWhole = types.compare(0, 3, "s32") == 0,
       isHalf = types.compare(0, 3, "f16") == 0;
  int n = c.n, k = kind.k, perRegister = 32 / kind.bits,
      registersD = isHalf ? n / 4 : n / 2, perUnit = 128 / kind.bits;
  std::string name = "wgmma.mma_async.sync.aligned.m64n" + std::to_string(n) +
                     "k" + std::to_string(k) + "." + types;
  SCOPED_TRACE(name + ", widths " + std::to_string(c.a.width) + " and " +
               std::to_string(c.b.width) + ", seed " +
               std::to_string(seedOfRun()));
  std::string d = "{%d0", body;
  for (int j = 1; j < registersD; ++j)
    d += ", %d" + std::to_string(j);
  d += "}";
  body = ".reg .b32 %d<128>;\n"
         "mov.u32 %r10, s;\n"
         "shl.b32 %r11, %r0, 4;\n"
         "COPY:\nadd.u32 %r12, %r10, %r11;\ncvt.u64.u32 %rd10, %r11;\n"
         "add.u64 %rd10, %rd1, %rd10;\n"
         "ld.global.v4.u32 {%r13, %r14, %r15, %r16}, [%rd10];\n"
         "st.shared.v4.u32 [%r12], {%r13, %r14, %r15, %r16};\n"
         "add.u32 %r11, %r11, 2048;\nsetp.lt.u32 %p10, %r11, " +
         std::to_string(2 * bytesOfEach) +
         ";\n@%p10 bra COPY;\n"
         "fence.proxy.async;\nbar.sync 0;\n"
         "ld.global.v2.u64 {%rd11, %rd12}, [%rd2];\n"
         "shr.u32 %r17, %r10, 4;\ncvt.u64.u32 %rd13, %r17;\n"
         "add.u64 %rd11, %rd11, %rd13;\nadd.u64 %rd12, %rd12, %rd13;\n"
         "setp.ne.u32 %p11, " +
         std::to_string(c.scaleD) + ", 0;\n";
  std::string each = std::to_string(4 * registersD);
  body += "mad.wide.u32 %rd14, %r0, " + each + ", %rd3;\n";
  for (int j = 0; j < registersD; ++j)
    body += "ld.global.b32 %d" + std::to_string(j) + ", [%rd14+" +
            std::to_string(4 * j) + "];\n";
  body += "mad.wide.u32 %rd15, %r0, 16, %rd4;\n"
          "ld.global.v4.b32 {%r20, %r21, %r22, %r23}, [%rd15];\n"
          "wgmma.fence.sync.aligned;\n" +
          name + " " + d + ", " +
          (c.isInRegisters ? "{%r20, %r21, %r22, %r23}" : "%rd11") +
          ", %rd12, %p11";
  if (!isWhole)
    body += ", " + std::to_string(c.signA) + ", " + std::to_string(c.signB);
  if (kind.bits == 16) {
    if (!c.isInRegisters)
      body += c.a.isMnMajor ? ", 1" : ", 0";
    body += c.b.isMnMajor ? ", 1" : ", 0";
  }
  body += ";\nwgmma.commit_group.sync.aligned;\n"
          "wgmma.wait_group.sync.aligned 0;\n"
          "mad.wide.u32 %rd14, %r0, " +
          each + ", %rd0;\n";
  for (int j = 0; j < registersD; ++j)
    body += "st.global.b32 [%rd14+" + std::to_string(4 * j) + "], %d" +
            std::to_string(j) + ";\n";
  Bench bench(kernelText(5, body,
                         ".shared .align 1024 .b8 s[" +
                             std::to_string(2 * bytesOfEach) + "];",
                         "sm_90a"));

  // What is not of the matrices is anything.
  std::vector<uint8_t> image(2 * bytesOfEach);
  for (uint8_t &byte : image)
    byte = uint8_t(generator()());
  std::vector<double> left(size_t(64 * k)), right(size_t(n * k));
  std::vector<uint32_t> bitsOfA(size_t(64 * k));
  auto place = [&](const Placed &placed, uint64_t base, int rows,
                   std::vector<double> &values, std::vector<uint32_t> *bits) {
    for (int row = 0; row < rows; ++row)
      for (int column = 0; column < k; ++column) {
        uint32_t made = kind.make(generator()());
        values[size_t(row * k + column)] = kind.value(made);
        if (bits)
          (*bits)[size_t(row * k + column)] = made;
        int along = placed.isMnMajor ? row : column,
            across = placed.isMnMajor ? column : row;
        uint64_t at = base + placed.pattern +
                      placed.at(along / perUnit, across) +
                      uint64_t(along % perUnit * kind.bits / 8);
        std::memcpy(&image.at(at), &made, size_t(kind.bits / 8));
      }
  };
  place(c.a, 0, 64, left, &bitsOfA);
  place(c.b, bytesOfEach, n, right, nullptr);
  std::vector<uint32_t> fragments(128 * 4), before(size_t(128 * registersD));
  for (int t = 0; t < 128; ++t)
    for (int i = 0; i < 4 * perRegister; ++i) {
      // As the figures of mma.m16n8k have it, 16 rows for each warp.
      int row = t / 32 * 16 + t % 32 / 4 + (i / perRegister % 2 ? 8 : 0),
          column = t % 4 * perRegister + i % perRegister +
                   (i / perRegister / 2 ? 4 * perRegister : 0);
      fragments[size_t(t * 4 + i / perRegister)] |=
          bitsOfA[size_t(row * k + column)] << i % perRegister * kind.bits;
    }
  std::vector<double> sum(size_t(64 * n));
  auto rowOf = [](int t, int e) {
    return t / 32 * 16 + t % 32 / 4 + (e % 4 >= 2 ? 8 : 0);
  };
  auto columnOf = [](int t, int e) { return e / 4 * 8 + t % 4 * 2 + e % 2; };
  for (int t = 0; t < 128; ++t)
    for (int e = 0; e < n / 2; ++e) {
      int value = int(generator()() % 100);
      sum[size_t(rowOf(t, e) * n + columnOf(t, e))] = c.scaleD ? value : 0;
      if (isHalf)
        before[size_t(t * registersD + e / 2)] |=
            uint32_t(fromDouble<Half>(value, Rounding::Nearest).bits)
            << e % 2 * 16;
      else
        before[size_t(t * registersD + e)] =
            isWhole ? uint32_t(value) : bitsAs<uint32_t>(float(value));
    }
  for (int row = 0; row < 64; ++row)
    for (int column = 0; column < n; ++column)
      for (int at = 0; at < k; ++at)
        sum[size_t(row * n + column)] += c.signA * left[size_t(row * k + at)] *
                                         c.signB *
                                         right[size_t(column * k + at)];
  uint64_t out = bench.array(std::vector<uint32_t>(size_t(128 * registersD)));
  bench.array(image);
  bench.array(
      std::vector<uint64_t>{c.a.descriptor(0), c.b.descriptor(bytesOfEach)});
  bench.array(before);
  bench.array(fragments);
  bench.run(128);
  auto got = bench.read<uint32_t>(out, size_t(128 * registersD));
  int wrong = 0;
  for (int t = 0; t < 128 && wrong < 5; ++t)
    for (int e = 0; e < n / 2; ++e) {
      uint32_t bits = got[size_t(t * registersD + (isHalf ? e / 2 : e))];
      double value = isHalf    ? narrow<Half>(bits >> e % 2 * 16 & 0xffff)
                     : isWhole ? double(int32_t(bits))
                               : double(bitsAs<float>(bits)),
             right = sum[size_t(rowOf(t, e) * n + columnOf(t, e))],
             within = isWhole  ? 0
                      : isHalf ? 1e-3 * (1 + std::fabs(right))
                               : 1e-6 * (1 + std::fabs(right));
      if (std::fabs(value - right) <= within)
        continue;
      ADD_FAILURE() << rowOf(t, e) << ", " << columnOf(t, e) << ": " << value
                    << ", expected " << right;
      ++wrong;
    }
}

TEST(PtxWgmma, ProductsOfAllTypes) {
  for (const Kind &kind : {half, halfSum, bfloat, tf32, s8, u8, fine, wide}) {
    check({kind, 8, plain(), plain()});
    check({kind, 64, swizzled(128), swizzled(128)});
    check({kind, 32, plain(), swizzled(64), true});
  }
  check({bfloat, 256, swizzled(128), swizzled(128)});
  check({bfloat, 136, swizzled(128), swizzled(128)});
}

TEST(PtxWgmma, AllLayoutsOfSharedMemory) {
  for (int a : {16, 32, 64, 128})
    for (int b : {16, 32, 64, 128})
      for (bool isMnMajorA : {false, true})
        for (bool isMnMajorB : {false, true})
          check({half, 72,
                 a == 16 ? plain(isMnMajorA) : swizzled(a, isMnMajorA),
                 b == 16 ? plain(isMnMajorB) : swizzled(b, isMnMajorB)});
}

TEST(PtxWgmma, StepsAlongKWithinASwizzledRow) {
  for (int step = 0; step < 4; ++step)
    check({bfloat, 16, swizzled(128, false, step),
           swizzled(128, false, 3 - step)});
  for (int step = 0; step < 2; ++step)
    check({s8, 16, swizzled(64, false, step), swizzled(64, false, 1 - step)});
}

TEST(PtxWgmma, APatternThatDoesNotStartAtItsSizeHasABaseOffset) {
  for (uint64_t start : {128, 384, 896})
    check({half, 16, swizzled(128, false, 0, start),
           swizzled(128, true, 0, 1024 - start)});
  check({half, 16, swizzled(64, false, 1, 128), swizzled(32, false, 0, 128)});
}

TEST(PtxWgmma, Scales) {
  check({half, 16, plain(), plain(), false, 0});
  check({half, 16, plain(), plain(), false, 1, -1, 1});
  check({tf32, 16, plain(), plain(), true, 1, 1, -1});
  check({fine, 16, plain(), plain(), false, 0, -1, -1});
  check({s8, 48, plain(), plain(), true, 0});
}

// Two products of 64 x 8 x 16 on one accumulator, each part by its name, so
// that it can be changed.
struct Steps {
  std::string before = "mov.f32 %f10, 0f00000000;\nmov.f32 %f11, %f10;\n"
                       "mov.f32 %f12, %f10;\nmov.f32 %f13, %f10;\n";
  std::string write = "st.shared.v4.b32 [%r11], {%r12, %r12, %r12, %r12};\n"
                      "st.shared.v4.b32 [%r11+2048], {%r12, %r12, %r12, "
                      "%r12};\n";
  std::string proxy = "fence.proxy.async.shared::cta;\n",
              barrier = "bar.sync 0;\n", fence = "wgmma.fence.sync.aligned;\n";
  std::string first = product("m64n8k16.f32.f16.f16", 4);
  std::string between, second = first;
  std::string commit = "wgmma.commit_group.sync.aligned;\n", pending,
              wait = "wgmma.wait_group.sync.aligned 0;\n", after;

  static std::string product(const std::string &types, int registers,
                             int from = 10) {
    std::string text = "wgmma.mma_async.sync.aligned." + types + " {";
    for (int j = 0; j < registers; ++j)
      text += (j ? ", %f" : "%f") + std::to_string(from + j);
    return text + "}, %rd10, %rd11, %p10, 1, 1, 0, 0;\n";
  }
  std::string text() const {
    // A at 0, B at 2048: core matrices one after another.
    return kernelText(
        1,
        "mov.u32 %r10, s;\nmad.lo.u32 %r11, %r0, 16, %r10;\n"
        "mov.b32 %r12, 0x3c003c00;\nsetp.eq.u32 %p10, %r0, %r0;\n"
        "shr.u32 %r13, %r10, 4;\ncvt.u64.u32 %rd10, %r13;\n"
        "or.b64 %rd10, %rd10, 0x0000001000080000;\n"
        "add.u64 %rd11, %rd10, 128;\n" +
            before + write + proxy + barrier + fence + first + between +
            second + commit + pending + wait +
            "mad.wide.u32 %rd12, %r0, 16, %rd0;\n"
            "st.global.v4.f32 [%rd12], {%f10, %f11, %f12, %f13};\n" +
            after,
        ".shared .align 1024 .b8 s[8192];", "sm_90a");
  }
};

/// What it says; empty: it ran, and its sums are right.
std::string outcome(const Steps &steps, Fault::Kind kind = Fault::Race,
                    float expected = 32) {
  Bench bench(steps.text());
  uint64_t out = bench.array(std::vector<float>(512));
  std::string said = bench.fault(128, kind);
  if (said.empty())
    for (float each : bench.read<float>(out, 512))
      EXPECT_EQ(each, expected);
  return said;
}

TEST(PtxWgmma, WhatIsRightRuns) {
  EXPECT_EQ(outcome({}), "");
  // Two groups, of which the first is done when the second may still run.
  Steps groups;
  groups.between = groups.commit;
  groups.pending = "wgmma.wait_group.sync.aligned 1;\n";
  EXPECT_EQ(outcome(groups), "");
  Steps fenced;
  fenced.between = "wgmma.fence.sync.aligned;\n";
  EXPECT_EQ(outcome(fenced), "");
  Steps again;
  again.after = "bar.sync 0;\n" + again.write;
  EXPECT_EQ(outcome(again), "");
}

TEST(PtxWgmma, AnAccumulatorIsNotTouchedBeforeItWasWaitedFor) {
  const auto kind = Fault::NotWritten;
  Steps unwaited;
  unwaited.wait = "";
  expectSaid(outcome(unwaited, kind),
             {"kernel 'k'", "thread (0, 0, 0)", "st.global.v4.f32", "%f10",
              "no wgmma.wait_group"});
  Steps uncommitted;
  uncommitted.commit = "";
  expectSaid(outcome(uncommitted, kind), {"st.global.v4.f32", "%f10"});
  Steps oneLeft;
  oneLeft.between = oneLeft.commit;
  oneLeft.wait = "wgmma.wait_group.sync.aligned 1;\n";
  expectSaid(outcome(oneLeft, kind), {"st.global.v4.f32", "%f10"});
  Steps written;
  written.pending = "setp.eq.u32 %p11, %r0, 77;\n@%p11 mov.f32 %f12, %f14;\n";
  expectSaid(outcome(written, kind),
             {"thread (77, 0, 0)", "mov.f32 %f12, %f14", "%f12"});
  Steps unrelated;
  unrelated.pending = "mov.f32 %f14, 0f00000000;\n";
  EXPECT_EQ(outcome(unrelated), "");
}

TEST(PtxWgmma, RegistersOfAAreNotTouchedEither) {
  Steps steps;
  steps.before += "mov.b32 %r20, %r12;\nmov.b32 %r21, %r12;\n"
                  "mov.b32 %r22, %r12;\nmov.b32 %r23, %r12;\n";
  steps.first = steps.second =
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f10, %f11, %f12, "
      "%f13}, {%r20, %r21, %r22, %r23}, %rd11, %p10, 1, 1, 0;\n";
  EXPECT_EQ(outcome(steps), "");
  steps.pending = "mov.b32 %r22, 0;\n";
  expectSaid(outcome(steps, Fault::NotWritten), {"mov.b32 %r22, 0", "%r22"});
  steps.pending = "";
  steps.between = "mov.b32 %r24, 0;\n";
  EXPECT_EQ(outcome(steps), "");
  steps.fence += "mov.b32 %r22, %r12;\n";
  expectSaid(outcome(steps), {"wgmma.mma_async", "%r22", "no wgmma.fence"});
}

TEST(PtxWgmma, AFenceIsBetweenRegistersAndProducts) {
  Steps none;
  none.fence = "";
  expectSaid(outcome(none),
             {"threads 0-127", "wgmma.mma_async", "no wgmma.fence"});
  Steps early;
  early.fence = "wgmma.fence.sync.aligned;\nmov.f32 %f11, 0f00000000;\n";
  expectSaid(outcome(early), {"thread 0", "%f11", "no wgmma.fence"});
  // Reading an accumulator is an access, too.
  Steps read;
  read.between = read.commit + read.wait + "mov.f32 %f20, %f13;\n";
  expectSaid(outcome(read), {"%f13", "no wgmma.fence"});
  read.between += "wgmma.fence.sync.aligned;\n";
  EXPECT_EQ(outcome(read), "");
  Steps shapes;
  shapes.before += "mov.f32 %f14, %f10;\nmov.f32 %f15, %f10;\n"
                   "mov.f32 %f16, %f10;\nmov.f32 %f17, %f10;\n";
  shapes.write += "st.shared.v4.b32 [%r11+4096], {%r12, %r12, %r12, %r12};\n";
  shapes.second = Steps::product("m64n16k16.f32.f16.f16", 8);
  expectSaid(outcome(shapes), {"m64n16k16", "different shapes"});
  shapes.between = "wgmma.fence.sync.aligned;\n";
  EXPECT_EQ(outcome(shapes), "");
}

TEST(PtxWgmma, WhatWasWrittenNeedsAProxyFence) {
  Steps none;
  none.proxy = "";
  expectSaid(outcome(none), {"wgmma.mma_async", "fence.proxy.async"});
  // By who wrote, before the barrier.
  Steps late;
  late.proxy = "";
  late.barrier += "fence.proxy.async;\n";
  expectSaid(outcome(late), {"fence.proxy.async"});
  Steps early;
  early.before += early.proxy;
  early.proxy = "";
  expectSaid(outcome(early), {"fence.proxy.async"});
  Steps one;
  one.proxy = "setp.ne.u32 %p11, %r0, 100;\n@%p11 fence.proxy.async;\n";
  expectSaid(outcome(one), {"thread 100", "fence.proxy.async"});
  Steps global;
  global.proxy = "fence.proxy.async.global;\n";
  expectSaid(outcome(global), {"fence.proxy.async"});
  Steps noBarrier;
  noBarrier.barrier = "";
  expectSaid(outcome(noBarrier), {"a race", "no barrier"});
  Steps copied;
  copied.write = "mov.f32 %f20, 0f00000000;\n"
                 "mad.wide.u32 %rd13, %r0, 16, %rd0;\n"
                 "st.global.v4.b32 [%rd13], {%r12, %r12, %r12, %r12};\n"
                 "cp.async.cg.shared.global [%r11], [%rd13], 16;\n"
                 "cp.async.cg.shared.global [%r11+2048], [%rd13], 16;\n"
                 "cp.async.wait_all;\n";
  EXPECT_EQ(outcome(copied), "");
  copied.proxy = "";
  expectSaid(outcome(copied), {"wgmma.mma_async", "fence.proxy.async"});
}

TEST(PtxWgmma, WhatIsReadIsNotOverwritten) {
  Steps early;
  early.pending = "st.shared.b32 [%r11], %r12;\n";
  expectSaid(outcome(early), {"st.shared.b32", "read asynchronously"});
  // Who has waited may write, and so may who comes after that.
  Steps late;
  late.after = "st.shared.b32 [%r11], %r12;\n";
  EXPECT_EQ(outcome(late), "");
  for (const char *barrier : {"", "bar.sync 1, 64;\n"}) {
    Steps other;
    other.before += "setp.lt.u32 %p13, %r0, 128;\n"
                    "setp.ge.u32 %p14, %r0, 96;\n";
    other.write = "@%p13 st.shared.v4.b32 [%r11], {%r12, %r12, %r12, %r12};\n"
                  "@%p13 st.shared.v4.b32 [%r11+2048], {%r12, %r12, %r12, "
                  "%r12};\n";
    other.fence = "@!%p13 bra OTHER;\n" + other.fence;
    std::string after = barrier[0] ? "@%p14 " + std::string(barrier) : "";
    other.after = after + "ret;\nOTHER:\n" + barrier +
                  "setp.eq.u32 %p15, %r0, 128;\n"
                  "@%p15 st.shared.b32 [s+64], %r12;\n";
    Bench bench(other.text());
    bench.array(std::vector<float>(512));
    std::string said = bench.fault(160, Fault::Race);
    if (barrier[0])
      EXPECT_EQ(said, "");
    else
      expectSaid(said, {"a race", "0x40"});
  }
  Steps other;
  other.pending = "st.shared.b32 [%r11+4096], %r12;\n";
  EXPECT_EQ(outcome(other), "");
  Steps copied;
  copied.pending = "cp.async.ca.shared.global [%r11], [%rd0], 4;\n";
  expectSaid(outcome(copied), {"cp.async", "read asynchronously"});
}

TEST(PtxWgmma, TheWholeWarpgroupTakesPart) {
  Steps steps;
  Bench few(steps.text());
  few.array(std::vector<float>(512));
  expectSaid(few.fault(96, Fault::Divergence), {"a warpgroup of 96 threads"});
  steps.first = "setp.lt.u32 %p11, %r0, 32;\n@%p11 bra A;\n" + steps.first +
                "bra B;\nA:\n" + steps.first + "B:\n";
  expectSaid(outcome(steps, Fault::Divergence), {"different instructions"});
  Steps descriptors;
  descriptors.before += "setp.eq.u32 %p11, %r0, 64;\n"
                        "@%p11 add.u64 %rd11, %rd11, 1;\n";
  expectSaid(outcome(descriptors, Fault::Divergence),
             {"the descriptor of B of thread 64"});
  Steps reserved;
  reserved.before += "or.b64 %rd11, %rd11, 0x4000;\n";
  expectSaid(outcome(reserved, Fault::IllegalAddress), {"a matrix descriptor"});
  Steps outside;
  outside.before += "add.u64 %rd11, %rd11, 512;\n";
  expectSaid(outcome(outside, Fault::IllegalAddress), {"8192 bytes"});
}

/// Three warpgroups, the first of which hands registers to the others.
std::string sharesRegisters(const std::string &first, const std::string &rest) {
  return kernelText(0,
                    "setp.lt.u32 %p10, %r0, 128;\n@%p10 bra FIRST;\n" + rest +
                        "ret;\nFIRST:\n" + first,
                    "", "sm_90a");
}

TEST(PtxWgmma, RegistersMoveFromOneWarpgroupToAnother) {
  auto inc = [](const char *count) {
    return "setmaxnreg.inc.sync.aligned.u32 " + std::string(count) + ";\n";
  };
  auto dec = [](const char *count) {
    return "setmaxnreg.dec.sync.aligned.u32 " + std::string(count) + ";\n";
  };
  // 65536 / 384 are 168: 24 + 2 x 240 are as many as 3 x 168.
  Bench right(sharesRegisters(dec("24"), inc("240")));
  EXPECT_EQ(right.fault(384, Fault::Limit), "");
  Bench tooFew(sharesRegisters(dec("32"), inc("240")));
  expectSaid(tooFew.fault(384, Fault::Divergence),
             {"setmaxnreg.inc", "do not come"});
  Bench none(sharesRegisters("", inc("240")));
  expectSaid(none.fault(384, Fault::Divergence), {"setmaxnreg.inc"});
  std::string fewer = sharesRegisters(inc("24"), "");
  fewer.insert(fewer.find(")\n{") + 2, ".maxnreg 168\n");
  Bench other(fewer);
  expectSaid(other.fault(384, Fault::Limit), {"24", "168"});
  Bench half(
      sharesRegisters("setp.lt.u32 %p10, %r0, 64;\n@%p10 " + dec("24"), ""));
  EXPECT_NE(half.fault(384, Fault::Divergence), "");
}

TEST(PtxWgmma, WhatThereIsNotIsRefused) {
  auto refused = [](const std::string &line, const char *target = "sm_90a") {
    Memory memory;
    try {
      Program program(parse(kernelText(0, line, "", target)), memory);
    } catch (const Error &error) {
      return std::string(error.what());
    }
    return std::string();
  };
  expectSaid(refused("wgmma.fence.sync.aligned;", "sm_90"), {"sm_90a"});
  EXPECT_EQ(refused("wgmma.fence.sync.aligned;"), "");
  std::string rest = " {%f0, %f1, %f2, %f3}, %rd0, %rd1, %p0, 1, 1, 0, 0;",
              mma = "wgmma.mma_async.sync.aligned.";
  EXPECT_EQ(refused(mma + "m64n8k16.f32.bf16.bf16" + rest), "");
  expectSaid(refused(mma + "m64n8k8.f32.bf16.bf16" + rest), {"a shape"});
  expectSaid(refused(mma + "m64n16k16.f32.bf16.bf16" + rest),
             {"expected 8 registers"});
  expectSaid(refused(mma + "m64n8k16.f32.bf16.f16" + rest), {"go together"});
  expectSaid(refused(mma + "m64n8k16.f16.bf16.bf16" + rest), {".f32"});
  expectSaid(refused(mma + "m64n8k32.f32.s8.s8" + rest), {".s32"});
  expectSaid(refused(mma + "m64n8k8.f32.tf32.tf32" + rest), {"operands"});
  for (const char *count : {"16", "100", "264", "%r10"})
    expectSaid(
        refused("setmaxnreg.dec.sync.aligned.u32 " + std::string(count) + ";"),
        {"24 to 256"});
}

} // namespace
