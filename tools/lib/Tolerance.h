// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a flag for a tolerance or a time accepts.

#ifndef ASHLAR_TOOLS_LIB_TOLERANCE_H
#define ASHLAR_TOOLS_LIB_TOLERANCE_H

#include <CLI/CLI.hpp>

#include <cmath>

namespace ashlar::tools {

/// A finite number that `accepts` takes. CLI11's own checks let NaN pass, and
/// nothing is larger than that.
struct FiniteNumber : CLI::Validator {
  FiniteNumber(bool (*accepts)(double), const std::string &expected)
      : CLI::Validator("NUMBER") {
    func_ = [=](std::string &text) -> std::string {
      double value = 0;
      if (CLI::detail::lexical_cast(text, value) && std::isfinite(value) &&
          accepts(value))
        return "";
      return "'" + text + "' is not a number " + expected;
    };
  }
};

struct FiniteNotNegative : FiniteNumber {
  FiniteNotNegative()
      : FiniteNumber([](double value) { return value >= 0; }, "from 0 on") {}
};

struct FinitePositive : FiniteNumber {
  FinitePositive()
      : FiniteNumber([](double value) { return value > 0; }, "above 0") {}
};

} // namespace ashlar::tools

#endif // ASHLAR_TOOLS_LIB_TOLERANCE_H
