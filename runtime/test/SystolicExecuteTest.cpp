// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the arrays compute, against plain loops that round in the same order.

#include "Simulated.h"

#include <cmath>

namespace ashlar::systolic {
namespace {

constexpr uint32_t load = 1u << ASHLAR_SYSTOLIC_LOAD;
constexpr uint32_t store = 1u << ASHLAR_SYSTOLIC_STORE;
constexpr uint32_t execute = 1u << ASHLAR_SYSTOLIC_EXECUTE;

uint64_t at(uint32_t binding, uint64_t offset = 0) {
  return ashlar_systolic_address(binding, offset);
}

uint32_t tiles(uint32_t size, uint32_t dim) { return (size + dim - 1) / dim; }
uint32_t extent(uint32_t size, uint32_t dim, uint32_t tile) {
  return std::min(dim, size - tile * dim);
}

struct Product {
  uint32_t m, n, k;
};

/// C = A B, weight-stationary, one block of columns after the other; A, B and C
/// in rows as they lie in memory. The accumulator holds one block.
Kernel weightStationary(const Machine &machine, Product p,
                        uint32_t elementBytes, uint32_t resultBytes,
                        float scale, uint32_t activation) {
  const uint32_t dim = machine.dim;
  StreamBuilder b("product", 3);
  b.configExecute(ASHLAR_SYSTOLIC_WEIGHT_STATIONARY);
  b.configLoad(0, p.k * elementBytes, p.m);
  b.configLoad(1, p.n * elementBytes, dim);
  b.configStore(p.n * resultBytes, activation, scale);
  uint32_t kTiles = tiles(p.k, dim), rowsOfA = kTiles * p.m;
  // All of A: block k of its columns behind block k - 1.
  for (uint32_t row = 0; row < p.m; row += machine.command_rows)
    for (uint32_t k = 0; k < kTiles; ++k)
      b.load(at(0, (uint64_t(row) * p.k + k * dim) * elementBytes),
             {k * p.m + row, std::min(machine.command_rows, p.m - row),
              extent(p.k, dim, k)},
             0);
  for (uint32_t n = 0; n < tiles(p.n, dim); ++n) {
    uint32_t columns = extent(p.n, dim, n);
    b.sync(execute, load);
    for (uint32_t k = 0; k < kTiles; ++k)
      b.load(at(1, (uint64_t(k) * dim * p.n + n * dim) * elementBytes),
             {rowsOfA + k * dim, extent(p.k, dim, k), columns}, 1);
    b.sync(load | store, execute);
    for (uint32_t k = 0; k < kTiles; ++k)
      for (uint32_t row = 0; row < p.m; row += machine.command_rows) {
        uint32_t rows = std::min(machine.command_rows, p.m - row);
        uint32_t depth = extent(p.k, dim, k);
        uint32_t c = ASHLAR_SYSTOLIC_ACCUMULATOR | row |
                     (k ? ASHLAR_SYSTOLIC_ACCUMULATE : 0);
        b.preload(row ? Matrix::none(dim, dim)
                      : Matrix{rowsOfA + k * dim, depth, columns},
                  {c, rows, columns});
        b.compute({k * p.m + row, rows, depth}, Matrix::none(dim, dim),
                  row == 0);
      }
    b.sync(execute, store);
    uint32_t wide = resultBytes == 4 ? ASHLAR_SYSTOLIC_FULL_WIDTH : 0;
    for (uint32_t row = 0; row < p.m; row += machine.command_rows)
      b.store(at(2, (uint64_t(row) * p.n + n * dim) * resultBytes),
              {ASHLAR_SYSTOLIC_ACCUMULATOR | wide | row,
               std::min(machine.command_rows, p.m - row), columns});
  }
  return b.kernel;
}

// bf16: each column of a block adds its products in order, then joins the sum.
TEST(SystolicExecute, WeightStationaryBF16RoundsAsDocumented) {
  Random random(1);
  for (uint32_t dim : {4, 16, 24, 128})
    for (int round = 0; round < 6; ++round) {
      Machine machine = small(dim, ASHLAR_SYSTOLIC_BF16);
      Product p = {random.between(1, 200), random.between(1, 2 * dim + 3),
                   random.between(1, 3 * dim)};
      auto a = random.halves(p.m * p.k), b = random.halves(p.k * p.n);
      std::vector<float> c(p.m * p.n, -1);
      Simulated s(machine, weightStationary(machine, p, 2, 4, 1, 0));
      s.bind(a, false);
      s.bind(b, false);
      s.bind(c, true);
      ASSERT_TRUE(s.run()) << s.error;
      for (uint32_t i = 0; i < p.m; ++i)
        for (uint32_t j = 0; j < p.n; ++j) {
          float total = 0;
          for (uint32_t block = 0; block < p.k; block += dim) {
            float sum = 0;
            for (uint32_t k = block; k < std::min(p.k, block + dim); ++k) {
              volatile float product =
                  widenHalf(a[i * p.k + k]) * widenHalf(b[k * p.n + j]);
              sum += product;
            }
            total = block ? total + sum : sum;
          }
          ASSERT_EQ(c[i * p.n + j], total) << dim << ": " << i << ", " << j;
        }
    }
}

TEST(SystolicExecute, GemminiNarrowsWithAScaleAndReLU) {
  Random random(2);
  for (int round = 0; round < 12; ++round) {
    Machine machine = gemmini();
    Product p = {random.between(1, 50), random.between(1, 40),
                 random.between(1, 60)};
    auto a = random.bytes(p.m * p.k), b = random.bytes(p.k * p.n);
    std::vector<int8_t> c(p.m * p.n);
    float scale = 0.001f + 0.01f * float(round);
    bool relu = round % 2;
    Simulated s(machine, weightStationary(machine, p, 1, 1, scale, relu));
    s.bind(a, false);
    s.bind(b, false);
    s.bind(c, true);
    ASSERT_TRUE(s.run()) << s.error;
    for (uint32_t i = 0; i < p.m; ++i)
      for (uint32_t j = 0; j < p.n; ++j) {
        int32_t sum = 0;
        for (uint32_t k = 0; k < p.k; ++k)
          sum += a[i * p.k + k] * b[k * p.n + j];
        volatile float scaled = float(sum) * scale;
        double rounded = std::nearbyint(double(scaled));
        double expected = std::min(127.0, std::max(-128.0, rounded));
        if (relu)
          expected = std::max(0.0, expected);
        ASSERT_EQ(c[i * p.n + j], expected) << i << ", " << j << ": " << sum;
      }
  }
}

// The sum is activated before it is scaled: a negative scale tells.
TEST(SystolicExecute, ReLUComesBeforeTheScale) {
  for (float scale : {0.5f, -0.5f}) {
    StreamBuilder b("relu", 2);
    const uint32_t c = ASHLAR_SYSTOLIC_ACCUMULATOR;
    b.configLoad(0, 16, 16);
    b.configStore(4, ASHLAR_SYSTOLIC_RELU, scale);
    b.load(at(0), {c, 1, 4});
    b.store(at(1), {c, 1, 4});
    std::vector<int32_t> in = {-100, -1, 7, 1000};
    std::vector<int8_t> out(4);
    Simulated s(gemmini(), b.kernel);
    s.bind(in, false);
    s.bind(out, true);
    ASSERT_TRUE(s.run()) << s.error;
    EXPECT_EQ(out, scale > 0 ? (std::vector<int8_t>{0, 0, 4, 127})
                             : (std::vector<int8_t>{0, 0, -4, -128}));
  }
}

TEST(SystolicExecute, SumsOfIntegersWrap) {
  Machine machine = small(4, ASHLAR_SYSTOLIC_S8);
  StreamBuilder b("wrap", 2);
  b.configLoad(0, 4, 4);
  b.configStore(16);
  uint32_t c = ASHLAR_SYSTOLIC_ACCUMULATOR;
  b.load(at(0), {c, 1, 1});
  b.load(at(0, 4), {c | ASHLAR_SYSTOLIC_ACCUMULATE, 1, 1});
  b.sync();
  b.store(at(1), {c | ASHLAR_SYSTOLIC_FULL_WIDTH, 1, 1});
  std::vector<int32_t> in = {2147483647, 2}, out = {0};
  Simulated s(machine, b.kernel);
  s.bind(in, false);
  s.bind(out, true);
  ASSERT_TRUE(s.run()) << s.error;
  EXPECT_EQ(out[0], -2147483647);
}

/// One product of single blocks with everything that an array can do to it.
struct Single {
  uint32_t dataflow;
  bool aTransposed, bTransposed, hasD, toScratchpad;
  uint32_t shift, activation;
};

template <typename Stored, typename Sum>
void checkSingle(const Machine &machine, Single how, Random &random,
                 std::vector<Stored> (*make)(Random &, size_t),
                 Sum (*widen)(Stored), Stored (*narrow)(Sum, Single)) {
  const uint32_t dim = machine.dim;
  uint32_t m = random.between(1, dim), n = random.between(1, dim),
           k = random.between(1, dim);
  auto a = make(random, m * k), b = make(random, k * n),
       d = make(random, m * n);
  StreamBuilder s("single", 4);
  auto lie = [&](uint32_t rows, uint32_t columns, bool transposed) {
    return transposed ? std::pair(columns, rows) : std::pair(rows, columns);
  };
  auto [aRows, aColumns] = lie(m, k, how.aTransposed);
  auto [bRows, bColumns] = lie(k, n, how.bTransposed);
  s.configExecute(how.dataflow, 1, 1, how.activation, how.aTransposed,
                  how.bTransposed, how.shift);
  s.configLoad(0, aColumns * sizeof(Stored), dim);
  s.configLoad(1, bColumns * sizeof(Stored), dim);
  s.configLoad(2, n * sizeof(Stored), dim);
  s.load(at(0), {0, aRows, aColumns}, 0);
  s.load(at(1), {dim, bRows, bColumns}, 1);
  if (how.hasD)
    s.load(at(2), {2 * dim, m, n}, 2);
  s.sync();
  Matrix aOnChip = {0, m, k}, bOnChip = {dim, k, n};
  Matrix dOnChip = how.hasD ? Matrix{2 * dim, m, n} : Matrix::none(m, n);
  Matrix c = {how.toScratchpad ? 3 * dim : ASHLAR_SYSTOLIC_ACCUMULATOR, m, n};
  bool isWS = how.dataflow == ASHLAR_SYSTOLIC_WEIGHT_STATIONARY;
  s.preload(isWS ? bOnChip : dOnChip, c);
  s.compute(aOnChip, isWS ? dOnChip : bOnChip, true);
  s.sync();
  s.configStore(n * uint32_t(how.toScratchpad ? sizeof(Stored) : 4));
  c.address |= how.toScratchpad ? 0 : ASHLAR_SYSTOLIC_FULL_WIDTH;
  s.store(at(3), c);
  std::vector<Sum> wide(m * n);
  std::vector<Stored> narrowed(m * n);
  Simulated run(machine, s.kernel);
  run.bind(a, false);
  run.bind(b, false);
  run.bind(d, false);
  if (how.toScratchpad)
    run.bind(narrowed, true);
  else
    run.bind(wide, true);
  ASSERT_TRUE(run.run()) << run.error;
  for (uint32_t i = 0; i < m; ++i)
    for (uint32_t j = 0; j < n; ++j) {
      Sum sum = how.hasD ? widen(d[i * n + j]) : Sum(0);
      for (uint32_t l = 0; l < k; ++l) {
        Sum left = widen(how.aTransposed ? a[l * m + i] : a[i * k + l]);
        Sum right = widen(how.bTransposed ? b[j * k + l] : b[l * n + j]);
        volatile Sum product = left * right;
        sum += product;
      }
      if (how.toScratchpad)
        ASSERT_EQ(narrowed[i * n + j], narrow(sum, how)) << i << ", " << j;
      else
        ASSERT_EQ(wide[i * n + j], sum) << i << ", " << j;
    }
}

std::vector<int8_t> makeBytes(Random &random, size_t count) {
  return random.bytes(count);
}
std::vector<uint16_t> makeHalves(Random &random, size_t count) {
  return random.halves(count);
}
int32_t widenByte(int8_t value) { return value; }
int8_t narrowByte(int32_t value, Single how) {
  double shifted = std::nearbyint(std::ldexp(double(value), -int(how.shift)));
  shifted = std::min(127.0, std::max(-128.0, shifted));
  return int8_t(how.activation && shifted < 0 ? 0 : shifted);
}
uint16_t narrowFloat(float value, Single how) {
  return narrowHalf(how.activation && value < 0 ? 0 : value);
}

TEST(SystolicExecute, BothDataflowsTransposesAndD) {
  Random random(3);
  for (int round = 0; round < 20; ++round)
    for (uint32_t dataflow : {0u, 1u})
      for (unsigned bits = 0; bits < 16; ++bits) {
        Single how = {dataflow,           bool(bits & 1), bool(bits & 2),
                      bool(bits & 4),     bool(bits & 8), 0,
                      uint32_t(round % 2)};
        // What Gemmini's transposer cannot do is refused, and tested below.
        if (dataflow == ASHLAR_SYSTOLIC_OUTPUT_STATIONARY
                ? how.bTransposed && !how.aTransposed
                : how.bTransposed && how.aTransposed)
          continue;
        checkSingle<uint16_t, float>(small(8, ASHLAR_SYSTOLIC_BF16), how,
                                     random, makeHalves, widenHalf,
                                     narrowFloat);
        if (dataflow == ASHLAR_SYSTOLIC_OUTPUT_STATIONARY)
          how.shift = random.below(9);
        checkSingle<int8_t, int32_t>(gemmini(), how, random, makeBytes,
                                     widenByte, narrowByte);
      }
}

// Output-stationary: blocks of K one after the other stay in the array.
TEST(SystolicExecute, OutputStationaryAccumulatesInTheArray) {
  Machine machine = gemmini();
  Random random(4);
  const uint32_t k = 37;
  auto a = random.bytes(16 * k), b = random.bytes(k * 16);
  std::vector<int32_t> c(256);
  StreamBuilder s("os", 3);
  s.configExecute(ASHLAR_SYSTOLIC_OUTPUT_STATIONARY);
  s.configLoad(0, k, 16);
  s.configLoad(1, 16, 16);
  s.configStore(64);
  s.load(at(0), {0, 16, k}, 0);
  for (uint32_t block = 0; block < 3; ++block)
    s.load(at(1, block * 256), {64 + block * 16, extent(k, 16, block), 16}, 1);
  for (uint32_t block = 0; block < 3; ++block) {
    s.preload(Matrix::none(16, 16),
              block == 2 ? Matrix{ASHLAR_SYSTOLIC_ACCUMULATOR, 16, 16}
                         : Matrix::none(16, 16));
    s.compute({block * 16, 16, extent(k, 16, block)},
              {64 + block * 16, extent(k, 16, block), 16}, block == 0);
  }
  s.store(at(2),
          {ASHLAR_SYSTOLIC_ACCUMULATOR | ASHLAR_SYSTOLIC_FULL_WIDTH, 16, 16});
  Simulated run(machine, s.kernel);
  run.bind(a, false);
  run.bind(b, false);
  run.bind(c, true);
  ASSERT_TRUE(run.run()) << run.error;
  for (uint32_t i = 0; i < 16; ++i)
    for (uint32_t j = 0; j < 16; ++j) {
      int32_t sum = 0;
      for (uint32_t l = 0; l < k; ++l)
        sum += a[i * k + l] * b[l * 16 + j];
      ASSERT_EQ(c[i * 16 + j], sum);
    }
}

/// `depth` terms, all products 127 * 127, in one sum that stays in the array.
Kernel constantSum(uint32_t depth, uint32_t c) {
  StreamBuilder s("sum", 2);
  s.configExecute(ASHLAR_SYSTOLIC_OUTPUT_STATIONARY);
  s.configLoad(0, 0, 16);
  s.configStore(4);
  s.load(at(0), {0, 16, 16});
  for (uint32_t k = 0; k < depth; k += 16) {
    uint32_t terms = std::min(depth - k, 16u);
    s.preload(Matrix::none(),
              k + 16 < depth ? Matrix::none() : Matrix{c, 1, 1});
    s.compute({0, 1, terms}, {0, terms, 1}, k == 0);
  }
  s.sync();
  s.store(at(1), {c | ASHLAR_SYSTOLIC_FULL_WIDTH, 1, 1});
  return s.kernel;
}

// 32 terms of 16129 have room in 20 bits, 33 have not.
TEST(SystolicExecute, SumsThatStayMustFitInTheArray) {
  std::vector<int8_t> in(16, 127);
  auto run = [&](Machine machine, uint32_t depth, int32_t &result) {
    std::vector<int32_t> out = {0};
    Simulated s(machine, constantSum(depth, ASHLAR_SYSTOLIC_ACCUMULATOR));
    s.bind(in, false);
    s.bind(out, true);
    s.run();
    result = out[0];
    return s.error;
  };
  int32_t sum = 0;
  EXPECT_EQ(run(gemmini(), 32, sum), "");
  EXPECT_EQ(sum, 32 * 16129);
  EXPECT_EQ(run(gemmini(), 33, sum),
            "instruction 9 (compute_accumulated): row 0, column 0 of C: the "
            "sum 532257 has no room in the array's 20 bits");
  Machine wide = gemmini();
  wide.array_sum_bits = 0;
  EXPECT_EQ(run(wide, 300, sum), "");
  EXPECT_EQ(sum, 300 * 16129);
}

// A 3x3 convolution of stride 1 or 2 reads each tap in place: the image lies in
// the scratchpad once, with a rim of zeros.
TEST(SystolicExecute, AddressStreamsReadTapsInPlace) {
  Random random(5);
  for (uint32_t stride : {1u, 2u}) {
    Machine machine = small(16, ASHLAR_SYSTOLIC_BF16);
    const uint32_t height = 11, width = 13, channels = 16, filters = 12;
    const uint32_t pitch = width + 2, rows = (height + 2) * pitch;
    const uint32_t oh = (height - 1) / stride + 1,
                   ow = (width - 1) / stride + 1;
    auto x = random.halves(height * width * channels);
    auto w = random.halves(9 * channels * filters);
    std::vector<float> y(oh * ow * filters);
    StreamBuilder b("convolution", 3);
    b.configExecute(ASHLAR_SYSTOLIC_WEIGHT_STATIONARY);
    b.configLoad(0, 0, 16);
    b.configLoad(1, filters * 2, 16);
    b.load(0, {0, rows, channels});
    b.configStream(ASHLAR_SYSTOLIC_STREAM_MVIN,
                   {{width, 1, channels * 2},
                    {height, int32_t(pitch), int64_t(width) * channels * 2}});
    b.load(at(0), {pitch + 1, height * width, channels});
    b.load(at(1), {rows, 9 * channels, filters}, 1);
    b.sync();
    b.configStream(ASHLAR_SYSTOLIC_STREAM_A,
                   {{ow, int32_t(stride)}, {oh, int32_t(stride * pitch)}});
    for (uint32_t tap = 0; tap < 9; ++tap) {
      uint32_t c =
          ASHLAR_SYSTOLIC_ACCUMULATOR | (tap ? ASHLAR_SYSTOLIC_ACCUMULATE : 0);
      b.preload({rows + tap * channels, channels, filters},
                {c, oh * ow, filters});
      b.compute({tap / 3 * pitch + tap % 3, oh * ow, channels}, Matrix::none(),
                true);
    }
    b.sync();
    b.configStore(filters * 4);
    b.store(at(2), {ASHLAR_SYSTOLIC_ACCUMULATOR | ASHLAR_SYSTOLIC_FULL_WIDTH,
                    oh * ow, filters});
    Simulated s(machine, b.kernel);
    s.bind(x, false);
    s.bind(w, false);
    s.bind(y, true);
    ASSERT_TRUE(s.run()) << s.error;
    for (uint32_t i = 0; i < oh; ++i)
      for (uint32_t j = 0; j < ow; ++j)
        for (uint32_t f = 0; f < filters; ++f) {
          float total = 0;
          for (uint32_t tap = 0; tap < 9; ++tap) {
            int64_t row = int64_t(i) * stride + tap / 3 - 1;
            int64_t column = int64_t(j) * stride + tap % 3 - 1;
            bool isInside =
                row >= 0 && row < height && column >= 0 && column < width;
            float sum = 0;
            for (uint32_t c = 0; c < channels; ++c) {
              float value =
                  isInside ? widenHalf(x[(row * width + column) * channels + c])
                           : 0;
              volatile float product =
                  value * widenHalf(w[(tap * channels + c) * filters + f]);
              sum += product;
            }
            total = tap ? total + sum : sum;
          }
          ASSERT_EQ(y[(i * ow + j) * filters + f], total)
              << i << ", " << j << ", " << f;
        }
  }
}

// Several arrays at work on one memory.
TEST(SystolicExecute, ArraysAreSeparate) {
  Machine machine = small(4, ASHLAR_SYSTOLIC_S8);
  machine.arrays = 4;
  Random random(6);
  auto a = random.bytes(16), b = random.bytes(4 * 16);
  std::vector<int32_t> c(4 * 16);
  StreamBuilder s("arrays", 3);
  s.configExecute(ASHLAR_SYSTOLIC_WEIGHT_STATIONARY);
  s.configLoad(0, 4, 4);
  s.configStore(16);
  s.load(at(0), {0, 4, 4});
  s.load(at(1), {4, 16, 4});
  s.sync();
  for (uint8_t array = 0; array < 4; ++array)
    s.preload({4 + array * 4u, 4, 4},
              {ASHLAR_SYSTOLIC_ACCUMULATOR + array * 4u, 4, 4}, array);
  for (uint8_t array = 0; array < 4; ++array)
    s.compute({0, 4, 4}, Matrix::none(), true, array);
  s.sync();
  s.store(at(2),
          {ASHLAR_SYSTOLIC_ACCUMULATOR | ASHLAR_SYSTOLIC_FULL_WIDTH, 16, 4});
  Simulated run(machine, s.kernel);
  run.bind(a, false);
  run.bind(b, false);
  run.bind(c, true);
  ASSERT_TRUE(run.run()) << run.error;
  for (uint32_t i = 0; i < 64; ++i) {
    int32_t sum = 0;
    for (uint32_t k = 0; k < 4; ++k)
      sum += a[i / 4 % 4 * 4 + k] * b[i / 16 * 16 + k * 4 + i % 4];
    ASSERT_EQ(c[i], sum) << i;
  }
}

/// What a stream of a few instructions is refused for.
std::string refusal(const Machine &machine,
                    const std::function<void(StreamBuilder &)> &write) {
  StreamBuilder b("bad", 1);
  b.configExecute(ASHLAR_SYSTOLIC_WEIGHT_STATIONARY);
  b.configLoad(0, machine.dim, machine.dim);
  b.configStore(machine.dim);
  write(b);
  std::vector<uint8_t> memory(1 << 16);
  Simulated s(machine, b.kernel);
  s.bind(memory, true);
  EXPECT_FALSE(s.run());
  return s.error;
}

TEST(SystolicExecute, RefusesWhatAnArrayCannotDo) {
  Machine g = gemmini();
  Matrix c = {ASHLAR_SYSTOLIC_ACCUMULATOR, 16, 16};
  auto full = [&](StreamBuilder &b) {
    b.load(0, {0, 16, 16});
    b.sync();
  };
  EXPECT_EQ(refusal(g, [&](auto &b) { b.compute({0, 1, 1}, {}, true); }),
            "instruction 3 (compute_preloaded): no preload of this array came "
            "before it");
  EXPECT_EQ(refusal(g, [&](auto &b) { b.preload({0, 17, 16}, c); }),
            "instruction 3 (preload): rows: expected 1 to 16, found 17");
  EXPECT_EQ(refusal(g, [&](auto &b) { b.preload({16380, 16, 16}, c); }),
            "instruction 3 (preload): B: rows 16380 to 16395 are not all among "
            "the 16384 of the scratchpad");
  EXPECT_EQ(refusal(g, [&](auto &b) { b.preload({0, 2, 2}, c); }),
            "instruction 3 (preload): row 0 of the scratchpad was never "
            "written in column 0");
  EXPECT_EQ(refusal(g,
                    [&](auto &b) {
                      full(b);
                      b.preload({0, 16, 16}, c);
                      b.compute({1, 16, 16}, Matrix::none(), true);
                    }),
            "instruction 6 (compute_preloaded): row 16 of the scratchpad was "
            "never written in column 0");
  EXPECT_EQ(refusal(g,
                    [&](auto &b) {
                      full(b);
                      b.preload({0, 16, 16}, c);
                      b.compute(Matrix::none(), Matrix::none(), true);
                    }),
            "instruction 6 (compute_preloaded): A: expected a matrix, found "
            "none: its data would be undefined");
  EXPECT_EQ(refusal(g,
                    [&](auto &b) {
                      full(b);
                      b.preload({0, 16, 16}, c);
                      b.compute({0, 16, 16}, Matrix::none(), false);
                    }),
            "instruction 6 (compute_accumulated): the array holds nothing yet");
  EXPECT_EQ(refusal(g,
                    [&](auto &b) {
                      full(b);
                      b.preload({0, 16, 16}, {c.address | 1020, 16, 16});
                      b.compute({0, 16, 16}, Matrix::none(), true);
                    }),
            "instruction 6 (compute_preloaded): C: rows 1020 to 1035 are not "
            "all among the 1024 of the accumulator");
  EXPECT_EQ(refusal(g,
                    [&](auto &b) {
                      full(b);
                      b.preload(
                          {0, 16, 16},
                          {c.address | ASHLAR_SYSTOLIC_ACCUMULATE, 16, 16});
                      b.compute({0, 16, 16}, Matrix::none(), true);
                    }),
            "instruction 6 (compute_preloaded): row 0 of the accumulator was "
            "never written in column 0");
}

TEST(SystolicExecute, RefusesWhatAMachineDoesNotHave) {
  Machine g = gemmini(), t = small(16, ASHLAR_SYSTOLIC_S8);
  Matrix c = {ASHLAR_SYSTOLIC_ACCUMULATOR, 16, 16};
  EXPECT_EQ(refusal(g,
                    [&](auto &b) {
                      b.configExecute(ASHLAR_SYSTOLIC_WEIGHT_STATIONARY, 1, 1,
                                      0, true, true);
                    }),
            "instruction 3 (config): config_ex: these transposes are not "
            "possible with this dataflow");
  EXPECT_EQ(refusal(g,
                    [&](auto &b) {
                      b.configStream(ASHLAR_SYSTOLIC_STREAM_A, {{2, 1}});
                    }),
            "instruction 3 (config_stream): machine gemmini does not have this "
            "instruction");
  EXPECT_EQ(refusal(t,
                    [&](auto &b) {
                      b.load(0, {0, 16, 16});
                      b.sync();
                      b.configStream(ASHLAR_SYSTOLIC_STREAM_A,
                                     {{2, 1}, {3, 2}});
                      b.preload({0, 16, 16}, c);
                      b.compute({0, 7, 16}, Matrix::none(), true);
                    }),
            "instruction 8 (compute_preloaded): A: its stream has 6 rows, the "
            "command asks for 7");
  EXPECT_EQ(refusal(gemminiWS(),
                    [&](auto &b) {
                      b.configExecute(ASHLAR_SYSTOLIC_OUTPUT_STATIONARY);
                    }),
            "instruction 3 (config): config_ex: machine gemmini-ws is "
            "weight-stationary only");
  EXPECT_EQ(refusal(gemminiWS(),
                    [&](auto &b) {
                      b.store(at(0),
                              {c.address | ASHLAR_SYSTOLIC_FULL_WIDTH, 1, 1});
                    }),
            "instruction 3 (mvout): machine gemmini-ws stores no elements of "
            "32 bits");
  EXPECT_EQ(refusal(t, [&](auto &b) { b.add(63, 0, 0); }),
            "instruction 3: there is no function 63");
  EXPECT_EQ(
      refusal(t, [&](auto &b) { b.add(ASHLAR_SYSTOLIC_PRELOAD, 0, 0, 1); }),
      "instruction 3 (preload): unit: expected less than 1, found 1");
}

// A machine that is not interlocked needs a sync between engines.
TEST(SystolicExecute, RefusesHazardsBetweenQueues) {
  Machine t = small(16, ASHLAR_SYSTOLIC_S8);
  Matrix c = {ASHLAR_SYSTOLIC_ACCUMULATOR, 16, 16};
  Matrix whole = {0, 16, 16};
  auto product = [&](StreamBuilder &b) {
    b.preload(whole, c);
    b.compute(whole, Matrix::none(), true);
  };
  EXPECT_EQ(refusal(t,
                    [&](auto &b) {
                      b.load(0, whole);
                      product(b);
                    }),
            "instruction 4 (preload): row 0 of the scratchpad may still be "
            "written by the load queue: a sync is missing");
  EXPECT_EQ(refusal(t,
                    [&](auto &b) {
                      b.load(0, whole);
                      b.sync(load, execute);
                      product(b);
                      b.load(0, whole);
                    }),
            "instruction 7 (mvin): row 0 of the scratchpad may still be read "
            "by the execute 0 queue: a sync is missing");
  EXPECT_EQ(refusal(t,
                    [&](auto &b) {
                      b.load(0, whole);
                      b.sync(load, execute);
                      product(b);
                      b.store(at(0), c);
                    }),
            "instruction 7 (mvout): row 0 of the accumulator may still be "
            "written by the execute 0 queue: a sync is missing");
  // A sync in the other direction does not help.
  EXPECT_EQ(refusal(t,
                    [&](auto &b) {
                      b.load(0, whole);
                      b.sync(execute, load);
                      product(b);
                    }),
            "instruction 5 (preload): row 0 of the scratchpad may still be "
            "written by the load queue: a sync is missing");
  // What the execute queue knew, the store queue knows through it.
  StreamBuilder b("transitive", 1);
  b.configExecute(ASHLAR_SYSTOLIC_WEIGHT_STATIONARY);
  b.configLoad(0, 16, 16);
  b.configStore(16);
  b.load(0, whole);
  b.sync(load, execute);
  product(b);
  b.sync(execute, store);
  b.store(at(0), whole);
  std::vector<uint8_t> memory(256);
  Simulated s(t, b.kernel);
  s.bind(memory, true);
  EXPECT_TRUE(s.run()) << s.error;
  // What it is told after its last command is for those to come.
  EXPECT_EQ(refusal(t,
                    [&](auto &b) {
                      b.load(0, whole);
                      b.sync(load, execute);
                      b.sync(execute, store);
                      b.store(at(0), whole);
                    }),
            "instruction 6 (mvout): row 0 of the scratchpad may still be "
            "written by the load queue: a sync is missing");
}

} // namespace
} // namespace ashlar::systolic
