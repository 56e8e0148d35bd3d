// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_DRIVER_SIZECONSTANTS_H
#define ASHLAR_LIB_DRIVER_SIZECONSTANTS_H

#include "mlir/IR/BuiltinOps.h"

namespace ashlar {

/// After fuse, with formulas: a tensor of sizes, such as what Shape returns, is
/// no weight of the file, which would have those of the largest sizes, but is
/// computed by each call.
void computeSizeConstants(mlir::ModuleOp program);

} // namespace ashlar

#endif // ASHLAR_LIB_DRIVER_SIZECONSTANTS_H
