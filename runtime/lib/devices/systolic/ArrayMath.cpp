// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A few rows and columns of sums stay in registers while k goes by. Compiled
// without contraction: a fused product would round differently.

#include "ArrayMath.h"

#if defined(__SSE2__)
#include <cstring>
#include <emmintrin.h>
#endif

namespace ashlar::systolic {

namespace {
template <size_t Rows, size_t Columns>
void block(const float *a, size_t aStride, const float *b, float *sums,
           size_t stride, size_t depth) {
  float sum[Rows][Columns];
  for (size_t i = 0; i < Rows; ++i)
    for (size_t j = 0; j < Columns; ++j)
      sum[i][j] = sums[i * stride + j];
  for (size_t k = 0; k < depth; ++k)
    for (size_t i = 0; i < Rows; ++i)
      for (size_t j = 0; j < Columns; ++j)
        sum[i][j] += a[i * aStride + k] * b[k * stride + j];
  for (size_t i = 0; i < Rows; ++i)
    for (size_t j = 0; j < Columns; ++j)
      sums[i * stride + j] = sum[i][j];
}

// Inputs have 8 bits, so that the sum of one pair cannot overflow.
#if defined(__SSE2__)
// Four columns at once: an instruction for sums of pairs, which compilers do
// not find.
template <size_t Rows, size_t Columns>
void block(const int16_t *a, size_t aStride, const int16_t *b, int32_t *sums,
           size_t stride, size_t depth) {
  constexpr size_t vectors = Columns / 4;
  auto at = [&](size_t i, size_t j) {
    return reinterpret_cast<__m128i *>(sums + i * stride + 4 * j);
  };
  __m128i sum[Rows][vectors];
  for (size_t i = 0; i < Rows; ++i)
    for (size_t j = 0; j < vectors; ++j)
      sum[i][j] = _mm_loadu_si128(at(i, j));
  for (size_t k = 0; k < depth; k += 2) {
    auto *pairs = reinterpret_cast<const __m128i *>(b + k * stride);
    for (size_t i = 0; i < Rows; ++i) {
      int32_t pair;
      std::memcpy(&pair, a + i * aStride + k, sizeof(pair));
      for (size_t j = 0; j < vectors; ++j)
        sum[i][j] = _mm_add_epi32(
            sum[i][j],
            _mm_madd_epi16(_mm_set1_epi32(pair), _mm_loadu_si128(pairs + j)));
    }
  }
  for (size_t i = 0; i < Rows; ++i)
    for (size_t j = 0; j < vectors; ++j)
      _mm_storeu_si128(at(i, j), sum[i][j]);
}
#else
template <size_t Rows, size_t Columns>
void block(const int16_t *a, size_t aStride, const int16_t *b, int32_t *sums,
           size_t stride, size_t depth) {
  uint32_t sum[Rows][Columns];
  for (size_t i = 0; i < Rows; ++i)
    for (size_t j = 0; j < Columns; ++j)
      sum[i][j] = uint32_t(sums[i * stride + j]);
  for (size_t k = 0; k < depth; k += 2)
    for (size_t i = 0; i < Rows; ++i) {
      int32_t first = a[i * aStride + k], second = a[i * aStride + k + 1];
      const int16_t *pair = b + k * stride;
      for (size_t j = 0; j < Columns; ++j)
        sum[i][j] += uint32_t(first * pair[2 * j] + second * pair[2 * j + 1]);
    }
  for (size_t i = 0; i < Rows; ++i)
    for (size_t j = 0; j < Columns; ++j)
      sums[i * stride + j] = int32_t(sum[i][j]);
}
#endif

template <typename Element, typename Sum>
void multiply(const Element *a, size_t aStride, const Element *b, Sum *sums,
              size_t stride, size_t rows, size_t depth, size_t columns,
              size_t bStep) {
  // As many sums as 16 vector registers hold beside the operands.
  constexpr size_t height = 4, width = 8;
  for (size_t j = 0; j < columns; j += width) {
    size_t i = 0;
    for (; i + height <= rows; i += height)
      block<height, width>(a + i * aStride, aStride, b + j * bStep,
                           sums + i * stride + j, stride, depth);
    for (; i < rows; ++i)
      block<1, width>(a + i * aStride, aStride, b + j * bStep,
                      sums + i * stride + j, stride, depth);
  }
}
} // namespace

void multiplyAdd(const float *a, size_t aStride, const float *b, float *sums,
                 size_t stride, size_t rows, size_t depth, size_t columns) {
  multiply(a, aStride, b, sums, stride, rows, depth, columns, 1);
}

void multiplyAdd(const int16_t *a, size_t aStride, const int16_t *b,
                 int32_t *sums, size_t stride, size_t rows, size_t depth,
                 size_t columns) {
  multiply(a, aStride, b, sums, stride, rows, depth, columns, 2);
}

} // namespace ashlar::systolic
