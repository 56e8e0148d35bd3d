// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The vector unit, against plain loops.

#include "Simulated.h"

#include <cmath>
#include <limits>

namespace ashlar::systolic {
namespace {

constexpr uint32_t acc = ASHLAR_SYSTOLIC_ACCUMULATOR;
constexpr uint32_t adding = acc | ASHLAR_SYSTOLIC_ACCUMULATE;
constexpr uint32_t rows = 7, columns = 21;

uint64_t at(uint32_t binding) { return ashlar_systolic_address(binding, 0); }

template <typename T> uint32_t bits(T value) {
  uint32_t result;
  static_assert(sizeof(T) == 4, "a word");
  std::memcpy(&result, &value, 4);
  return result;
}

/// Accumulator rows 0.. hold `left`, rows 100.. `right`; `write` computes rows
/// 200.., which come back. Three bindings: left, right and a table.
template <typename T>
std::vector<T> compute(std::vector<T> left, std::vector<T> right,
                       const std::function<void(StreamBuilder &)> &write,
                       uint32_t input = ASHLAR_SYSTOLIC_BF16) {
  StreamBuilder b("vector", 4);
  b.configLoad(0, columns * 4, 32);
  b.load(at(0), {acc, rows, columns});
  b.load(at(1), {acc | 100, rows, columns});
  b.load(0, {acc | 200, rows, columns});
  b.sync();
  b.configVector(std::is_same_v<T, float> ? ASHLAR_SYSTOLIC_F32
                                          : ASHLAR_SYSTOLIC_S32);
  write(b);
  b.sync();
  b.configStore(columns * 4);
  b.store(at(2), {acc | ASHLAR_SYSTOLIC_FULL_WIDTH | 200, rows, columns});
  std::vector<T> out(rows * columns);
  std::vector<ashlar_systolic_table_t> table(1);
  table[0].first = -2;
  table[0].parts_per_unit = 64;
  for (uint32_t i = 0; i < 256; ++i) // x * x, part by part
    table[0].coefficients[i][0] = float(std::pow(-2 + i / 64.0, 2)),
    table[0].coefficients[i][1] = float(2 * (-2 + i / 64.0) / 64),
    table[0].coefficients[i][2] = 1 / 4096.0f;
  Simulated s(small(32, input), b.kernel);
  s.bind(left, false);
  s.bind(right, false);
  s.bind(out, true);
  s.bind(table, false);
  EXPECT_TRUE(s.run()) << s.error;
  return out;
}

const Matrix result = {acc | 200, rows, columns};

TEST(SystolicVector, OperationsOfTwoRows) {
  Random random(1);
  std::vector<float> l(rows * columns), r(l.size());
  std::vector<int32_t> il(l.size()), ir(l.size());
  for (size_t i = 0; i < l.size(); ++i) {
    l[i] = random.real(100), r[i] = random.real(100);
    il[i] = int32_t(random.below(~0u)), ir[i] = int32_t(random.below(~0u));
  }
  struct {
    uint8_t funct;
    float (*real)(float, float);
    uint32_t (*whole)(uint32_t, uint32_t);
  } const operations[] = {
      {ASHLAR_SYSTOLIC_COPY, [](float a, float) { return a; },
       [](uint32_t a, uint32_t) { return a; }},
      {ASHLAR_SYSTOLIC_ADD, [](float a, float b) { return a + b; },
       [](uint32_t a, uint32_t b) { return a + b; }},
      {ASHLAR_SYSTOLIC_SUBTRACT, [](float a, float b) { return a - b; },
       [](uint32_t a, uint32_t b) { return a - b; }},
      {ASHLAR_SYSTOLIC_MULTIPLY, [](float a, float b) { return a * b; },
       [](uint32_t a, uint32_t b) { return a * b; }},
      {ASHLAR_SYSTOLIC_MAXIMUM,
       [](float a, float b) { return std::fmax(a, b); },
       [](uint32_t a, uint32_t b) {
         return uint32_t(std::max(int32_t(a), int32_t(b)));
       }},
      {ASHLAR_SYSTOLIC_MINIMUM,
       [](float a, float b) { return std::fmin(a, b); },
       [](uint32_t a, uint32_t b) {
         return uint32_t(std::min(int32_t(a), int32_t(b)));
       }}};
  for (const auto &operation : operations)
    for (bool adds : {false, true}) {
      Matrix to = {(adds ? adding : acc) | 200, rows, columns};
      auto write = [&](StreamBuilder &b) {
        if (adds) // 200.. is zero
          b.vector(ASHLAR_SYSTOLIC_COPY, to, acc);
        b.vector(operation.funct, to, acc, acc | 100);
      };
      auto out = compute(l, r, write);
      auto iout = compute(il, ir, write);
      for (size_t i = 0; i < out.size(); ++i) {
        float real = operation.real(l[i], r[i]);
        uint32_t whole = operation.whole(uint32_t(il[i]), uint32_t(ir[i]));
        EXPECT_EQ(out[i], adds ? l[i] + real : real);
        EXPECT_EQ(uint32_t(iout[i]), adds ? uint32_t(il[i]) + whole : whole);
      }
    }
}

TEST(SystolicVector, ImmediatesAndRightOperandsOfOneRowOrColumn) {
  Random random(2);
  std::vector<float> l(rows * columns), r(l.size());
  for (size_t i = 0; i < l.size(); ++i)
    l[i] = random.real(100), r[i] = random.real(100);
  auto with = [&](uint8_t funct, float immediate) {
    return compute(l, r, [&](StreamBuilder &b) {
      b.vectorImmediate(funct, result, acc, immediate);
    });
  };
  auto add = with(ASHLAR_SYSTOLIC_ADD_IMMEDIATE, 0.5f);
  auto times = with(ASHLAR_SYSTOLIC_MULTIPLY_IMMEDIATE, -3);
  auto relu = with(ASHLAR_SYSTOLIC_MAXIMUM_IMMEDIATE, 0);
  auto cut = with(ASHLAR_SYSTOLIC_MINIMUM_IMMEDIATE, 6);
  auto fill = with(ASHLAR_SYSTOLIC_FILL, 9);
  auto right = [&](uint32_t how) {
    return compute(l, r, [&](StreamBuilder &b) {
      b.configVector(ASHLAR_SYSTOLIC_F32, how);
      b.vector(ASHLAR_SYSTOLIC_MULTIPLY, result, acc, acc | 100);
    });
  };
  auto row = right(ASHLAR_SYSTOLIC_ONE_ROW);
  auto column = right(ASHLAR_SYSTOLIC_ONE_COLUMN);
  for (size_t i = 0; i < l.size(); ++i) {
    EXPECT_EQ(add[i], l[i] + 0.5f);
    EXPECT_EQ(times[i], l[i] * -3);
    EXPECT_EQ(relu[i], l[i] > 0 ? l[i] : 0);
    EXPECT_EQ(cut[i], l[i] < 6 ? l[i] : 6);
    EXPECT_EQ(fill[i], 9);
    EXPECT_EQ(row[i], l[i] * r[i % columns]);
    EXPECT_EQ(column[i], l[i] * r[i / columns * columns]);
  }
}

TEST(SystolicVector, FunctionsOfOneNumber) {
  Random random(3);
  std::vector<float> l(rows * columns);
  for (float &value : l)
    value = random.real(20);
  const float infinity = std::numeric_limits<float>::infinity();
  const float special[] = {0,     -0.0f,  88.7f,    88.8f,     -103.9f,
                           -104,  -90,    1,        -1,        0.5f,
                           1e30f, -1e30f, infinity, -infinity, NAN};
  std::copy(std::begin(special), std::end(special), l.begin());
  auto apply = [&](uint8_t funct, uint32_t immediate = 0) {
    return compute(l, l, [&](StreamBuilder &b) {
      b.table(at(3), 5);
      b.vector(funct, result, acc, immediate);
    });
  };
  auto exp = apply(ASHLAR_SYSTOLIC_EXP);
  auto one = apply(ASHLAR_SYSTOLIC_RECIPROCAL);
  auto root = apply(ASHLAR_SYSTOLIC_RECIPROCAL_ROOT);
  auto square = apply(ASHLAR_SYSTOLIC_LOOKUP, 5);
  for (size_t i = 0; i < l.size(); ++i) {
    if (std::isnan(l[i])) {
      EXPECT_TRUE(std::isnan(exp[i]) && std::isnan(one[i]));
      continue;
    }
    double exact = std::exp(double(l[i]));
    // A unit in the last place, two, and what is lost to subnormals.
    double bound = std::max(exact * 2.4e-7, 1.5e-45);
    if (exact > 3.4028235e38) {
      EXPECT_EQ(exp[i], infinity) << l[i];
    } else {
      EXPECT_NEAR(exp[i], exact, bound) << l[i];
    }
    EXPECT_EQ(bits(one[i]), bits(1 / l[i]));
    if (l[i] >= 0) {
      EXPECT_EQ(root[i], 1 / std::sqrt(l[i]));
    }
    if (std::fabs(l[i]) < 2) {
      EXPECT_NEAR(square[i], l[i] * l[i], 1e-6) << l[i];
    }
  }
}

TEST(SystolicVector, IntegersAndFloatsBecomeEachOther) {
  const std::vector<float> special = {0.5f,  1.5f, -0.5f, -2.5f, 3e9f,
                                      -3e9f, NAN,  2.4f,  -2.6f, 7};
  std::vector<float> l(rows * columns);
  std::copy(special.begin(), special.end(), l.begin());
  auto out = compute(l, l, [&](StreamBuilder &b) {
    b.vector(ASHLAR_SYSTOLIC_TO_INTEGER, result, acc);
  });
  const int32_t expected[] = {0, 2, 0, -2, 2147483647, INT32_MIN, 0, 2, -3, 7};
  for (size_t i = 0; i < special.size(); ++i)
    EXPECT_EQ(int32_t(bits(out[i])), expected[i]) << special[i];
  out = compute(l, l, [&](StreamBuilder &b) {
    b.vector(ASHLAR_SYSTOLIC_TO_INTEGER, result, acc);
    b.vector(ASHLAR_SYSTOLIC_TO_FLOAT, result, acc | 200);
  });
  for (size_t i = 0; i < special.size(); ++i)
    EXPECT_EQ(out[i], float(expected[i]));
}

TEST(SystolicVector, RowsAreReducedInTheDocumentedOrder) {
  Random random(4);
  std::vector<float> l(rows * columns);
  for (float &value : l)
    value = random.real(100);
  auto reduce = [&](uint8_t funct, bool twice) {
    return compute(l, l, [&](StreamBuilder &b) {
      b.vector(funct, result, acc);
      if (twice)
        b.vector(funct, {adding | 200, rows, columns}, acc);
    });
  };
  auto sum = reduce(ASHLAR_SYSTOLIC_ROW_SUM, false);
  auto doubled = reduce(ASHLAR_SYSTOLIC_ROW_SUM, true);
  auto greatest = reduce(ASHLAR_SYSTOLIC_ROW_MAXIMUM, true);
  for (uint32_t row = 0; row < rows; ++row) {
    const float *x = &l[row * columns];
    float lanes[16] = {}, most = x[0];
    for (uint32_t j = 0; j < columns; ++j) {
      lanes[j % 16] += x[j];
      most = std::max(most, x[j]);
    }
    for (uint32_t half : {8, 4, 2, 1})
      for (uint32_t j = 0; j < half; ++j)
        lanes[j] += lanes[j + half];
    EXPECT_EQ(sum[row * columns], lanes[0]);
    EXPECT_EQ(doubled[row * columns], lanes[0] + lanes[0]);
    EXPECT_EQ(greatest[row * columns], most);
    EXPECT_EQ(sum[row * columns + 1], 0); // only column 0 is written
  }
}

// Streams of rows: sums over rows, as in pooling, and a depthwise tap.
TEST(SystolicVector, StreamsOfRows) {
  Random random(5);
  std::vector<float> l(rows * columns), r(l.size());
  for (size_t i = 0; i < l.size(); ++i)
    l[i] = random.real(), r[i] = random.real();
  auto out = compute(l, r, [&](StreamBuilder &b) {
    // Row 200 gets rows 0, 2 and 4 times row 100.
    b.configStream(ASHLAR_SYSTOLIC_STREAM_LEFT, {{3, 2}});
    b.configStream(ASHLAR_SYSTOLIC_STREAM_RESULT, {{3, 0}});
    b.configVector(ASHLAR_SYSTOLIC_F32, ASHLAR_SYSTOLIC_ONE_ROW);
    b.vector(ASHLAR_SYSTOLIC_MULTIPLY, {adding | 200, 3, columns}, acc,
             acc | 100);
  });
  for (uint32_t j = 0; j < columns; ++j) {
    float sum = 0;
    for (uint32_t row : {0, 2, 4}) {
      volatile float product = l[row * columns + j] * r[j];
      sum += product;
    }
    EXPECT_EQ(out[j], sum);
  }
}

// What is written to the scratchpad is narrowed, what is read from it widened.
TEST(SystolicVector, TheScratchpadHoldsInputs) {
  std::vector<float> l(rows * columns, 1.00390625f); // a tie: to even, 1
  l[1] = 300;
  auto halves = compute(l, l, [&](StreamBuilder &b) {
    b.vector(ASHLAR_SYSTOLIC_COPY, {50, rows, columns}, acc);
    b.vector(ASHLAR_SYSTOLIC_COPY, result, 50);
  });
  EXPECT_EQ(halves[0], 1);
  EXPECT_EQ(halves[1], 300);
  l[2] = 2.5f;
  auto bytes = compute(
      l, l,
      [&](StreamBuilder &b) {
        b.vector(ASHLAR_SYSTOLIC_COPY, {50, rows, columns}, acc);
        b.vector(ASHLAR_SYSTOLIC_COPY, result, 50);
      },
      ASHLAR_SYSTOLIC_S8);
  EXPECT_EQ(bytes[0], 1);
  EXPECT_EQ(bytes[1], 127);
  EXPECT_EQ(bytes[2], 2);
}

TEST(SystolicVector, RefusesWhatItCannotDo) {
  auto refusal = [](const std::function<void(StreamBuilder &)> &write) {
    StreamBuilder b("bad", 1);
    write(b);
    Simulated s(small(32, ASHLAR_SYSTOLIC_BF16), b.kernel);
    std::vector<float> memory(16);
    s.bind(memory, true);
    EXPECT_FALSE(s.run());
    return s.error;
  };
  EXPECT_EQ(
      refusal([](auto &b) { b.vector(ASHLAR_SYSTOLIC_COPY, result, acc); }),
      "instruction 0 (copy): row 0 of the accumulator was never written "
      "in column 0");
  EXPECT_EQ(refusal([](auto &b) {
              b.vector(ASHLAR_SYSTOLIC_LOOKUP, result, acc, 3);
            }),
            "instruction 0 (lookup): table 3 was never loaded");
  EXPECT_EQ(refusal([](auto &b) {
              b.configVector(ASHLAR_SYSTOLIC_S32);
              b.vector(ASHLAR_SYSTOLIC_EXP, result, acc);
            }),
            "instruction 1 (exp): expected the type f32, found s32");
  EXPECT_EQ(refusal([](auto &b) {
              b.configVector(ASHLAR_SYSTOLIC_S32);
              b.vector(ASHLAR_SYSTOLIC_FILL, {0, 1, 32});
              b.vector(ASHLAR_SYSTOLIC_COPY, result, 0);
            }),
            "instruction 2 (copy): an integer operation cannot read bf16");
  EXPECT_EQ(
      refusal([](auto &b) { b.vector(ASHLAR_SYSTOLIC_ADD, result, acc, ~0u); }),
      "instruction 0 (add): there is no right operand");
  EXPECT_EQ(refusal([](auto &b) {
              b.vector(ASHLAR_SYSTOLIC_COPY, {acc, 1, 33}, acc);
            }),
            "instruction 0 (copy): columns: expected 1 to 32, found 33");
  EXPECT_EQ(refusal([](auto &b) { b.configVector(0, 3); }),
            "instruction 0 (config_vector): rs1 6: expected a type and a way "
            "to read the right operand");
}

} // namespace
} // namespace ashlar::systolic
