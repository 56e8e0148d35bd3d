// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cycles, against closed forms.

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

/// From the first start to the last end of region 0.
uint64_t regionCycles(Simulated &s) {
  s.count();
  const RegionTime &time = s.timing.regions()[0];
  return time.last - time.first;
}

/// `folds` products of `rows` rows of A, all operands on chip.
Kernel folds(const Machine &machine, uint32_t count, uint32_t rows,
             uint32_t dataflow, uint32_t depth) {
  StreamBuilder b("folds", 0);
  const uint32_t dim = machine.dim;
  b.configExecute(dataflow);
  b.configLoad(0, 0, dim);
  b.load(0, {0, std::max(rows, dim), dim});
  b.load(0, {2048, dim, dim});
  b.sync();
  b.region("folds", ASHLAR_SYSTOLIC_CONTRACTION, 0);
  for (uint32_t i = 0; i < count; ++i) {
    Matrix c = {ASHLAR_SYSTOLIC_ACCUMULATOR, rows, dim};
    if (dataflow == ASHLAR_SYSTOLIC_WEIGHT_STATIONARY) {
      b.preload({2048, dim, dim}, c);
      b.compute({0, rows, dim}, Matrix::none(), true);
      continue;
    }
    for (uint32_t k = 0; k < depth; k += dim) {
      uint32_t steps = std::min(dim, depth - k);
      b.preload(Matrix::none(), k + dim < depth ? Matrix::none() : c);
      b.compute({0, rows, steps}, {2048, steps, dim}, k == 0);
    }
  }
  return b.kernel;
}

// SCALE-Sim's form of one fold of an R x C array, and of several one after the
// other: 2R + C + T - 2 each.
TEST(SystolicTiming, WithoutShadowFoldsCostTheClosedForm) {
  Random random(1);
  for (int round = 0; round < 40; ++round) {
    Machine machine = small(1 << random.between(2, 7), ASHLAR_SYSTOLIC_BF16);
    machine.flags &= ~uint32_t(ASHLAR_SYSTOLIC_SHADOW);
    uint32_t dim = machine.dim, count = random.between(1, 9);
    uint32_t rows = random.between(1, 500);
    Simulated ws(machine, folds(machine, count, rows,
                                ASHLAR_SYSTOLIC_WEIGHT_STATIONARY, 0));
    EXPECT_EQ(regionCycles(ws), count * (2 * dim + dim + rows - 2));
    EXPECT_EQ(ws.timing.regions()[0].arrayBusy, count * rows);
    EXPECT_EQ(ws.timing.regions()[0].multiplyAdds,
              uint64_t(count) * rows * dim * dim);

    uint32_t depth = random.between(1, 700), height = random.between(1, dim);
    Simulated os(machine, folds(machine, count, height,
                                ASHLAR_SYSTOLIC_OUTPUT_STATIONARY, depth));
    EXPECT_EQ(regionCycles(os), count * (2 * dim + dim + depth - 2));
  }
}

// With it, folds follow each other at the rate of the rows or of the weights.
TEST(SystolicTiming, WithShadowFoldsFollowWithoutGaps) {
  for (uint32_t rows : {1u, 50u, 128u, 129u, 400u}) {
    Machine machine = tpu128();
    const uint32_t count = 12, dim = 128;
    Simulated s(machine, folds(machine, count, rows,
                               ASHLAR_SYSTOLIC_WEIGHT_STATIONARY, 0));
    EXPECT_EQ(regionCycles(s),
              dim + (count - 1) * std::max(rows, dim) + rows + 2 * dim - 2);
  }
  // Results leave while the next one is computed.
  Machine machine = small(32, ASHLAR_SYSTOLIC_BF16);
  for (uint32_t depth : {8u, 32u, 100u}) {
    Simulated s(machine, folds(machine, 7, 32,
                               ASHLAR_SYSTOLIC_OUTPUT_STATIONARY, depth));
    EXPECT_EQ(regionCycles(s), 6 * std::max(depth, 32u) + depth + 3 * 32 - 2);
  }
}

