// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules of cuTensorMapEncodeTiled, from the CUDA driver API's manual.

#include "PtxTensorMap.h"

#include <algorithm>
#include <cstring>

using namespace ashlar::ptx;

static constexpr uint64_t markOfAll = 0x70616d206d612054;

/// By CUtensorMapDataType: u8, u16, u32, s32, u64, s64, f16, f32, f64, bf16,
/// f32 and tf32 as they are or without their denormal numbers.
static constexpr uint8_t bytesOfTypes[] = {1, 2, 4, 4, 8, 8, 2,
                                           4, 8, 2, 4, 4, 4};
static bool isFloatType(int type) { return type >= 6; }

unsigned TensorMap::elementBytes() const { return bytesOfTypes[type]; }

uint64_t TensorMap::boxBytes() const {
  uint64_t bytes = rowBytes();
  for (unsigned k = 1; k < rank; ++k)
    bytes *= rowsOf(k);
  return bytes;
}

uint64_t TensorMap::sumOf() const {
  uint64_t words[15], made = 0x9e3779b97f4a7c15;
  std::memcpy(words, this, sizeof(words));
  for (uint64_t each : words)
    made = (made ^ each) * 0x100000001b3 + (made >> 29);
  return made;
}

bool TensorMap::isWhole() const { return mark == markOfAll && sum == sumOf(); }

std::string TensorMap::make(const TensorMapOptions &of, TensorMap &into) {
  auto at = [](const char *name, unsigned k) {
    return std::string(name) + "[" + std::to_string(k) + "]";
  };
  auto is = [](uint64_t value) { return " is " + std::to_string(value); };
  if (of.type < 0 || of.type >= int(sizeof(bytesOfTypes)))
    return "tensorDataType is none";
  if (of.interleave < 0 || of.interleave > 2)
    return "interleave is none";
  if (of.swizzle < 0 || of.swizzle > 3)
    return "swizzle is none";
  if (of.promotion < 0 || of.promotion > 3)
    return "l2Promotion is none";
  if (of.fill < 0 || of.fill > 1)
    return "oobFill is none";
  if (of.fill && !isFloatType(of.type))
    return "oobFill of NaN for a type of whole numbers";
  if (of.rank == 0 || of.rank > 5)
    return "tensorRank" + is(of.rank) + "; it is 1 to 5";
  if (of.interleave && of.rank < 3)
    return "tensorRank" + is(of.rank) +
           " with an interleaved layout; it is 3 "
           "at least";
  uint64_t align = of.interleave == 2 ? 32 : 16;
  if (of.address % align)
    return "globalAddress is not aligned to " + std::to_string(align) +
           " bytes";
  uint64_t bytes = bytesOfTypes[of.type];
  TensorMap made;
  for (unsigned k = 0; k < of.rank; ++k) {
    if (of.dims[k] == 0 || of.dims[k] > 1ull << 32)
      return at("globalDim", k) + is(of.dims[k]) + "; it is 1 to 2^32";
    if (of.box[k] == 0 || of.box[k] > 256)
      return at("boxDim", k) + is(of.box[k]) + "; it is 1 to 256";
    if (of.elementStrides[k] == 0 || of.elementStrides[k] > 8)
      return at("elementStrides", k) + is(of.elementStrides[k]) +
             "; it is 1 to 8";
    made.last[k] = uint32_t(of.dims[k] - 1);
    made.box[k] = uint16_t(of.box[k]);
    // Along the first one there is no stride, whatever is given.
    made.elementStrides[k] = k ? uint8_t(of.elementStrides[k]) : uint8_t(1);
  }
  for (unsigned k = 0; k + 1 < of.rank; ++k) {
    if (of.strides[k] % align || of.strides[k] >= 1ull << 40)
      return at("globalStrides", k) + is(of.strides[k]) +
             "; it is a multiple of " + std::to_string(align) +
             " and less than 2^40";
    uint64_t least = k ? of.strides[k - 1] : of.dims[0] * bytes;
    if (of.dims[k + 1] > 1 && of.strides[k] < least)
      return at("globalStrides", k) + is(of.strides[k]) + ", less than the " +
             std::to_string(least) + " bytes of the dimension before";
    made.strides[k] = of.strides[k];
  }
  uint64_t row = of.box[0] * bytes;
  if (!of.interleave && row % 16)
    return "boxDim[0] has " + std::to_string(row) +
           " bytes; expected a multiple of 16";
  if (!of.interleave && of.swizzle && row > 16ull << of.swizzle)
    return "boxDim[0] has " + std::to_string(row) + " bytes; the swizzle has " +
           std::to_string(16 << of.swizzle);
  if (of.interleave == 2 && of.swizzle != 1)
    return "an interleave of 32 bytes without a swizzle of 32 bytes";
  made.mark = markOfAll;
  made.address = of.address;
  made.rank = uint8_t(of.rank);
  made.type = uint8_t(of.type);
  made.interleave = uint8_t(of.interleave);
  made.swizzle = uint8_t(of.swizzle);
  made.fill = uint8_t(of.fill);
  made.sum = made.sumOf();
  into = made;
  return "";
}
