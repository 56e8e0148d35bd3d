// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which code each of NVIDIA's chips is given, of a module that has much: its
// own machine code, else that of a lower minor of its major, else the newest
// PTX that it takes.

#include "devices/cuda/CudaChips.h"
#include "devices/cuda/CubinImage.h"

#include <gtest/gtest.h>
#include <vector>

using namespace ashlar::runtime::cuda;

namespace {

/// A program as the compiler makes it: machine code and PTX for a chip, or PTX
/// alone.
struct Program {
  const char *chip;
  bool hasCode;
};

bool has(std::string_view features, const std::string &wanted) {
  std::string all = "," + std::string(features) + ",";
  return all.find("," + wanted + ",") != std::string::npos;
}

/// "cubin-sm_80", "ptx sm_80" or "none".
std::string chosen(int chip, const std::vector<Program> &programs) {
  std::string best = "none";
  uint32_t most = 0;
  for (const Program &program : programs) {
    if (!has(featuresOf(chip), program.chip))
      continue;
    std::string code = std::string("cubin-") + program.chip;
    bool isCode = program.hasCode && takes(chip, code);
    std::string format = isCode ? code : "ptx";
    uint32_t found = rank(format, program.chip);
    if (found > most) {
      most = found;
      best = isCode ? code : std::string("ptx ") + program.chip;
    }
  }
  return best;
}

TEST(CudaChips, EachIsGivenWhatSuitsItBest) {
  const std::vector<Program> usual = {{"sm_80", true}, {"sm_90a", true}};
  const std::vector<Program> all = {{"sm_80", true},   {"sm_86", true},
                                    {"sm_90", false},  {"sm_90a", true},
                                    {"sm_100", true},  {"sm_100a", true},
                                    {"sm_100f", true}, {"sm_120", false}};
  const struct {
    int chip;
    const char *ofUsual, *ofAll;
  } table[] = {
      {75, "none", "none"},
      {80, "cubin-sm_80", "cubin-sm_80"},
      {86, "cubin-sm_80", "cubin-sm_86"},
      {87, "cubin-sm_80", "cubin-sm_86"},
      {89, "cubin-sm_80", "cubin-sm_86"},
      {90, "cubin-sm_90a", "cubin-sm_90a"},
      {100, "ptx sm_80", "cubin-sm_100a"},
      {101, "ptx sm_80", "cubin-sm_100f"},
      {103, "ptx sm_80", "cubin-sm_100f"},
      {120, "ptx sm_80", "ptx sm_120"},
      {121, "ptx sm_80", "ptx sm_120"},
  };
  for (const auto &row : table) {
    EXPECT_EQ(chosen(row.chip, usual), row.ofUsual) << row.chip;
    EXPECT_EQ(chosen(row.chip, all), row.ofAll) << row.chip;
  }
}

TEST(CudaChips, MachineCodeStaysWithinItsMajor) {
  EXPECT_TRUE(takes(86, "cubin-sm_80"));
  EXPECT_FALSE(takes(80, "cubin-sm_86"));
  EXPECT_FALSE(takes(90, "cubin-sm_89"));
  EXPECT_TRUE(takes(103, "cubin-sm_100f"));
  EXPECT_FALSE(takes(120, "cubin-sm_100f"));
}

TEST(CudaChips, WhatIsForOneKindAloneGoesNowhereElse) {
  EXPECT_TRUE(takes(90, "cubin-sm_90a"));
  EXPECT_FALSE(takes(103, "cubin-sm_100a"));
  EXPECT_FALSE(takes(121, "cubin-sm_120a"));
  EXPECT_FALSE(has(featuresOf(103), "sm_100a"));
  EXPECT_TRUE(has(featuresOf(103), "sm_103a"));
  EXPECT_TRUE(has(featuresOf(103), "sm_100f"));
  EXPECT_FALSE(has(featuresOf(90), "sm_100"));
  EXPECT_FALSE(has(featuresOf(80), "sm_80a"));
}

TEST(CudaChips, OtherFormatsAreNotTaken) {
  for (const char *format :
       {"", "cubin", "cubin-", "cubin-sm_", "cubin-sm_x", "cubin-sm_80ax",
        "cubin-sm_80z", "cubin-sm_99999999999999", "PTX", "spirv64"})
    EXPECT_FALSE(takes(80, format)) << format;
}

// Bytes that are no such file have no kernels, and nothing is read beyond them.
TEST(CubinImage, BytesAreNotTrusted) {
  std::string image(64, '\0');
  image.replace(0, 4,
                "\x7f"
                "ELF");
  EXPECT_TRUE(isCubin(image));
  EXPECT_EQ(countCubinParameters(image, "k"), -1);
  for (size_t i = 4; i < image.size(); ++i)
    for (int value : {1, 0x7f, 0xff}) {
      std::string other = image;
      other[i] = char(value);
      EXPECT_EQ(countCubinParameters(other, "k"), -1);
      EXPECT_EQ(countCubinParameters(other.substr(0, i), "k"), -1);
    }
  EXPECT_FALSE(isCubin(".version 7.0"));
  EXPECT_FALSE(isCubin(""));
}

} // namespace
