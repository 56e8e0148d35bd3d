// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The image of streams, sound and broken, and the loops in it.

#include "Simulated.h"

#include <cmath>

namespace ashlar::systolic {
namespace {

uint64_t at(uint32_t binding, uint64_t offset = 0) {
  return ashlar_systolic_address(binding, offset);
}

/// Something of everything: 8 x 8 products in a loop, with an epilogue.
Kernel sample() {
  StreamBuilder b("sample", 2);
  b.region("products", ASHLAR_SYSTOLIC_CONTRACTION, 3 * 512,
           ASHLAR_SYSTOLIC_KEEPS_WEIGHTS);
  b.configExecute(ASHLAR_SYSTOLIC_WEIGHT_STATIONARY);
  b.configLoad(0, 16, 8);
  b.configStore(16);
  b.loop(3);
  b.advance(0, 128, 8);
  b.load(at(0), {0, 8, 8});
  b.sync();
  b.advance(0, 8, 0);
  b.preload({0, 8, 8}, {ASHLAR_SYSTOLIC_ACCUMULATOR, 8, 8});
  b.configStream(ASHLAR_SYSTOLIC_STREAM_A, {{4, 2}, {2, 1}});
  b.advance(0, 8, 0);
  b.compute({0, 8, 8}, Matrix::none(), true);
  b.sync();
  b.configVector(ASHLAR_SYSTOLIC_F32);
  b.vectorImmediate(ASHLAR_SYSTOLIC_MAXIMUM_IMMEDIATE, {100, 8, 8},
                    ASHLAR_SYSTOLIC_ACCUMULATOR, 0);
  b.vector(ASHLAR_SYSTOLIC_EXP, {100, 8, 8}, 100);
  b.sync();
  b.advance(0, 128, 0);
  b.store(at(1), {100, 8, 8});
  b.end();
  return b.kernel;
}

std::string sampleImage() {
  Image image;
  image.machine = small(8, ASHLAR_SYSTOLIC_BF16);
  image.kernels = {sample(), sample()};
  image.kernels[1].name = "again";
  return writeImage(image);
}

TEST(SystolicImage, ComesBackAsItWas) {
  std::string bytes = sampleImage();
  Image read;
  ASSERT_EQ(readImage(bytes.data(), bytes.size(), read), "");
  ASSERT_EQ(read.kernels.size(), 2u);
  EXPECT_STREQ(read.machine.name, "small");
  EXPECT_EQ(read.kernels[1].name, "again");
  EXPECT_EQ(read.kernels[1].bindings, 2u);
  ASSERT_EQ(read.kernels[1].regions.size(), 1u);
  EXPECT_EQ(read.kernels[1].regions[0].name, "products");
  EXPECT_EQ(read.kernels[1].regions[0].multiplyAdds, 1536u);
  EXPECT_STREQ(dataflowName(read.kernels[1].regions[0].dataflow),
               "weight-stationary");
  EXPECT_EQ(read.kernels[0].commands.size(), sample().commands.size());
  // 4 before the loop; 13 in it, but for the three that advance others.
  EXPECT_EQ(read.kernels[0].issued, 4u + 3 * 12);
  EXPECT_EQ(writeImage(read), bytes);
}

TEST(SystolicImage, LoopsAdvanceRegisters) {
  Random random(1);
  auto x = random.halves(3 * 64);
  std::vector<uint16_t> y(3 * 64);
  Simulated s(small(8, ASHLAR_SYSTOLIC_BF16), sample());
  s.bind(x, false);
  s.bind(y, true);
  ASSERT_TRUE(s.run()) << s.error;
  for (uint32_t block = 0; block < 3; ++block)
    for (uint32_t i = 0; i < 8; ++i)
      for (uint32_t j = 0; j < 8; ++j) {
        // Rows 0, 2, 4, 6, 1, 3, 5, 7 of A, which is B too.
        uint32_t row = i % 4 * 2 + i / 4;
        float sum = 0;
        for (uint32_t k = 0; k < 8; ++k) {
          volatile float product = widenHalf(x[block * 64 + row * 8 + k]) *
                                   widenHalf(x[block * 64 + k * 8 + j]);
          sum += product;
        }
        float relu = widenHalf(narrowHalf(std::max(sum, 0.0f)));
        EXPECT_NEAR(widenHalf(y[block * 64 + i * 8 + j]), std::exp(relu),
                    std::exp(relu) / 200);
      }
}

TEST(SystolicImage, RefusesLoopsThatAreNotNested) {
  auto error = [](const std::function<void(StreamBuilder &)> &write) {
    StreamBuilder b("loops", 0);
    write(b);
    uint64_t issued;
    std::string error;
    EXPECT_FALSE(countIssued(b.kernel.commands, issued, error));
    return error;
  };
  EXPECT_EQ(error([](auto &b) { b.end(); }),
            "instruction 0: end: there is no loop to end here");
  EXPECT_EQ(error([](auto &b) { b.loop(2); }),
            "instruction 1: expected the end of a loop");
  EXPECT_EQ(error([](auto &b) { b.loop(0); }),
            "instruction 0: loop: expected 1 to 134217728 iterations, found 0");
  EXPECT_EQ(error([](auto &b) {
              b.loop(2);
              b.advance(1, 0, 0);
            }),
            "instruction 1: advance: names loop 1; there are 1");
  EXPECT_EQ(error([](auto &b) {
              b.loop(2);
              b.advance(0, 0, 0);
              b.end();
            }),
            "instruction 2: advance: expected a command after it, found a "
            "loop's");
  EXPECT_EQ(error([](auto &b) {
              for (int i = 0; i < 9; ++i)
                b.loop(1);
            }),
            "instruction 8: loop: nested deeper than 8");
  EXPECT_EQ(error([](auto &b) {
              b.loop(1 << 20);
              b.loop(1 << 7);
              b.sync();
              b.sync();
            }),
            "instruction 3: the loops issue more than 134217728 commands");
}

TEST(SystolicImage, RefusesWhatIsTruncatedOrWrong) {
  std::string bytes = sampleImage();
  Image image;
  for (size_t size = 0; size < bytes.size(); size += 7)
    EXPECT_NE(readImage(bytes.data(), size, image), "");
  auto changed = [&](size_t place, auto value) {
    std::string copy = bytes;
    std::memcpy(&copy[place], &value, sizeof(value));
    return readImage(copy.data(), copy.size(), image);
  };
  EXPECT_EQ(changed(0, 'x'),
            "these are no systolic streams: the magic number is wrong");
  EXPECT_EQ(changed(offsetof(ashlar_systolic_header_t, version), uint32_t(2)),
            "expected version 1 of the image, found 2");
  EXPECT_EQ(changed(offsetof(ashlar_systolic_header_t, commands_at), uint64_t(1)
                                                                         << 60),
            "a part of the image lies outside of it");
  const size_t machine = offsetof(ashlar_systolic_header_t, machine);
  EXPECT_EQ(changed(machine + offsetof(ashlar_systolic_machine_t, dim), 0u),
            "machine dim: expected 1 to 1024, found 0");
  EXPECT_EQ(
      changed(machine + offsetof(ashlar_systolic_machine_t, memory_latency),
              0u),
      "machine memory_latency: expected 1 to 1048576, found 0");
  EXPECT_EQ(
      changed(machine + offsetof(ashlar_systolic_machine_t, array_sum_bits),
              33u),
      "machine array_sum_bits: expected 0 to 32, found 33");
  EXPECT_EQ(
      changed(machine + offsetof(ashlar_systolic_machine_t, request_bytes),
              48u),
      "machine request_bytes: expected a power of two that holds whole bursts, "
      "found 48");
  const size_t kernel = sizeof(ashlar_systolic_header_t);
  EXPECT_EQ(
      changed(kernel + offsetof(ashlar_systolic_kernel_t, issued), uint64_t(7)),
      "kernel sample, issued: the loops issue 40 commands, the image "
      "says 7");
}

// Whatever bit is wrong: an error or wrong numbers, but no other memory is
// touched (the sanitizers watch) and the end comes.
TEST(SystolicImage, SurvivesFlippedBits) {
  Random random(2);
  const std::string bytes = sampleImage();
  const size_t commands =
      sizeof(ashlar_systolic_header_t) + 2 * sizeof(ashlar_systolic_kernel_t);
  unsigned refused = 0, ran = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string copy = bytes;
    for (uint32_t flips = random.between(1, 3); flips; --flips) {
      // The machine's figures are for RefusesWhatIsTruncatedOrWrong.
      size_t place = commands + random.below(uint32_t(copy.size() - commands));
      copy[place] = char(copy[place] ^ (1 << random.below(8)));
    }
    Image image;
    if (!readImage(copy.data(), copy.size(), image).empty()) {
      ++refused;
      continue;
    }
    static Function function(image.machine);
    std::vector<uint8_t> x(384), y(384);
    function.start({{x.data(), x.size(), false}, {y.data(), y.size(), true}});
    Decoder decoder(image.machine, image.kernels[0]);
    Timing timing(image.machine, image.kernels[0].regions.size());
    bool isFine = true;
    for (Action action; isFine && decoder.next(action);) {
      timing.add(action);
      isFine = function.execute(action);
    }
    timing.finish();
    isFine &= !decoder.failed();
    ++(isFine ? ran : refused);
    const std::string &why =
        decoder.failed() ? decoder.error() : function.error();
    if (!isFine) {
      EXPECT_EQ(why.find("instruction "), 0u) << why;
    }
    for (uint8_t byte : x) // read-only
      ASSERT_EQ(byte, 0);
  }
  EXPECT_GT(refused, 400u);
  EXPECT_GT(ran, 400u);
}

} // namespace
} // namespace ashlar::systolic
