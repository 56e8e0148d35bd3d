// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a flag for a tolerance or a time accepts.

#ifndef ASHLAR_TOOLS_LIB_TOLERANCE_H
#define ASHLAR_TOOLS_LIB_TOLERANCE_H

#include <CLI/CLI.hpp>

#include <cmath>

namespace ashlar::tools {

/// A finite number that is not negative. CLI11's own check lets NaN pass, and
/// nothing is larger than that.
struct FiniteNotNegative : CLI::Validator {
  FiniteNotNegative() : CLI::Validator("NUMBER") {
    func_ = [](std::string &text) -> std::string {
      double value = 0;
      if (CLI::detail::lexical_cast(text, value) && std::isfinite(value) &&
          value >= 0)
        return "";
      return "'" + text + "' is not a number from 0 on";
    };
  }
};

/// A finite number above zero.
struct FinitePositive : CLI::Validator {
  FinitePositive() : CLI::Validator("NUMBER") {
    func_ = [](std::string &text) -> std::string {
      double value = 0;
      if (CLI::detail::lexical_cast(text, value) && std::isfinite(value) &&
          value > 0)
        return "";
      return "'" + text + "' is not a number above 0";
    };
  }
};

} // namespace ashlar::tools

#endif // ASHLAR_TOOLS_LIB_TOLERANCE_H
