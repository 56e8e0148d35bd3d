// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers' fields, and numbers in messages.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_SYSTOLIC_FIELDS_H
#define ASHLAR_RUNTIME_LIB_DEVICES_SYSTOLIC_FIELDS_H

#include <cstdint>
#include <string>

namespace ashlar::systolic {

/// `count` bits from bit `low` on.
inline uint32_t bits(uint64_t value, unsigned low, unsigned count) {
  return uint32_t(value >> low & ((uint64_t(1) << count) - 1));
}

inline std::string text(int64_t value) { return std::to_string(value); }

} // namespace ashlar::systolic

#endif // ASHLAR_RUNTIME_LIB_DEVICES_SYSTOLIC_FIELDS_H