TEST(SystolicTiming, MemoryHasALatencyAndARate) {
  Machine machine = small(16, ASHLAR_SYSTOLIC_BF16);
  machine.memory_bytes_per_1024_cycles = 8 * 1024;
  machine.memory_latency = 500;
  auto cycles = [&](uint32_t rows, uint32_t columns, uint32_t stride,
                    uint64_t offset, uint32_t count) {
    StreamBuilder b("loads", 1);
    b.configLoad(0, stride, 16);
    b.region("loads", 0, 0);
    for (uint32_t i = 0; i < count; ++i)
      b.load(at(0, offset), {0, rows, columns});
    Simulated s(machine, b.kernel);
    return regionCycles(s);
  };
  // Rows that continue each other: 100 * 32 bytes, in bursts of 64.
  EXPECT_EQ(cycles(100, 16, 32, 0, 1), 3200 / 8 + 500);
  // The latency is paid once for all that are under way.
  EXPECT_EQ(cycles(100, 16, 32, 0, 5), 5 * 3200 / 8 + 500);
  // 16 bytes of each 128 are a whole burst; across its border, two.
  EXPECT_EQ(cycles(100, 8, 128, 0, 1), 100 * 64 / 8 + 500);
  EXPECT_EQ(cycles(100, 8, 128, 56, 1), 100 * 128 / 8 + 500);
}

// Of a machine whose requests are limited: none merged with another row's, so
// many answered in a latency, loads and stores each.
TEST(SystolicTiming, RequestsInFlightLimitTheRate) {
  auto cycles = [](const Machine &machine, uint32_t columns, uint32_t stride,
                   uint64_t offset, uint32_t count, bool stores = false) {
    StreamBuilder b("requests", 1);
    b.configLoad(0, stride, 16);
    b.configStore(stride);
    if (stores)
      b.load(0, {64, 16, 16});
    b.sync();
    b.region("requests", 0, 0);
    for (uint32_t i = 0; i < count; ++i) {
      b.load(at(0, offset), {0, 16, columns});
      if (stores)
        b.store(at(0, 1 << 20), {64, 16, 16});
    }
    Simulated s(machine, b.kernel);
    return regionCycles(s);
  };
  Machine machine = gemmini(), free = gemmini();
  free.requests_in_flight = free.request_bytes = 0;
  // 256 bytes that continue each other are 16 requests of 16 bytes; 16 are on
  // their way at once, and the next ones wait for the answers.
  EXPECT_EQ(cycles(free, 16, 16, 0, 1), 256 / 16 + 100);
  EXPECT_EQ(cycles(machine, 16, 16, 0, 1), 16 + 100);
  EXPECT_EQ(cycles(free, 16, 16, 0, 4), 4 * 16 + 100);
  EXPECT_EQ(cycles(machine, 16, 16, 0, 4), 3 * 101 + 16 + 100);
  // 64 bytes of a row are one request, four cycles of the port.
  EXPECT_EQ(cycles(machine, 64, 64, 0, 1), 16 * 4 + 100);
  EXPECT_EQ(cycles(machine, 64, 64, 0, 4), 3 * 104 + 16 * 4 + 100);
  // Across a border of 64 bytes it is two, aligned.
  EXPECT_EQ(cycles(machine, 16, 64, 56, 1), 101 + 16 + 100);
  // Half of 32 bytes is all that a request of them brings.
  EXPECT_EQ(cycles(machine, 16, 64, 8, 1), 16 * 2 + 100);
  // Stores have requests of their own.
  EXPECT_NEAR(double(cycles(machine, 16, 16, 0, 4, true)), 3 * 101 + 116, 20);
}

// However few its terms are, a product whose sums stay feeds as many rows as
// the machine says.
TEST(SystolicTiming, SumsThatStayTakeTheLeastDepth) {
  Machine machine = gemmini();
  auto cycles = [&](uint32_t depth) {
    Kernel kernel =
        folds(machine, 1, 16, ASHLAR_SYSTOLIC_OUTPUT_STATIONARY, depth);
    Simulated s(machine, kernel);
    return regionCycles(s);
  };
  EXPECT_EQ(cycles(3), cycles(16));
  EXPECT_EQ(cycles(17), cycles(32));
  machine.least_depth = 0;
  EXPECT_EQ(cycles(3) + 13, cycles(16));
}

