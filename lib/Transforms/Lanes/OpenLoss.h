// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What vectors that serve all sizes cost at the least ones. They have lanes for
// long rows, and where a stride is a size they may go along another dim, or be
// none at all.
#ifndef ASHLAR_LIB_TRANSFORMS_LANES_OPENLOSS_H
#define ASHLAR_LIB_TRANSFORMS_LANES_OPENLOSS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ashlar {

/// Tells by a remark where a kernel of open sizes, whose structured ops become
/// vectors of `vectorBytes`, is predicted to take more than 1.2 times as long
/// at the least sizes as one for these alone. Silent where nobody listens.
void explainOpenLoss(mlir::func::FuncOp kernel, int64_t vectorBytes,
                     int64_t registers);

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_LANES_OPENLOSS_H
