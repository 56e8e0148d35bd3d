// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The inputs that a program of mixed precision is measured on, in plain types.
#ifndef ASHLAR_CALIBRATE_CALIBRATIONINPUTS_H
#define ASHLAR_CALIBRATE_CALIBRATIONINPUTS_H

#include "ashlar/Support/Refusal.h"
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ashlar {

struct CalibrationInputs {
  /// The bytes of one input of set `set`; its number among the model's inputs,
  /// name, type (ashlar_element_type_t) and shape are those that the program
  /// wants. Returns why there are none.
  using Source = std::function<Refusal(
      size_t set, size_t number, const std::string &name, uint32_t type,
      const std::vector<int64_t> &shape, std::vector<char> &bytes)>;
  size_t sets = 0; ///< 0: there is no source, and inputs are made up
  Source source;
};

} // namespace ashlar

#endif // ASHLAR_CALIBRATE_CALIBRATIONINPUTS_H