// Loads and stores share the port, and do not wait for each other's latency.
TEST(SystolicTiming, LoadsAndStoresShareThePort) {
  Machine machine = small(16, ASHLAR_SYSTOLIC_BF16);
  machine.memory_bytes_per_1024_cycles = 8 * 1024;
  machine.memory_latency = 500;
  StreamBuilder b("both", 2);
  b.configLoad(0, 32, 16);
  b.configStore(32);
  b.load(0, {0, 100, 16});
  b.sync();
  b.region("both", 0, 0);
  for (int i = 0; i < 4; ++i) {
    b.load(at(0), {200, 100, 16});
    b.store(at(1), {0, 100, 16});
  }
  Simulated s(machine, b.kernel);
  EXPECT_NEAR(double(regionCycles(s)), 8 * 400 + 500, 2);
  EXPECT_EQ(s.timing.regions()[0].loadBytes, 4 * 3200u);
  EXPECT_EQ(s.timing.regions()[0].storeBytes, 4 * 3200u);
}

// A sync orders what was issued, no more: loads for the next product go on.
TEST(SystolicTiming, QueuesRunFreelyBetweenSyncs) {
  Machine machine = tpu128();
  auto cycles = [&](bool isDouble) {
    StreamBuilder b("buffers", 1);
    b.configExecute(ASHLAR_SYSTOLIC_WEIGHT_STATIONARY);
    b.configLoad(0, 256, 128);
    b.region("all", 0, 0);
    b.load(at(0), {0, 1024, 128});
    for (uint32_t i = 0; i < 8; ++i) {
      uint32_t slot = isDouble ? i % 2 * 1024 : 0;
      uint32_t next = isDouble ? (i + 1) % 2 * 1024 : 0;
      b.sync(load, execute);
      if (isDouble) {
        b.sync(execute, load);
        b.load(at(0), {next, 1024, 128});
      }
      b.preload({slot, 128, 128}, {ASHLAR_SYSTOLIC_ACCUMULATOR, 1024, 128});
      b.compute({slot, 1024, 128}, Matrix::none(), true);
      if (!isDouble) {
        b.sync(execute, load);
        b.load(at(0), {next, 1024, 128});
      }
    }
    Simulated s(machine, b.kernel);
    return regionCycles(s);
  };
  // 1024 rows take 1024 cycles to compute and 480 + 600 to load.
  EXPECT_GT(cycles(false), 8u * (1024 + 480 + 600));
  EXPECT_LT(cycles(true), 8u * (1024 + 128 + 256) + 1100);
}

// Gemmini's hardware finds the same order by itself.
TEST(SystolicTiming, InterlocksWaitForRows) {
  Machine machine = gemmini();
  auto build = [&](bool sameRows) {
    StreamBuilder b("interlock", 1);
    b.configExecute(ASHLAR_SYSTOLIC_WEIGHT_STATIONARY);
    b.configLoad(0, 16, 16);
    b.configStore(16);
    b.load(0, {0, 16, 16});
    b.load(0, {4096, 16, 16});
    b.sync();
    b.region("all", 0, 0);
    b.load(at(0), {sameRows ? 0u : 8192u, 16, 16});
    b.preload({0, 16, 16}, {ASHLAR_SYSTOLIC_ACCUMULATOR, 16, 16});
    b.compute({4096, 16, 16}, Matrix::none(), true);
    b.store(at(0, 4096), {ASHLAR_SYSTOLIC_ACCUMULATOR, 16, 16});
    Simulated s(machine, b.kernel);
    return regionCycles(s);
  };
  // 16 cycles of bytes and 100 of latency; the product takes 3 * 16 + 16 - 2,
  // and the result leaves as the load came, a little later.
  EXPECT_NEAR(double(build(true)), 116 + 62 + 116, 1);
  EXPECT_NEAR(double(build(false)), 62 + 116, 2);
}

