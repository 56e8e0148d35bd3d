// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dense loops of the arrays.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_SYSTOLIC_ARRAYMATH_H
#define ASHLAR_RUNTIME_LIB_DEVICES_SYSTOLIC_ARRAYMATH_H

#include <cstddef>
#include <cstdint>

namespace ashlar::systolic {

/// Sums are padded to this many columns.
constexpr size_t sumBlock = 16;

/// sums[i][j] += a[i][k] * b[k][j], each product rounded, then each addition,
/// k ascending. Rows of b and sums are `stride` apart, a multiple of sumBlock;
/// `columns` are computed, rounded up to it.
void multiplyAdd(const float *a, size_t aStride, const float *b, float *sums,
                 size_t stride, size_t rows, size_t depth, size_t columns);

/// The same modulo 2^32. `depth` is even and rows k and k + 1 of b alternate,
/// element by element, in one row of 2 * stride.
void multiplyAdd(const int16_t *a, size_t aStride, const int16_t *b,
                 int32_t *sums, size_t stride, size_t rows, size_t depth,
                 size_t columns);

} // namespace ashlar::systolic

#endif // ASHLAR_RUNTIME_LIB_DEVICES_SYSTOLIC_ARRAYMATH_H
