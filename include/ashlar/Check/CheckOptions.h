// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How tests are checked, in plain types for command lines.
#ifndef ASHLAR_CHECK_CHECKOPTIONS_H
#define ASHLAR_CHECK_CHECKOPTIONS_H

#include "ashlar/Driver/CompileOptions.h"

namespace ashlar::check {

/// Those of ONNX's own runner.
struct Tolerance {
  double relative = 1e-3;
  double absolute = 1e-7;
};

struct CheckOptions {
  std::vector<TargetRequest> targets = {{"cpu", "host"}};
  /// The low type of the rules.
  NumberType precision = NumberType::F32;
  Tolerance tolerance;
  unsigned jobs = 0;           ///< 0: as many as there are processors
  double timeoutSeconds = 120; ///< for one test
  bool showLogs = false;       ///< what the compiler says goes to stderr
};

} // namespace ashlar::check

#endif // ASHLAR_CHECK_CHECKOPTIONS_H