TEST(SystolicTiming, BanksServeOneEngineAtATime) {
  Machine machine = gemmini();
  // Loads that wait for answers are never at work for long.
  machine.requests_in_flight = machine.request_bytes = 0;
  auto build = [&](uint32_t a, uint32_t target) {
    StreamBuilder b("banks", 1);
    b.configExecute(ASHLAR_SYSTOLIC_WEIGHT_STATIONARY);
    b.configLoad(0, 16, 16);
    for (uint32_t row = 0; row < 16384; row += 4096)
      b.load(0, {row, 16, 16});
    b.sync();
    b.region("all", 0, 0);
    b.preload({4096, 16, 16}, {ASHLAR_SYSTOLIC_ACCUMULATOR, 16, 16});
    b.compute({a, 16, 16}, Matrix::none(), true);
    for (int i = 0; i < 20; ++i) {
      b.load(at(0), {target, 16, 16});
      b.preload(Matrix::none(), {ASHLAR_SYSTOLIC_ACCUMULATOR, 16, 16});
      b.compute({a, 16, 16}, Matrix::none(), false);
    }
    Simulated s(machine, b.kernel);
    return regionCycles(s);
  };
  uint64_t apart = build(0, 8192 + 32), together = build(0, 32);
  EXPECT_GT(together, apart + 100);
}

TEST(SystolicTiming, TheVectorUnitTakesLanes) {
  Machine machine = tpu128();
  auto build = [&](uint8_t funct) {
    StreamBuilder b("vector", 0);
    const uint32_t acc = ASHLAR_SYSTOLIC_ACCUMULATOR;
    b.region("all", 0, 0);
    b.vector(funct, {acc, 1024, 128}, acc);
    b.vector(funct, {acc, 1024, 128}, acc);
    Simulated s(machine, b.kernel);
    uint64_t cycles = regionCycles(s);
    EXPECT_EQ(s.timing.regions()[0].vectorBusy, cycles - 16);
    return cycles;
  };
  EXPECT_EQ(build(ASHLAR_SYSTOLIC_COPY), 2 * 1024 * 128 / 1024 + 16);
  EXPECT_EQ(build(ASHLAR_SYSTOLIC_EXP), 2 * 1024 * 128 / 256 + 16);
}

TEST(SystolicTiming, ArraysWorkAtTheSameTime) {
  Machine machine = tpu128();
  machine.arrays = 4;
  StreamBuilder b("arrays", 0);
  b.configExecute(ASHLAR_SYSTOLIC_WEIGHT_STATIONARY);
  b.configLoad(0, 0, 128);
  b.load(0, {0, 1024, 128});
  b.sync();
  b.region("all", ASHLAR_SYSTOLIC_CONTRACTION, 0);
  for (uint8_t array = 0; array < 4; ++array) {
    b.preload({0, 128, 128},
              {ASHLAR_SYSTOLIC_ACCUMULATOR | array * 1024u, 1024, 128}, array);
    b.compute({0, 1024, 128}, Matrix::none(), true, array);
  }
  Simulated s(machine, b.kernel);
  EXPECT_NEAR(double(regionCycles(s)), 128 + 1024 + 254, 8);
  EXPECT_EQ(cyclesOf(s.kernel(), s.timing, ASHLAR_SYSTOLIC_CONTRACTION),
            s.timing.regions()[0].last - s.timing.regions()[0].first);
}

/// A contraction that waits for a depthwise one is not charged for what that
/// takes alone.
TEST(SystolicTiming, ContractionsWithoutDepthwise) {
  const Machine machine = small(128, ASHLAR_SYSTOLIC_BF16);
  StreamBuilder b("both", 1);
  b.configLoad(0, 256, 128);
  b.region("before", ASHLAR_SYSTOLIC_CONTRACTION, 0);
  b.load(at(0), {0, 128, 128});
  b.sync();
  b.region("lanes", ASHLAR_SYSTOLIC_DEPTHWISE, 0);
  b.configVector(ASHLAR_SYSTOLIC_F32, ASHLAR_SYSTOLIC_EACH_ROW);
  for (int i = 0; i < 10; ++i)
    b.vector(ASHLAR_SYSTOLIC_COPY, {ASHLAR_SYSTOLIC_ACCUMULATOR, 128, 128}, 0,
             0);
  b.sync();
  b.region("before", ASHLAR_SYSTOLIC_CONTRACTION, 0);
  b.load(at(0), {0, 128, 128});
  Simulated s(machine, b.kernel);
  s.count();
  uint64_t contractions =
      cyclesOf(s.kernel(), s.timing, ASHLAR_SYSTOLIC_CONTRACTION);
  uint64_t lanes = cyclesOf(s.kernel(), s.timing, ASHLAR_SYSTOLIC_DEPTHWISE);
  EXPECT_GE(lanes, 160u);
  EXPECT_NEAR(double(contractions + lanes), double(s.timing.cycles()), 16);
}

