// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TARGETS_SYSTOLIC_ARRAYSTEPS_H
#define ASHLAR_LIB_TARGETS_SYSTOLIC_ARRAYSTEPS_H

#include "StreamWriter.h"

namespace ashlar::systolic {

/// What an array is told at once: a preload and a compute.
struct ArrayStep {
  Fold piece;
  int64_t fold;         ///< of those that it is a piece of
  bool isFirst, isLast; ///< as StreamWriter::foldPiece takes them
};

/// All steps of folds into the same results, in order. Weight-stationary, all
/// rows go over a matrix before the next one comes; output-stationary, all
/// terms of an array's rows go by before the next rows.
std::vector<ArrayStep> arraySteps(const std::vector<Fold> &folds,
                                  const StreamWriter &writer);

} // namespace ashlar::systolic

#endif // ASHLAR_LIB_TARGETS_SYSTOLIC_ARRAYSTEPS_H
