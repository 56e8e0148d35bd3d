// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all that contains exp(x) = 2^n exp(r), r = x - n ln 2, |r| <= ln(2) / 2,
// begins with.
//
// To round x / ln 2, a number so large is added that only whole ones fit behind
// it, and subtracted again. Of the sum's bits the lowest count those whole
// ones: the large number ends in 127 + bias, so a shift puts the exponent of
// 2^(n + bias) in its place.
#ifndef ASHLAR_LIB_TRANSFORMS_APPROXIMATE_POWERSOFTWO_H
#define ASHLAR_LIB_TRANSFORMS_APPROXIMATE_POWERSOFTWO_H

#include "FloatBuilder.h"

namespace ashlar {

constexpr float log2OfE = 0x1.715476p+0f;
constexpr float ln2 = 0x1.62e430p-1f;
/// ln 2 in two parts. Products of the first with n < 2^14 are exact.
constexpr float ln2High = 0x1.63p-1f, ln2Low = -0x1.bd0106p-13f;

/// 1.5 * 2^23 + 127 + bias.
constexpr float roundingShift(int bias) { return 0x1.8p+23f + 127 + bias; }

struct PowerOfTwo {
  mlir::Value n;     ///< whole, as a float
  mlir::Value scale; ///< 2^(n + bias); -127 < n + bias < 128
};

/// x `perUnit`, rounded to n; `shift` is roundingShift(bias) everywhere.
inline PowerOfTwo splitPower(FloatBuilder &f, mlir::Value x, float perUnit,
                             mlir::Value shift) {
  mlir::Value sum = f.fma(x, f.constant(perUnit), shift);
  return {f.sub(sum, shift), f.fromBits(f.shiftLeft(f.bits(sum), 23))};
}

/// x - n ln 2 as exactly as r needs where n is any exponent of an f32.
inline mlir::Value subtractLn2(FloatBuilder &f, mlir::Value x, mlir::Value n) {
  mlir::Value r = f.fma(n, f.constant(-ln2High), x);
  return f.fma(n, f.constant(-ln2Low), r);
}

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_APPROXIMATE_POWERSOFTWO_H