//===-- Whole layers, as a compiler would write them ----------------------===//

/// C = A B in bf16: A comes once, blocks of 128 columns of B pass through three
/// slots, C leaves from three: latency, one block's time and the array's drain
/// add up to more than a block. A is m x k; B lies as blocks of k x 128.
Kernel product(uint32_t m, uint32_t n, uint32_t k) {
  const uint32_t dim = 128, depth = k / dim, blocks = n / dim, slots = 3;
  StreamBuilder b("product", 3);
  b.configExecute(ASHLAR_SYSTOLIC_WEIGHT_STATIONARY);
  b.configLoad(0, k * 2, dim);
  b.configLoad(1, dim * 2, dim);
  b.configStore(n * 2);
  b.region("product", ASHLAR_SYSTOLIC_CONTRACTION, uint64_t(m) * n * k);
  auto slotOfB = [&](uint32_t block) { return depth * m + block % slots * k; };
  auto slotOfC = [&](uint32_t block) {
    return ASHLAR_SYSTOLIC_ACCUMULATOR | block % slots * m;
  };
  auto multiply = [&](uint32_t block, uint32_t i) {
    b.preload({slotOfB(block) + i * dim, dim, dim},
              {slotOfC(block) | (i ? ASHLAR_SYSTOLIC_ACCUMULATE : 0), m, dim});
    b.compute({i * m, m, dim}, Matrix::none(), true);
  };
  auto storeC = [&](uint32_t block) {
    b.store(at(2, uint64_t(block) * dim * 2), {slotOfC(block), m, dim});
  };
  auto loadB = [&](uint32_t block) {
    b.load(at(1, uint64_t(block) * k * dim * 2), {slotOfB(block), k, dim}, 1);
  };
  // The first block starts with the first rows that are there.
  for (uint32_t i = 0; i < depth; ++i) {
    b.load(at(0, i * dim * 2), {i * m, m, dim}, 0);
    b.load(at(1, i * dim * dim * 2), {slotOfB(0) + i * dim, dim, dim}, 1);
    b.sync(load, execute);
    multiply(0, i);
  }
  if (blocks > 1)
    loadB(1);
  for (uint32_t block = 1; block < blocks; ++block) {
    // A sync stands before what it must not wait for. Those for a load and a
    // store come an iteration ahead, so that they wait for the block before
    // the last alone.
    b.sync(load | store, execute);
    if (block + 1 < blocks)
      loadB(block + 1);
    if (block >= 2)
      storeC(block - 2);
    b.sync(execute, load | store);
    for (uint32_t i = 0; i < depth; ++i)
      multiply(block, i);
  }
  if (blocks > 1)
    storeC(blocks - 2);
  b.sync(execute, store);
  storeC(blocks - 1);
  return b.kernel;
}

/// Useful multiply-adds over what the array could have done.
double utilisation(Simulated &s) {
  s.count();
  uint64_t useful = 0;
  for (const Region &region : s.kernel().regions)
    useful += region.multiplyAdds;
  uint64_t cycles = cyclesOf(s.kernel(), s.timing, ASHLAR_SYSTOLIC_CONTRACTION);
  return double(useful) / (double(s.machine.dim) * s.machine.dim *
                           s.machine.arrays * double(cycles));
}

