// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a comparison of a model with the target reference is asked for, in
// plain types for command lines.
#ifndef ASHLAR_CHECK_AGAINSTOPTIONS_H
#define ASHLAR_CHECK_AGAINSTOPTIONS_H

#include "ashlar/Driver/CompileOptions.h"
#include <functional>

namespace ashlar::check {

/// The bytes of one input of this type and shape. Returns why there are none;
/// empty: there are.
using InputSource = std::function<std::string(
    const std::string &name, uint32_t type, const std::vector<int64_t> &shape,
    std::vector<char> &bytes)>;

/// What is looked for by leaving out one after the other.
enum class Bisect { None, Fusion, Pass };

struct AgainstOptions {
  CompileOptions compile; ///< the model, target, shapes and flags
  InputSource input;
  /// Of floats, relative to the largest element of the value; negative: what
  /// its type can do.
  double tolerance = -1;
  std::string reproducer; ///< the folder to write; empty: none
  Bisect bisect = Bisect::None;
  std::string program; ///< how the user called us, for commands to repeat
};

} // namespace ashlar::check

#endif // ASHLAR_CHECK_AGAINSTOPTIONS_H
