// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "WireScanner.h"
#include "ONNXFile.h"
#include <gtest/gtest.h>
#include <random>

using namespace ashlar::onnx_import;
using namespace ashlar::test;

namespace {
/// Whether scanning succeeds; what it gives is parsed and the places it left
/// are checked to lie inside the file.
bool scan(const std::string &bytes) {
  llvm::Expected<std::string> stripped = stripRawData(bytes);
  if (!stripped) {
    EXPECT_NE(llvm::toString(stripped.takeError()), "");
    return false;
  }
  onnx::ModelProto model;
  if (!model.ParseFromString(*stripped))
    return false;
  for (const onnx::TensorProto &weight : model.graph().initializer())
    if (weight.has_raw_data()) {
      EXPECT_EQ(weight.raw_data().size(), sizeof(RawDataPlace));
      RawDataPlace place = decodePlace(weight.raw_data());
      EXPECT_LE(place.offset, bytes.size());
      EXPECT_LE(place.size, bytes.size() - place.offset);
    }
  return true;
}

/// A length-delimited field around `body`.
std::string field(unsigned number, const std::string &body) {
  std::string bytes(1, char(number << 3 | 2));
  for (size_t length = body.size();; length >>= 7) {
    bytes.push_back(char((length & 0x7f) | (length > 0x7f ? 0x80 : 0)));
    if (length <= 0x7f)
      break;
  }
  return bytes + body;
}

TEST(WireScanner, ReplacesRawDataByItsPlaceEverywhere) {
  onnx::ModelProto model = exampleModel();
  std::string bytes = model.SerializeAsString();
  llvm::Expected<std::string> stripped = stripRawData(bytes);
  ASSERT_TRUE(bool(stripped));
  EXPECT_LT(stripped->size(), bytes.size() - 1500);
  onnx::ModelProto parsed;
  ASSERT_TRUE(parsed.ParseFromString(*stripped));
  auto check = [&](onnx::TensorProto &found, const onnx::TensorProto &sought) {
    RawDataPlace place = decodePlace(found.raw_data());
    EXPECT_EQ(bytes.substr(place.offset, place.size), sought.raw_data());
    found.set_raw_data(sought.raw_data());
  };
  onnx::GraphProto *found = parsed.mutable_graph();
  const onnx::GraphProto *sought = &model.graph();
  for (int depth = 0; depth != 3; ++depth) {
    check(*found->mutable_initializer(0), sought->initializer(0));
    int last = sought->node_size() - 1;
    if (depth == 2)
      break;
    found = found->mutable_node(last)->mutable_attribute(0)->mutable_g();
    sought = &sought->node(last).attribute(0).g();
  }
  // All else is as it was.
  EXPECT_EQ(parsed.SerializeAsString(), bytes);
}

TEST(WireScanner, RefusesOrSurvivesTruncationAtEveryByte) {
  std::string bytes = exampleModel().SerializeAsString();
  for (size_t size = 0; size != bytes.size(); ++size)
    scan(bytes.substr(0, size));
  EXPECT_TRUE(scan(bytes));
}

TEST(WireScanner, RefusesOrSurvivesEveryFlippedBit) {
  std::string bytes = exampleModel().SerializeAsString();
  for (size_t i = 0; i != bytes.size(); ++i)
    for (int bit = 0; bit != 8; ++bit) {
      std::string flipped = bytes;
      flipped[i] ^= char(1 << bit);
      scan(flipped);
    }
}

TEST(WireScanner, RefusesOrSurvivesNoise) {
  std::mt19937 random(1);
  for (int i = 0; i != 20000; ++i) {
    std::string bytes(random() % 64, '\0');
    for (char &byte : bytes)
      byte = char(random());
    scan(bytes);
    // Noise where graphs are expected.
    scan(field(7, field(1, field(5, bytes))));
    scan(field(7, field(5, bytes)));
  }
}

TEST(WireScanner, RefusesDeepNesting) {
  std::string bytes;
  for (int i = 0; i != 20000; ++i)
    bytes = field(1, field(5, field(6, bytes)));
  llvm::Expected<std::string> stripped = stripRawData(field(7, bytes));
  ASSERT_FALSE(bool(stripped));
  EXPECT_NE(llvm::toString(stripped.takeError()).find("deeper than 100"),
            std::string::npos);
}

TEST(WireScanner, RefusesLengthsThatOverflow) {
  // A graph of 2^64 - 1 bytes.
  EXPECT_FALSE(scan("\x3a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"));
  // An integer of more than ten bytes.
  EXPECT_FALSE(scan("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"));
}
} // namespace
