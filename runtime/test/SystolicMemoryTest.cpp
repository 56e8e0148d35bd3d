// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What moves between memory and the chip.

#include "Simulated.h"

#include <algorithm>
#include <cmath>

namespace ashlar::systolic {
namespace {

uint64_t at(uint32_t binding, uint64_t offset = 0) {
  return ashlar_systolic_address(binding, offset);
}

/// Loads and stores as `write` says, then `columns` of the first `rows` rows of
/// the scratchpad, as bytes.
std::vector<int8_t>
scratchpadAfter(const Machine &machine, std::vector<int8_t> &memory,
                uint32_t rows, uint32_t columns,
                const std::function<void(StreamBuilder &)> &write) {
  StreamBuilder b("moves", 2);
  write(b);
  b.sync();
  b.configStore(columns);
  for (uint32_t row = 0; row < rows; ++row)
    b.store(at(1, row * columns), {row, 1, columns});
  std::vector<int8_t> out(rows * columns);
  Simulated s(machine, b.kernel);
  s.bind(memory, false);
  s.bind(out, true);
  EXPECT_TRUE(s.run()) << s.error;
  return out;
}

// mvin of more columns than a row holds goes on in blocks of rows.
TEST(SystolicMemory, WideLoadsGoOnInBlocks) {
  Random random(1);
  auto memory = random.bytes(3 * 64);
  auto chip = scratchpadAfter(gemmini(), memory, 16, 16, [](StreamBuilder &b) {
    b.configLoad(1, 0, 16);
    b.load(0, {0, 16, 16}, 1);
    b.configLoad(0, 64, 5);
    b.load(at(0), {0, 3, 40});
  });
  for (uint32_t row = 0; row < 3; ++row)
    for (uint32_t column = 0; column < 40; ++column)
      EXPECT_EQ(chip[(row + column / 16 * 5) * 16 + column % 16],
                memory[row * 64 + column]);
  EXPECT_EQ(chip[12 * 16 + 8], 0); // behind the last block: still zeros
}

// A pixel also stands to the right of those before it, in their rows.
TEST(SystolicMemory, PixelsRepeat) {
  Random random(2);
  auto memory = random.bytes(10 * 3);
  auto chip = scratchpadAfter(gemmini(), memory, 8, 9, [](StreamBuilder &b) {
    b.configLoad(0, 3, 16, false, 1, 3);
    b.load(at(0), {0, 10, 3});
  });
  for (uint32_t row = 0; row < 8; ++row)
    for (uint32_t column = 0; column < 9; ++column)
      EXPECT_EQ(chip[row * 9 + column], memory[row * 3 + column]);
}

TEST(SystolicMemory, InputsAreScaledRoundedAndSaturated) {
  std::vector<int8_t> memory = {1, 3, -3, 5, 100, -100, 127, -128};
  auto chip = scratchpadAfter(gemmini(), memory, 1, 8, [](StreamBuilder &b) {
    b.configLoad(0, 8, 16, false, 1.5f);
    b.load(at(0), {0, 1, 8});
  });
  EXPECT_EQ(chip, (std::vector<int8_t>{2, 4, -4, 8, 127, -128, 127, -128}));
}

// Taps side by side: 3 columns of each of 5 rows of an image, at its own place.
TEST(SystolicMemory, StreamsAndColumnsPackTaps) {
  Random random(3);
  Machine machine = small(16, ASHLAR_SYSTOLIC_S8);
  constexpr uint32_t width = 20, ow = 7, oh = 4;
  auto memory = random.bytes(width * 12);
  auto chip =
      scratchpadAfter(machine, memory, oh * ow, 15, [](StreamBuilder &b) {
        b.configLoad(0, 0, 16);
        for (uint32_t tap = 0; tap < 5; ++tap) {
          // Rows of outputs start at every other row and column.
          b.configStream(ASHLAR_SYSTOLIC_STREAM_MVIN,
                         {{ow, 1, 2}, {oh, ow, 2 * width}});
          b.configColumns(ASHLAR_SYSTOLIC_STREAM_MVIN, tap * 3);
          b.load(at(0, tap * width), {0, oh * ow, 3});
        }
      });
  for (uint32_t y = 0; y < oh; ++y)
    for (uint32_t x = 0; x < ow; ++x)
      for (uint32_t j = 0; j < 15; ++j)
        EXPECT_EQ(chip[(y * ow + x) * 15 + j],
                  memory[(2 * y + j / 3) * width + 2 * x + j % 3]);
}

// The other way round: two outputs in one row go to two places.
TEST(SystolicMemory, StoresFromAColumnOn) {
  Random random(4);
  Machine machine = small(16, ASHLAR_SYSTOLIC_BF16);
  auto memory = random.halves(5 * 16);
  std::vector<uint16_t> out(40);
  StreamBuilder b("store", 2);
  b.configLoad(0, 32, 16);
  b.load(at(0), {0, 5, 16});
  b.sync();
  b.configStore(0);
  for (uint32_t half = 0; half < 2; ++half) {
    b.configColumns(ASHLAR_SYSTOLIC_STREAM_MVOUT, half * 8);
    b.configStream(ASHLAR_SYSTOLIC_STREAM_MVOUT, {{5, 1, 16}});
    b.store(at(1, half * 8), {0, 5, 4});
  }
  Simulated s(machine, b.kernel);
  s.bind(memory, false);
  s.bind(out, true);
  ASSERT_TRUE(s.run()) << s.error;
  for (uint32_t row = 0; row < 5; ++row)
    for (uint32_t j = 0; j < 8; ++j)
      EXPECT_EQ(out[row * 8 + j], memory[row * 16 + j / 4 * 8 + j % 4]);
}

TEST(SystolicMemory, TheAccumulatorTakesInputsAndWords) {
  Machine machine = small(8, ASHLAR_SYSTOLIC_BF16);
  std::vector<uint16_t> halves = {narrowHalf(1.5f), narrowHalf(-2)};
  std::vector<float> words = {0.1f, 7}, out(2);
  StreamBuilder b("accumulate", 3);
  const uint32_t c = ASHLAR_SYSTOLIC_ACCUMULATOR;
  b.configLoad(0, 4, 8, true);
  b.load(at(0), {c, 1, 2});
  b.configLoad(0, 8, 8);
  b.load(at(1), {c | ASHLAR_SYSTOLIC_ACCUMULATE, 1, 2});
  b.sync();
  b.configStore(8);
  b.store(at(2), {c | ASHLAR_SYSTOLIC_FULL_WIDTH, 1, 2});
  Simulated s(machine, b.kernel);
  s.bind(halves, false);
  s.bind(words, false);
  s.bind(out, true);
  ASSERT_TRUE(s.run()) << s.error;
  EXPECT_EQ(out, (std::vector<float>{1.5f + 0.1f, 5}));
}

// 3x3 windows of stride 2 with a padding of 1, as in ResNet50's first layers.
TEST(SystolicMemory, PoolsOnTheWayOut) {
  Random random(5);
  constexpr uint32_t size = 7, pooled = 4, channels = 9;
  std::vector<int32_t> image(size * size * channels);
  for (int32_t &value : image)
    value = int32_t(random.below(400)) - 200;
  std::vector<int8_t> out(pooled * pooled * channels);
  StreamBuilder b("pool", 2);
  const uint32_t c = ASHLAR_SYSTOLIC_ACCUMULATOR;
  b.configLoad(0, channels * 4, 16);
  for (uint32_t row = 0; row < size * size; row += 16)
    b.load(at(0, row * channels * 4),
           {c | row, std::min(16u, size * size - row), channels});
  b.add(ASHLAR_SYSTOLIC_CONFIG,
        uint64_t(size) << 56 | uint64_t(size) << 48 | uint64_t(pooled) << 40 |
            uint64_t(pooled) << 32 | pooled << 24 | 1 << 10 | 1 << 8 | 3 << 6 |
            2 << 4 | ASHLAR_SYSTOLIC_RELU << 2 | ASHLAR_SYSTOLIC_CONFIG_ST,
        uint64_t(0x3f000000) << 32 | channels); // times 0.5
  b.store(at(1), {c, 0, channels});
  Simulated s(gemmini(), b.kernel);
  s.bind(image, false);
  s.bind(out, true);
  ASSERT_TRUE(s.run()) << s.error;
  for (int y = 0; y < int(pooled); ++y)
    for (int x = 0; x < int(pooled); ++x)
      for (uint32_t j = 0; j < channels; ++j) {
        double best = 0; // of ReLU and of the padding
        for (int i = 2 * y - 1; i < 2 * y + 2; ++i)
          for (int k = 2 * x - 1; k < 2 * x + 2; ++k)
            if (i >= 0 && k >= 0 && i < int(size) && k < int(size))
              best = std::max(
                  best,
                  std::nearbyint(
                      0.5 *
                      image[size_t((i * int(size) + k) * int(channels)) + j]));
        EXPECT_EQ(out[size_t(y * int(pooled) + x) * channels + j], best);
      }
}

std::string refusal(const Machine &machine, bool isWritable,
                    const std::function<void(StreamBuilder &)> &write) {
  StreamBuilder b("bad", 2);
  b.configLoad(0, 16, 16);
  b.configStore(16);
  write(b);
  std::vector<uint8_t> memory(256), other(256);
  Simulated s(machine, b.kernel);
  s.bind(memory, isWritable);
  s.bind(other, true);
  EXPECT_FALSE(s.run());
  return s.error;
}

TEST(SystolicMemory, RefusesWhatIsNotThere) {
  Machine t = small(16, ASHLAR_SYSTOLIC_S8);
  EXPECT_EQ(refusal(t, true, [](auto &b) { b.load(at(0, 1), {0, 16, 16}); }),
            "instruction 2 (mvin): memory: bytes 1 to 257 are not all among "
            "the 256 of binding 0");
  EXPECT_EQ(refusal(t, true, [](auto &b) { b.load(at(2), {0, 1, 1}); }),
            "instruction 2 (mvin): memory: expected one of 2 bindings, found "
            "2");
  EXPECT_EQ(refusal(t, true,
                    [](StreamBuilder &b) {
                      b.configStream(ASHLAR_SYSTOLIC_STREAM_MVIN,
                                     {{16, 1, -16}});
                      b.load(at(0, 16), {0, 16, 16});
                    }),
            "instruction 3 (mvin): memory: bytes -224 to 32 are not all among "
            "the 256 of binding 0");
  EXPECT_EQ(refusal(t, true, [](auto &b) { b.load(0, {4090, 16, 16}); }),
            "instruction 2 (mvin): chip: rows 4090 to 4105 are not all among "
            "the 4096 of the scratchpad");
  EXPECT_EQ(refusal(t, true, [](auto &b) { b.load(0, {0, 0, 16}); }),
            "instruction 2 (mvin): rows: expected 1 to 2048, found 0");
  EXPECT_EQ(refusal(t, true, [](auto &b) { b.load(0, {0, 1, 1}, 1); }),
            "instruction 2 (mvin2): no config_ld came before it");
  EXPECT_EQ(refusal(t, true, [](auto &b) { b.store(0, {0, 1, 1}); }),
            "instruction 2 (mvout): memory: the address is null");
  EXPECT_EQ(refusal(t, true, [](auto &b) { b.store(at(0), {3, 1, 1}); }),
            "instruction 2 (mvout): row 3 of the scratchpad was never written "
            "in column 0");
  EXPECT_EQ(refusal(gemmini(), true, [](auto &b) { b.load(0, {0, 17, 1}); }),
            "instruction 2 (mvin): rows: expected 1 to 16, found 17");
  EXPECT_EQ(refusal(gemmini(), true, [](auto &b) { b.load(0, {0, 1, 65}); }),
            "instruction 2 (mvin): columns: expected at most 64, found 65");
  EXPECT_EQ(refusal(t, false,
                    [](StreamBuilder &b) {
                      b.load(0, {0, 1, 1});
                      b.sync();
                      b.store(at(0), {0, 1, 1});
                    }),
            "instruction 4 (mvout): memory: binding 0 is not to be written");
  EXPECT_EQ(refusal(t, true,
                    [](StreamBuilder &b) {
                      b.configColumns(ASHLAR_SYSTOLIC_STREAM_MVIN, 16);
                    }),
            "instruction 2 (config_columns): expected a first column below 16 "
            "and no block stride, found 16 and 0");
}

// Loads and stores of the same bytes need a sync, also where the chip's own
// memories are interlocked; stores of others do not.
TEST(SystolicMemory, RefusesHazardsInMemory) {
  for (Machine machine : {gemmini(), small(16, ASHLAR_SYSTOLIC_S8)}) {
    auto begin = [](StreamBuilder &b) {
      b.load(0, {0, 16, 16});
      b.sync();
      b.configStore(32);
      b.store(at(0), {0, 8, 16}); // every other row of memory
      b.configLoad(0, 32, 16);
    };
    EXPECT_EQ(refusal(machine, true,
                      [&](StreamBuilder &b) {
                        begin(b);
                        b.load(at(0, 48), {32, 1, 2});
                        b.load(at(0, 48), {48, 1, 17});
                      }),
              "instruction 8 (mvin): memory: these bytes may still be in use "
              "by the store queue: a sync is missing");
    StreamBuilder b("apart", 1);
    b.configLoad(0, 16, 16);
    b.configStore(16);
    begin(b);
    b.load(at(0, 16), {32, 7, 16});
    b.sync();
    b.load(at(0), {64, 7, 16});
    std::vector<uint8_t> memory(256);
    Simulated s(machine, b.kernel);
    s.bind(memory, true);
    EXPECT_TRUE(s.run()) << s.error;
  }
}

} // namespace
} // namespace ashlar::systolic
