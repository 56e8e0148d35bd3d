// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Roundings other than to nearest, by the processor. The operands are volatile
// so that nothing is computed before the rounding is set.

#include "PtxFloatOps.h"

#include <cfenv>

using namespace ashlar::ptx;

namespace {
class Mode {
public:
  explicit Mode(Rounding rounding) : before(std::fegetround()) {
    std::fesetround(rounding == Rounding::Zero   ? FE_TOWARDZERO
                    : rounding == Rounding::Down ? FE_DOWNWARD
                    : rounding == Rounding::Up   ? FE_UPWARD
                                                 : FE_TONEAREST);
  }
  ~Mode() { std::fesetround(before); }

private:
  int before;
};
} // namespace

template <class T> T ashlar::ptx::roundedSum(T a, T b, Rounding rounding) {
  volatile T x = a, y = b, result;
  Mode mode(rounding);
  result = x + y;
  return result;
}
template <class T> T ashlar::ptx::roundedProduct(T a, T b, Rounding rounding) {
  volatile T x = a, y = b, result;
  Mode mode(rounding);
  result = x * y;
  return result;
}
template <class T> T ashlar::ptx::roundedQuotient(T a, T b, Rounding rounding) {
  volatile T x = a, y = b, result;
  Mode mode(rounding);
  result = x / y;
  return result;
}
template <class T> T ashlar::ptx::roundedFma(T a, T b, T c, Rounding rounding) {
  volatile T x = a, y = b, z = c, result;
  Mode mode(rounding);
  result = std::fma(x, y, z);
  return result;
}
template <class T> T ashlar::ptx::roundedSqrt(T a, Rounding rounding) {
  volatile T x = a, result;
  Mode mode(rounding);
  result = std::sqrt(x);
  return result;
}

#define ASHLAR_PTX_ROUNDED(T)                                                  \
  template T ashlar::ptx::roundedSum(T, T, Rounding);                          \
  template T ashlar::ptx::roundedProduct(T, T, Rounding);                      \
  template T ashlar::ptx::roundedQuotient(T, T, Rounding);                     \
  template T ashlar::ptx::roundedFma(T, T, T, Rounding);                       \
  template T ashlar::ptx::roundedSqrt(T, Rounding);
ASHLAR_PTX_ROUNDED(float)
ASHLAR_PTX_ROUNDED(double)
