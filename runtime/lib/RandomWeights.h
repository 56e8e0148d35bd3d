// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights that are numbers of a seed: what the compiler means by --weights=
// random and what the loader makes. Each element follows from its place alone,
// by whole numbers and one multiplication, so that it is the same everywhere.
#ifndef ASHLAR_RUNTIME_LIB_RANDOMWEIGHTS_H
#define ASHLAR_RUNTIME_LIB_RANDOMWEIGHTS_H

#include <cstdint>

namespace ashlar {

/// The last step of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): each bit
/// of the result depends on all of x.
inline uint64_t mixBits(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// Of elements with this standard deviation in units of `scale`; about normal,
/// as the sum of four numbers that are equally likely.
constexpr double randomDeviation = 37837.2;

/// Element `element` of the constant `number`, before it is rounded to a
/// smaller type. Sums of four 16-bit numbers are exact in f32.
inline float randomElement(uint64_t seed, uint64_t number, uint64_t element,
                           float scale) {
  uint64_t bits =
      mixBits(mixBits(mixBits(seed) + number) + element * 0x9e3779b97f4a7c15u);
  int32_t sum = int32_t(bits & 0xffff) + int32_t(bits >> 16 & 0xffff) +
                int32_t(bits >> 32 & 0xffff) + int32_t(bits >> 48) - 131070;
  return float(sum) * scale;
}

} // namespace ashlar

#endif // ASHLAR_RUNTIME_LIB_RANDOMWEIGHTS_H
