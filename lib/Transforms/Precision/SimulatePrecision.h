// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TRANSFORMS_PRECISION_SIMULATEPRECISION_H
#define ASHLAR_LIB_TRANSFORMS_PRECISION_SIMULATEPRECISION_H

#include "PrecisionGraph.h"

namespace ashlar {

/// Rounds in place what the decisions would give a low type, wherever the
/// function's new last input, a tensor with an element for each site, is not
/// zero. Adds the sites to `decisions`.
void simulatePrecision(const PrecisionGraph &graph, mlir::func::FuncOp function,
                       PrecisionDecisions &decisions);

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_PRECISION_SIMULATEPRECISION_H
