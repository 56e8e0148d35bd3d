// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Check/Tensor.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace ashlar::check;

namespace {
template <typename T>
Tensor tensor(ashlar_element_type_t type, std::vector<int64_t> shape,
              std::vector<T> values) {
  Tensor result;
  result.type = type;
  result.shape = shape;
  result.bytes.resize(values.size() * sizeof(T));
  if (!values.empty())
    std::memcpy(result.bytes.data(), values.data(), result.bytes.size());
  return result;
}

std::string against(const Tensor &found, const Tensor &expected,
                    Tolerance tolerance = {}) {
  return compare(found, expected, tolerance);
}

/// The verdict on one pair of floats.
bool agree(float found, float expected, Tolerance tolerance = {}) {
  Tensor a = tensor<float>(ASHLAR_TYPE_F32, {1}, {found});
  Tensor b = tensor<float>(ASHLAR_TYPE_F32, {1}, {expected});
  return against(a, b, tolerance).empty();
}

TEST(Compare, FloatsMayDifferByTheToleranceOfTheExpectation) {
  EXPECT_TRUE(agree(1.0009f, 1.0f));
  EXPECT_FALSE(agree(1.0011f, 1.0f));
  EXPECT_TRUE(agree(9e-8f, 0.0f));
  EXPECT_FALSE(agree(2e-7f, 0.0f));
  EXPECT_TRUE(agree(1.4f, 1.0f, {0.5, 0}));
  EXPECT_FALSE(agree(-1.0f, 1.0f));
}

TEST(Compare, NaNEqualsNaNAndInfinitiesThemselves) {
  float inf = INFINITY;
  EXPECT_TRUE(agree(NAN, NAN));
  EXPECT_FALSE(agree(NAN, 1));
  EXPECT_FALSE(agree(1, NAN));
  EXPECT_TRUE(agree(inf, inf));
  EXPECT_TRUE(agree(-inf, -inf));
  EXPECT_FALSE(agree(-inf, inf));
  EXPECT_FALSE(agree(3e38f, inf));
  EXPECT_FALSE(agree(inf, 3e38f));
}

TEST(Compare, IntegersAreExact) {
  Tensor a = tensor<int64_t>(ASHLAR_TYPE_I64, {2}, {1000000, 5});
  Tensor b = tensor<int64_t>(ASHLAR_TYPE_I64, {2}, {1000001, 5});
  EXPECT_EQ(against(a, a), "");
  EXPECT_EQ(against(a, b), "differs in 1 of 2 elements, first at [0]: is "
                           "1000000, expected 1000001");
}

TEST(Compare, NumbersAreSpelledByTheirType) {
  Tensor a = tensor<int8_t>(ASHLAR_TYPE_I8, {}, {-1});
  Tensor b = tensor<int8_t>(ASHLAR_TYPE_I8, {}, {1});
  EXPECT_EQ(against(a, b),
            "differs in 1 of 1 elements, first at []: is -1, expected 1");
  a.type = b.type = ASHLAR_TYPE_U8;
  EXPECT_EQ(against(a, b),
            "differs in 1 of 1 elements, first at []: is 255, expected 1");
}

TEST(Compare, HalvesAreNumbers) {
  // 1 and the next half, 1.0009765625.
  Tensor a = tensor<uint16_t>(ASHLAR_TYPE_F16, {1}, {0x3c01});
  Tensor b = tensor<uint16_t>(ASHLAR_TYPE_F16, {1}, {0x3c00});
  EXPECT_EQ(against(a, b), "");
  EXPECT_NE(against(a, b, {1e-4, 0}), "");
  // As bfloat16 the step is 2^-7.
  a = tensor<uint16_t>(ASHLAR_TYPE_BF16, {1}, {0x3f81});
  b = tensor<uint16_t>(ASHLAR_TYPE_BF16, {1}, {0x3f80});
  EXPECT_NE(against(a, b), "");
  EXPECT_EQ(against(a, b, {1e-2, 0}), "");
}

TEST(Compare, TypesAndShapesMustBeTheSame) {
  Tensor a = tensor<float>(ASHLAR_TYPE_F32, {2}, {1, 2});
  Tensor b = tensor<float>(ASHLAR_TYPE_F32, {2, 1}, {1, 2});
  Tensor c = tensor<int32_t>(ASHLAR_TYPE_I32, {2}, {1, 2});
  EXPECT_EQ(against(a, b), "is f32 2, expected f32 2x1");
  EXPECT_EQ(against(a, c), "is f32 2, expected i32 2");
}

TEST(Compare, TheFirstDifferenceIsPlaced) {
  Tensor a = tensor<float>(ASHLAR_TYPE_F32, {2, 3}, {0, 0, 0, 0, 0, 7});
  Tensor b = tensor<float>(ASHLAR_TYPE_F32, {2, 3}, {0, 0, 0, 0, 0, 8});
  EXPECT_EQ(against(a, b),
            "differs in 1 of 6 elements, first at [1, 2]: is 7, expected 8");
}

TEST(Compare, EmptyTensorsAgree) {
  Tensor a = tensor<float>(ASHLAR_TYPE_F32, {0, 3}, {});
  EXPECT_EQ(against(a, a), "");
}

TEST(Measure, TheWorstElementIsDescribed) {
  Tensor found = tensor<float>(ASHLAR_TYPE_F32, {2, 2}, {1, 2, 3.5f, 8});
  Tensor expected = tensor<float>(ASHLAR_TYPE_F32, {2, 2}, {1, 2, 4, -8});
  Difference difference = measure(found, expected);
  EXPECT_EQ(difference.largest, 16);
  EXPECT_EQ(difference.scale, 8);
  EXPECT_EQ(difference.unequal, 2);
  EXPECT_EQ(difference.apart, 0);
  EXPECT_EQ(difference.place, 3);
  EXPECT_EQ(difference.found, "8");
  EXPECT_EQ(difference.expected, "-8");
  EXPECT_EQ(difference.relative, 2);
}

TEST(Measure, UlpsAreOfTheExpectationsType) {
  Tensor found = tensor<uint16_t>(ASHLAR_TYPE_BF16, {1}, {0x3f83});
  Tensor expected = tensor<uint16_t>(ASHLAR_TYPE_BF16, {1}, {0x3f80});
  EXPECT_EQ(measure(found, expected).ulps, 3);
  Tensor one = tensor<float>(ASHLAR_TYPE_F32, {1}, {1});
  Tensor next = tensor<float>(ASHLAR_TYPE_F32, {1}, {std::nextafter(1.f, 2.f)});
  EXPECT_EQ(measure(next, one).ulps, 1);
}

TEST(Measure, WhatIsNotFiniteAgreesOrIsInfinitelyFar) {
  Tensor found = tensor<float>(ASHLAR_TYPE_F32, {3}, {NAN, 1, INFINITY});
  Tensor expected = tensor<float>(ASHLAR_TYPE_F32, {3}, {NAN, NAN, INFINITY});
  Difference difference = measure(found, expected);
  EXPECT_TRUE(std::isinf(difference.largest));
  EXPECT_EQ(difference.apart, 1);
  EXPECT_EQ(difference.place, 1);
}

TEST(Measure, IntegersAreEqualOrNot) {
  Tensor found = tensor<int8_t>(ASHLAR_TYPE_I8, {3}, {1, 2, -3});
  Tensor expected = tensor<int8_t>(ASHLAR_TYPE_I8, {3}, {1, 2, 3});
  EXPECT_EQ(measure(found, expected).unequal, 1);
  EXPECT_EQ(measure(found, expected).found, "-3");
  EXPECT_TRUE(
      measure(tensor<int8_t>(ASHLAR_TYPE_I8, {1}, {1}), expected).otherType);
}
} // namespace
