// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic on numbers that a file or a caller chose: false means overflow.

#ifndef ASHLAR_RUNTIME_LIB_CHECKEDMATH_H
#define ASHLAR_RUNTIME_LIB_CHECKEDMATH_H

#include <cstdint>

namespace ashlar::runtime {

template <typename T> [[nodiscard]] bool checkedAdd(T a, T b, T &out) {
  return !__builtin_add_overflow(a, b, &out);
}
template <typename T> [[nodiscard]] bool checkedMultiply(T a, T b, T &out) {
  return !__builtin_mul_overflow(a, b, &out);
}

/// Whether [offset, offset + size) lies inside [0, limit).
inline bool fits(uint64_t offset, uint64_t size, uint64_t limit) {
  return offset <= limit && size <= limit - offset;
}

inline uint64_t alignUp(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_CHECKEDMATH_H
