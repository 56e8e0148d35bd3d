// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A model's kernels with their contractions written out by their strategies,
// interpreted beside the contractions themselves: no target takes part.
#ifndef ASHLAR_CHECK_LEVELS_H
#define ASHLAR_CHECK_LEVELS_H

#include "ashlar/Driver/CompileOptions.h"
#include "llvm/Support/Error.h"

namespace ashlar::check {

struct LevelsReport {
  struct Kernel {
    std::string name, why;
  };
  size_t right = 0;
  double worst = 0; ///< of those: relative to the largest of a buffer
  std::vector<Kernel> wrong, leftOut;
};

/// Interprets the kernels of a model; what refuses the model is an error.
/// `tolerance` of floats; negative: what single precision can do.
llvm::Expected<LevelsReport> compareLevels(CompileOptions options,
                                           double tolerance);

/// A line a finding.
std::string spell(const LevelsReport &report);

} // namespace ashlar::check

#endif // ASHLAR_CHECK_LEVELS_H
