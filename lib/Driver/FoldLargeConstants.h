// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_DRIVER_FOLDLARGECONSTANTS_H
#define ASHLAR_LIB_DRIVER_FOLDLARGECONSTANTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ashlar {

/// How the names of resources begin that are such values.
inline constexpr llvm::StringLiteral foldedName = "folded";

/// Replaces what depends on constants only, and is too large to be folded as
/// attributes, by its value: the expressions are compiled and run here. What
/// would be larger than the constants it comes from stays as it is; so does
/// what takes more than maximumSteps of loops, all together, or makes a tensor
/// larger than maximumBytes and than what it comes from. Equal on every
/// machine: the target reference computes in the order of the definition,
/// without fused products, and where that would take long, a target for
/// constants in an order that is fixed.
/// `refused` is set when the machine is at fault and not the compiler.
mlir::LogicalResult foldLargeConstants(mlir::func::FuncOp function,
                                       unsigned threads, bool &refused);

} // namespace ashlar

#endif // ASHLAR_LIB_DRIVER_FOLDLARGECONSTANTS_H
