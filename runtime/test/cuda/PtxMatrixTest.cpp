// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A warp's matrices: loaded, multiplied and stored as the manual's figures
// have them, against a plain product.

#include "PtxEvaluate.h"
#include "PtxReference.h"

using namespace ashlar::ptx;

namespace {

/// The manual's words: where element i of a lane's fragment is.
struct Place {
  int row, column;
};
Place placeInA(int lane, int i, int perRegister) {
  int group = lane >> 2, inGroup = lane % 4;
  // Registers come in pairs of rows, then in pairs of columns.
  int reg = i / perRegister, element = i % perRegister;
  bool isLower = reg == 1 || reg == 3, isRight = reg >= 2;
  return {isLower ? group + 8 : group,
          inGroup * perRegister + element + (isRight ? 4 * perRegister : 0)};
}
Place placeInB(int lane, int i, int perRegister) {
  int group = lane >> 2, inGroup = lane % 4;
  int reg = i / perRegister, element = i % perRegister;
  return {inGroup * perRegister + element + (reg ? 4 * perRegister : 0), group};
}
Place placeInC(int lane, int i) {
  return {i < 2 ? lane / 4 : lane / 4 + 8, lane % 4 * 2 + i % 2};
}

struct Kind {
  const char *types; // after the layout
  int k, bits;
  double (*value)(uint32_t bits);
  uint32_t (*make)(uint64_t random);
};

uint32_t smallHalf(uint64_t random) { // -8 to 7.9
  return fromDouble<Half>(double(int(random % 161) - 80) / 10,
                          Rounding::Nearest)
      .bits;
}
uint32_t smallBFloat(uint64_t random) {
  return fromDouble<BFloat>(double(int(random % 161) - 80) / 10,
                            Rounding::Nearest)
      .bits;
}
uint32_t smallSingle(uint64_t random) {
  return bitsAs<uint32_t>(float(int(random % 1601) - 800) / 100);
}
uint32_t anyByte(uint64_t random) { return random & 0xff; }
uint32_t fineByte(uint64_t random) { // no NaN
  return (random & 0x7f) == 0x7f ? 0x30 : random & 0xff;
}

const Kind kinds[] = {
    {"m16n8k16.row.col.f32.f16.f16.f32", 16, 16,
     [](uint32_t b) { return Narrow<Half>::value(uint16_t(b)); }, smallHalf},
    {"m16n8k8.row.col.f32.f16.f16.f32", 8, 16,
     [](uint32_t b) { return Narrow<Half>::value(uint16_t(b)); }, smallHalf},
    {"m16n8k16.row.col.f32.bf16.bf16.f32", 16, 16,
     [](uint32_t b) { return Narrow<BFloat>::value(uint16_t(b)); },
     smallBFloat},
    {"m16n8k8.row.col.f32.tf32.tf32.f32", 8, 32,
     [](uint32_t b) { return double(bitsAs<float>(b & 0xffffe000)); },
     smallSingle},
    {"m16n8k4.row.col.f32.tf32.tf32.f32", 4, 32,
     [](uint32_t b) { return double(bitsAs<float>(b & 0xffffe000)); },
     smallSingle},
    {"m16n8k32.row.col.f32.e4m3.e4m3.f32", 32, 8,
     [](uint32_t b) {
       int e = int(b >> 3 & 15), m = int(b & 7);
       return (b & 0x80 ? -1 : 1) *
              (e ? std::ldexp(8 + m, e - 10) : std::ldexp(m, -9));
     },
     fineByte},
    {"m16n8k32.row.col.s32.s8.s8.s32", 32, 8,
     [](uint32_t b) { return double(int8_t(b)); }, anyByte},
    {"m16n8k16.row.col.s32.s8.s8.s32", 16, 8,
     [](uint32_t b) { return double(int8_t(b)); }, anyByte},
    {"m16n8k32.row.col.s32.u8.u8.s32", 32, 8,
     [](uint32_t b) { return double(b); }, anyByte}};

TEST(PtxMatrix, Products) {
  for (const Kind &kind : kinds) {
    SCOPED_TRACE(std::string(kind.types) + ", seed " +
                 std::to_string(seedOfRun()));
    int perRegister = 32 / kind.bits,
        registersA = 16 * kind.k * kind.bits / (32 * 32),
        registersB = registersA / 2;
    bool isWhole = std::string(kind.types).find("s32") != std::string::npos;
    std::string name = "mma.sync.aligned." + std::string(kind.types);
    std::string a = "%r10", b = "%r20";
    for (int j = 1; j < registersA; ++j)
      a += ", %r1" + std::to_string(j);
    for (int j = 1; j < registersB; ++j)
      b += ", %r2" + std::to_string(j);
    std::string vector = registersA == 4 ? ".v4" : ".v2";
    Bench bench(kernelText(
        4, "mad.wide.u32 %rd10, %r0, " + std::to_string(4 * registersA) +
               ", %rd1;\nld.global" + vector + ".b32 {" + a +
               "}, [%rd10];\nmad.wide.u32 %rd10, %r0, " +
               std::to_string(4 * registersB) + ", %rd2;\nld.global" +
               (registersB == 2 ? ".v2.b32 {" + b + "}" : ".b32 " + b) +
               ", [%rd10];\nmad.wide.u32 %rd10, %r0, 16, %rd3;\n"
               "ld.global.v4.b32 {%r30, %r31, %r32, %r33}, [%rd10];\n" +
               name + " {%r40, %r41, %r42, %r43}, {" + a + "}, {" + b +
               "}, {%r30, %r31, %r32, %r33};\n"
               "mad.wide.u32 %rd10, %r0, 16, %rd0;\n"
               "st.global.v4.b32 [%rd10], {%r40, %r41, %r42, %r43};"));
    double left[16][32], right[32][8], sum[16][8];
    auto pack = [&](std::vector<uint32_t> &into, int lane, int i, int registers,
                    uint32_t bits) {
      into[lane * registers + i / perRegister] |=
          bits << i % perRegister * kind.bits;
    };
    std::vector<uint32_t> ra(32 * registersA), rb(32 * registersB), rc(128);
    for (int lane = 0; lane < 32; ++lane) {
      for (int i = 0; i < registersA * perRegister; ++i) {
        uint32_t bits = kind.make(generator()());
        Place at = placeInA(lane, i, perRegister);
        left[at.row][at.column] = kind.value(bits);
        pack(ra, lane, i, registersA, bits);
      }
      for (int i = 0; i < registersB * perRegister; ++i) {
        uint32_t bits = kind.make(generator()());
        Place at = placeInB(lane, i, perRegister);
        right[at.row][at.column] = kind.value(bits);
        pack(rb, lane, i, registersB, bits);
      }
      for (int i = 0; i < 4; ++i) {
        Place at = placeInC(lane, i);
        int value = int(generator()() % 100);
        sum[at.row][at.column] = value;
        rc[lane * 4 + i] =
            isWhole ? uint32_t(value) : bitsAs<uint32_t>(float(value));
      }
    }
    for (int m = 0; m < 16; ++m)
      for (int n = 0; n < 8; ++n)
        for (int k = 0; k < kind.k; ++k)
          sum[m][n] += left[m][k] * right[k][n];
    uint64_t out = bench.array(std::vector<uint32_t>(128));
    bench.array(ra);
    bench.array(rb);
    bench.array(rc);
    bench.run(32);
    auto got = bench.read<uint32_t>(out, 128);
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < 4; ++i) {
        Place at = placeInC(lane, i);
        double value = isWhole ? double(int32_t(got[lane * 4 + i]))
                               : double(bitsAs<float>(got[lane * 4 + i]));
        EXPECT_NEAR(value, sum[at.row][at.column],
                    isWhole ? 0 : 1e-6 * (1 + std::fabs(value)))
            << at.row << ", " << at.column;
      }
  }
}

