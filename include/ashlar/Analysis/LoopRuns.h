// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_ANALYSIS_LOOPRUNS_H
#define ASHLAR_ANALYSIS_LOOPRUNS_H

#include "mlir/IR/Operation.h"

namespace ashlar {

/// How often the loops around an op and inside of `within` run it, such as
/// those over time; all loops where that is null. A loop of which that is not
/// known counts once.
int64_t countRuns(mlir::Operation *op, mlir::Operation *within = nullptr);

} // namespace ashlar

#endif // ASHLAR_ANALYSIS_LOOPRUNS_H