TEST(SystolicTiming, AProductKeepsTheArrayBusy) {
  struct {
    uint32_t m, n, k;
    double least;
  } const layers[] = {{1024, 768, 768, 0.9},   // BERT, batch 8
                      {1024, 3072, 768, 0.95}, // its feed-forward
                      {128, 768, 768, 0.7},    // batch 1
                      {128, 3072, 768, 0.85}};
  for (const auto &layer : layers) {
    Simulated s(tpu128(), product(layer.m, layer.n, layer.k));
    double used = utilisation(s);
    EXPECT_GT(used, layer.least);
    RecordProperty(std::to_string(layer.m) + "x" + std::to_string(layer.n) +
                       "x" + std::to_string(layer.k),
                   std::to_string(used));
    std::printf("product %u x %u x %u: %.1f %%\n", layer.m, layer.n, layer.k,
                used * 100);
  }
  // And it is a product.
  const uint32_t m = 128, n = 384, k = 256;
  Random random(2);
  auto a = random.halves(m * k), b = random.halves(k * n);
  std::vector<uint16_t> c(m * n);
  Simulated s(tpu128(), product(m, n, k));
  s.bind(a, false);
  s.bind(b, false);
  s.bind(c, true);
  ASSERT_TRUE(s.run()) << s.error;
  for (uint32_t i = 0; i < m; i += 7)
    for (uint32_t j = 0; j < n; ++j) {
      double sum = 0, size = 0;
      for (uint32_t l = 0; l < k; ++l) {
        double term = double(widenHalf(a[i * k + l])) *
                      widenHalf(b[j / 128 * k * 128 + l * 128 + j % 128]);
        sum += term;
        size += std::fabs(term);
      }
      ASSERT_NEAR(widenHalf(c[i * n + j]), sum,
                  std::fabs(sum) / 200 + size * 1e-5);
    }
}

/// A 3x3 convolution of stride 1, 128 channels to 128: the image with a rim of
/// zeros in the scratchpad, a fold for each tap.
Kernel convolution(uint32_t size) {
  const uint32_t dim = 128, pitch = size + 2, pixels = size * size;
  const uint32_t rowsOfImage = (size + 2) * pitch;
  StreamBuilder b("convolution", 3);
  b.configExecute(ASHLAR_SYSTOLIC_WEIGHT_STATIONARY);
  b.configLoad(0, 0, dim);
  b.configLoad(1, dim * 2, dim);
  b.configStore(dim * 2);
  b.region("convolution", ASHLAR_SYSTOLIC_CONTRACTION,
           uint64_t(pixels) * 9 * dim * dim);
  b.load(0, {0, rowsOfImage, dim}, 0); // zeros
  b.configStream(
      ASHLAR_SYSTOLIC_STREAM_MVIN,
      {{size, 1, dim * 2}, {size, int32_t(pitch), int64_t(size) * dim * 2}});
  b.load(at(1), {rowsOfImage, dim, dim}, 1);
  b.load(at(0), {pitch + 1, pixels, dim}, 0);
  b.sync(load, execute);
  b.load(at(1, dim * dim * 2), {rowsOfImage + dim, 8 * dim, dim}, 1);
  b.configStream(ASHLAR_SYSTOLIC_STREAM_A, {{size, 1}, {size, int32_t(pitch)}});
  for (uint32_t tap = 0; tap < 9; ++tap) {
    if (tap == 1)
      b.sync(load, execute);
    b.preload(
        {rowsOfImage + tap * dim, dim, dim},
        {ASHLAR_SYSTOLIC_ACCUMULATOR | (tap ? ASHLAR_SYSTOLIC_ACCUMULATE : 0),
         pixels, dim});
    b.compute({tap / 3 * pitch + tap % 3, pixels, dim}, Matrix::none(), true);
  }
  b.sync(execute, store);
  b.store(at(2), {ASHLAR_SYSTOLIC_ACCUMULATOR, pixels, dim});
  return b.kernel;
}

TEST(SystolicTiming, AConvolutionKeepsTheArrayBusy) {
  for (uint32_t size : {28u, 56u}) {
    Simulated s(tpu128(), convolution(size));
    double used = utilisation(s);
    EXPECT_GT(used, size == 28 ? 0.7 : 0.8);
    std::printf("convolution 3x3, 128 to 128, %u x %u: %.1f %%\n", size, size,
                used * 100);
    std::vector<uint16_t> x(size * size * 128, narrowHalf(1)),
        w(9 * 128 * 128, narrowHalf(0.5f)), y(x.size());
    s.bind(x, false);
    s.bind(w, false);
    s.bind(y, true);
    Simulated run(tpu128(), convolution(size));
    run.bindings = s.bindings;
    ASSERT_TRUE(run.run()) << run.error;
    EXPECT_EQ(widenHalf(y[0]), 4 * 64);
    EXPECT_EQ(widenHalf(y[128 * (size + 1)]), 9 * 64);
  }
}

} // namespace
} // namespace ashlar::systolic
