// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Signatures.h"
#include <gtest/gtest.h>

using namespace ashlar::onnx_import;

namespace {
using Types = std::vector<ElementType>;
constexpr ElementType F32 = ElementType::F32, I64 = ElementType::I64,
                      None = ElementType::Undefined;

std::string check(const char *op, int64_t opset, Types operands,
                  unsigned results = 1) {
  const Signature *signature = lookupSignature(op, opset);
  EXPECT_NE(signature, nullptr);
  return signature ? checkSignature(*signature, operands, results) : "";
}

TEST(Signatures, TakeTheNewestThatIsOldEnough) {
  ASSERT_NE(lookupSignature("Add", 13), nullptr);
  EXPECT_EQ(lookupSignature("Add", 13)->since, 13);
  EXPECT_EQ(lookupSignature("Add", 28)->since, 14);
  EXPECT_EQ(lookupSignature("Add", 7)->since, 7);
  EXPECT_EQ(lookupSignature("Gelu", 19), nullptr);
  EXPECT_NE(lookupSignature("Gelu", 20), nullptr);
  EXPECT_EQ(lookupSignature("", 20), nullptr);
  EXPECT_EQ(lookupSignature("AAA", 20), nullptr);
  EXPECT_EQ(lookupSignature("Zzz", 20), nullptr);
}

TEST(Signatures, OptionalOperandsMayBeLeftOut) {
  EXPECT_EQ(check("Clip", 13, {F32}), "");
  EXPECT_EQ(check("Clip", 13, {F32, None, F32}), "");
  EXPECT_EQ(check("Clip", 13, {None, F32, F32}),
            "needs input 0, which is left out");
  EXPECT_EQ(check("Clip", 13, {F32, I64}),
            "inputs 0 and 1 have types float and int64; expected one type");
  EXPECT_EQ(check("Clip", 13, {}), "has 0 inputs, expected 1 to 3 inputs");
  EXPECT_EQ(check("Clip", 13, {F32, F32, F32, F32}),
            "has 4 inputs, expected 1 to 3 inputs");
}

TEST(Signatures, RepeatedOperandsHaveOneTypeOrAny) {
  EXPECT_EQ(check("Concat", 13, {F32, F32, F32, F32}), "");
  EXPECT_EQ(check("Concat", 13, {F32, F32, I64}),
            "inputs 0 and 2 have types float and int64; expected one type");
  EXPECT_EQ(check("Concat", 13, {}), "has 0 inputs, expected at least 1 input");
  EXPECT_EQ(check("Loop", 13, {I64, ElementType::Bool, F32, I64}, 2), "");
}

TEST(Signatures, TypesDependOnTheOpset) {
  EXPECT_EQ(check("Add", 14, {ElementType::U8, ElementType::U8}), "");
  EXPECT_EQ(check("Add", 7, {ElementType::U8, ElementType::U8}),
            "input 0 has type uint8, expected float, int32, int64, float16, "
            "double, uint32 or uint64");
}

TEST(Signatures, CountResults) {
  EXPECT_EQ(check("Split", 13, {F32}, 5), "");
  EXPECT_EQ(check("TopK", 11, {F32, I64}, 2), "");
  EXPECT_EQ(check("TopK", 11, {F32, I64}, 3),
            "has 3 outputs, expected 2 outputs");
}
} // namespace
