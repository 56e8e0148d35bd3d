// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic on numbers that a file or a caller chose: false means overflow.

#ifndef ASHLAR_RUNTIME_LIB_CHECKEDMATH_H
#define ASHLAR_RUNTIME_LIB_CHECKEDMATH_H

#include <cstdint>

namespace ashlar::runtime {

/// False where it overflows.
template <typename T> [[nodiscard]] bool checkedAdd(T a, T b, T &out) {
  return !__builtin_add_overflow(a, b, &out);
}
/// The same.
template <typename T> [[nodiscard]] bool checkedMultiply(T a, T b, T &out) {
  return !__builtin_mul_overflow(a, b, &out);
}

/// Whether [offset, offset + size) lies inside [0, limit).
inline bool fits(uint64_t offset, uint64_t size, uint64_t limit) {
  return offset <= limit && size <= limit - offset;
}

/// Where `size` bytes at `offset` begin and end over all of `iterations` moves
/// by `stride`; false if that overflows.
[[nodiscard]] inline bool sweep(uint64_t offset, uint64_t size, int64_t stride,
                                int64_t iterations, int64_t &begin,
                                int64_t &end) {
  int64_t way = 0, last = 0, bytes = int64_t(size);
  begin = int64_t(offset);
  if (begin < 0 || bytes < 0 ||
      !checkedMultiply(stride, iterations > 0 ? iterations - 1 : 0, way) ||
      !checkedAdd(begin, way, last))
    return false;
  int64_t highest = last > begin ? last : begin;
  begin = last < begin ? last : begin;
  return checkedAdd(highest, bytes, end);
}

/// Whether all of that lies inside [0, limit).
[[nodiscard]] inline bool staysWithin(uint64_t offset, uint64_t size,
                                      int64_t stride, int64_t iterations,
                                      uint64_t limit) {
  int64_t begin = 0, end = 0;
  return sweep(offset, size, stride, iterations, begin, end) && begin >= 0 &&
         uint64_t(end) <= limit;
}

/// To a multiple; so much less than 2^64 that this does not overflow.
inline uint64_t alignUp(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_CHECKEDMATH_H
