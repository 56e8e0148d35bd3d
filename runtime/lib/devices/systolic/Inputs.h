// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The two kinds of inputs and what an array makes of them.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_SYSTOLIC_INPUTS_H
#define ASHLAR_RUNTIME_LIB_DEVICES_SYSTOLIC_INPUTS_H

#include "Function.h"
#include "Numbers.h"

namespace ashlar::systolic {

/// bf16 in, f32 sums.
struct BF16 {
  using Stored = uint16_t; // in the scratchpad
  using Factor = float;    // as ArrayMath takes it
  using Sum = float;       // in the accumulator
  static constexpr bool isInteger = false;

  /// For the array.
  static Factor factor(Stored value) { return fromBF16(value); }
  /// For the accumulator.
  static Sum widen(Stored value) { return fromBF16(value); }
  static Sum add(Sum a, Sum b) { return a + b; }
  /// Activated, and only then scaled.
  static Stored scaled(Sum value, float scale, bool relu) {
    return toBF16((relu && value < 0 ? 0 : value) * scale);
  }
  /// Activated; there is nothing to shift.
  static Stored shifted(Sum value, uint32_t, bool relu) {
    return toBF16(relu && value < 0 ? 0 : value);
  }
  /// On the way in.
  static Stored scaleInput(Stored value, float scale) {
    return scale == 1 ? value : toBF16(fromBF16(value) * scale);
  }
  static bool isLess(Stored a, Stored b) { return fromBF16(a) < fromBF16(b); }
  /// Below all, for maxima.
  static Stored least() { return 0xff80; }
};

/// Bytes in, sums of 32 bits that wrap; roles are those of BF16.
struct S8 {
  using Stored = int8_t;
  using Factor = int16_t;
  using Sum = int32_t;
  static constexpr bool isInteger = true;

  static Factor factor(Stored value) { return value; }
  static Sum widen(Stored value) { return value; }
  static Sum add(Sum a, Sum b) { return addWrapping(a, b); }
  static Stored scaled(Sum value, float scale, bool relu) {
    Sum activated = relu && value < 0 ? 0 : value;
    return Stored(roundTo(float(activated) * scale, -128, 127));
  }
  static Stored shifted(Sum value, uint32_t shift, bool relu) {
    int32_t narrow = saturate(shiftRounding(value, shift), -128, 127);
    return Stored(relu && narrow < 0 ? 0 : narrow);
  }
  static Stored scaleInput(Stored value, float scale) {
    return scale == 1 ? value : scaled(value, scale, false);
  }
  static bool isLess(Stored a, Stored b) { return a < b; }
  static Stored least() { return -128; }
};

/// One array's registers.
template <typename Input> struct Function::Array {
  using Factor = typename Input::Factor;
  using Sum = typename Input::Sum;

  /// What preload took, and what is in use. Weight-stationary: B as ArrayMath
  /// wants it.
  struct Weights {
    Vector<Factor> values;
    uint32_t rows = 0, columns = 0;
  };
  Weights pending, current;
  /// Output-stationary: D, and the sums in the array.
  Vector<Sum> pendingSums, sums;
  bool pendingIsSums = false;               // what preload took is D
  bool hasWeights = false, hasSums = false; // in use
};

/// Of both kinds, of which a machine uses one.
struct Function::Arrays {
  ASHLAR_OWN_NEW
  Array<BF16> bf16[ASHLAR_SYSTOLIC_MAX_ARRAYS];
  Array<S8> s8[ASHLAR_SYSTOLIC_MAX_ARRAYS];

  template <typename Input> Array<Input> &at(uint32_t index);
};
template <>
inline Function::Array<BF16> &Function::Arrays::at<BF16>(uint32_t index) {
  return bf16[index];
}
template <>
inline Function::Array<S8> &Function::Arrays::at<S8>(uint32_t index) {
  return s8[index];
}

template <typename T> T loadAs(const uint8_t *from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}
template <typename T> void storeAs(uint8_t *to, T value) {
  std::memcpy(to, &value, sizeof(T));
}

} // namespace ashlar::systolic

#endif // ASHLAR_RUNTIME_LIB_DEVICES_SYSTOLIC_INPUTS_H
