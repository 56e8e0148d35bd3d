// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_DRIVER_SIZECONSTANTS_H
#define ASHLAR_LIB_DRIVER_SIZECONSTANTS_H

#include "mlir/IR/BuiltinOps.h"

namespace ashlar {

/// After fuse: each use of an integer in a kernel gets a constant of its own.
/// Two sizes that are equal at some sizes alone, such as the ends of two loops,
/// would share one there.
void separateConstants(mlir::ModuleOp program);

/// After fuse, with formulas: a tensor of sizes, such as what Shape returns, is
/// no weight of the file, which would have those of the largest sizes, but is
/// computed by each call.
void computeSizeConstants(mlir::ModuleOp program);

} // namespace ashlar

#endif // ASHLAR_LIB_DRIVER_SIZECONSTANTS_H