TEST(PtxMatrix, TypesOfAAndBStandInTheirOrder) {
  Bench bench(kernelText(
      1, "mov.b32 %r10, 0;\nmov.b32 %r11, 0xffffffff;\n"
         "mov.b32 %r12, 0x01010101;\n"
         "mma.sync.aligned.m16n8k16.row.col.s32.u8.s8.s32 {%r20, %r21, %r22, "
         "%r23}, {%r11, %r11}, {%r12}, {%r10, %r10, %r10, %r10};\n"
         "mad.wide.u32 %rd10, %r0, 4, %rd0;\nst.global.u32 [%rd10], %r20;"));
  uint64_t out = bench.array(std::vector<uint32_t>(32));
  bench.run(32);
  EXPECT_EQ(bench.read<uint32_t>(out, 32), std::vector<uint32_t>(32, 16 * 255));
}

TEST(PtxMatrix, LoadedAndStoredByRows) {
  // Four matrices by ldmatrix, one of them transposed, back by stmatrix.
  Bench bench(kernelText(
      2,
      "mov.u32 %r10, s;\nmad.lo.u32 %r11, %r0, 16, %r10;\n"
      "mad.wide.u32 %rd10, %r0, 16, %rd1;\n"
      "ld.global.v4.b32 {%r12, %r13, %r14, %r15}, [%rd10];\n"
      "st.shared.v4.b32 [%r11], {%r12, %r13, %r14, %r15};\n"
      "bar.warp.sync -1;\n"
      "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r20, %r21, %r22, %r23}, "
      "[%r11];\n"
      "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r24}, [%r11];\n"
      "movmatrix.sync.aligned.m8n8.trans.b16 %r25, %r20;\n"
      "setp.ne.u32 %p10, %r24, %r25;\n@%p10 trap;\n"
      "mad.wide.u32 %rd11, %r0, 4, %rd0;\nst.global.u32 [%rd11], %r21;\n"
      "st.global.u32 [%rd11+128], %r24;\nbar.warp.sync -1;\n"
      "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%r11], {%r20, %r21, "
      "%r22, %r23};\nbar.warp.sync -1;\n"
      "ld.shared.u32 %r26, [%r11+4];\nst.global.u32 [%rd11+256], %r26;",
      ".shared .align 16 .b8 s[512];"));
  auto at = [](int matrix, int row, int column) {
    return uint32_t(matrix * 1000 + row * 10 + column);
  };
  std::vector<uint16_t> in(256);
  for (int m = 0; m < 4; ++m)
    for (int r = 0; r < 8; ++r)
      for (int c = 0; c < 8; ++c)
        in[m * 64 + r * 8 + c] = uint16_t(at(m, r, c));
  uint64_t out = bench.array(std::vector<uint32_t>(96));
  bench.array(in);
  bench.run(32);
  auto got = bench.read<uint32_t>(out, 96);
  for (int l = 0; l < 32; ++l) {
    int r = l / 4, c = l % 4 * 2;
    EXPECT_EQ(got[l], at(1, r, c) | at(1, r, c + 1) << 16);
    EXPECT_EQ(got[32 + l], at(0, c, r) | at(0, c + 1, r) << 16);
    int m = l / 8, row = l % 8;
    EXPECT_EQ(got[64 + l], at(m, 2, row) | at(m, 3, row) << 16);
  }
}

std::string copying(const char *wait, const char *barrier) {
  return kernelText(
      2,
      "mov.u32 %r10, s;\nmad.lo.u32 %r11, %r0, 16, %r10;\n"
      "mad.wide.u32 %rd10, %r0, 16, %rd1;\n"
      "cp.async.cg.shared.global [%r11], [%rd10], 16;\n"
      "cp.async.commit_group;\n"
      "cp.async.ca.shared.global [%r11+1024], [%rd10+4], 4, 2;\n"
      "cp.async.commit_group;\n" +
          std::string(wait) + barrier +
          "xor.b32 %r12, %r0, 33;\nmad.lo.u32 %r13, %r12, 16, %r10;\n"
          "ld.shared.u32 %r14, [%r13+12];\n"
          "mad.wide.u32 %rd11, %r0, 4, %rd0;\nst.global.u32 [%rd11], %r14;",
      ".shared .align 16 .b8 s[2048];");
}

TEST(PtxMatrix, CopiesAreThereWhenTheyWereWaitedFor) {
  std::vector<uint32_t> in(256);
  for (uint32_t i = 0; i < 256; ++i)
    in[i] = i;
  Bench bench(copying("cp.async.wait_group 1;\n", "bar.sync 0;\n"));
  uint64_t out = bench.array(std::vector<uint32_t>(64));
  bench.array(in);
  bench.run(64);
  auto got = bench.read<uint32_t>(out, 64);
  for (uint32_t i = 0; i < 64; ++i)
    EXPECT_EQ(got[i], (i ^ 33) * 4 + 3);
  struct {
    const char *wait, *barrier;
    Fault::Kind kind;
  } wrongs[] = {
      {"", "bar.sync 0;\n", Fault::NotWritten},
      {"cp.async.wait_group 2;\n", "bar.sync 0;\n", Fault::NotWritten},
      {"bar.sync 0;\n", "cp.async.wait_all;\n", Fault::NotWritten}};
  for (auto &each : wrongs) {
    Bench wrong(copying(each.wait, each.barrier));
    wrong.array(std::vector<uint32_t>(64));
    wrong.array(in);
    std::string said;
    try {
      wrong.run(64);
    } catch (const Fault &fault) {
      EXPECT_TRUE(fault.kind == each.kind || fault.kind == Fault::Race);
      said = fault.what();
    }
    EXPECT_NE(said, "") << each.wait << each.barrier;
  }
}

TEST(PtxMatrix, ACopyFillsWithZeros) {
  Bench bench(kernelText(
      2,
      "cp.async.ca.shared.global [s], [%rd1], 8, 3;\ncp.async.wait_all;\n"
      "ld.shared.v2.u32 {%r10, %r11}, [s];\n"
      "st.global.v2.u32 [%rd0], {%r10, %r11};",
      ".shared .align 16 .b8 s[16];"));
  uint64_t out = bench.array(std::vector<uint32_t>(2));
  bench.array(std::vector<uint32_t>{0x44332211, 0x88776655});
  bench.run(1);
  EXPECT_EQ(bench.read<uint32_t>(out, 2), (std::vector<uint32_t>{0x332211, 0}));
}

} // namespace
