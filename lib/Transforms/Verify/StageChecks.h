// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What holds after each stage, as far as it can be read off the IR. Each check
// emits one error, with expected and found, at the first op that is wrong.
#ifndef ASHLAR_LIB_TRANSFORMS_VERIFY_STAGECHECKS_H
#define ASHLAR_LIB_TRANSFORMS_VERIFY_STAGECHECKS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace ashlar {

/// import: public functions on tensors; names on everything.
mlir::LogicalResult checkImported(mlir::ModuleOp module);
/// simplify: the same with static shapes; constants may have lost their names.
mlir::LogicalResult checkSimplified(mlir::ModuleOp module);
/// place: nothing but programs, each with a target.
mlir::LogicalResult checkPrograms(mlir::ModuleOp module);
/// precision: every tensor has integers or floats as elements.
mlir::LogicalResult checkElementTypes(mlir::ModuleOp program);
/// fuse: entries hold nothing but constants, views and dispatches.
mlir::LogicalResult checkDispatches(mlir::ModuleOp program);
/// tile: entries invoke kernels; kernels are loops on the memory they get.
mlir::LogicalResult checkKernels(mlir::ModuleOp program);
/// schedule: programs whose commands read what was written, within bounds.
mlir::LogicalResult checkCommands(mlir::ModuleOp program);

/// The body of `entry` is constants, views, `kernelOp` and a return.
mlir::LogicalResult checkEntryBody(mlir::func::FuncOp entry,
                                   llvm::StringRef kernelOp);
/// Linalg, tensor, arith, math and scf, index arithmetic of affine.
bool isTensorCode(mlir::Operation *op);

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_VERIFY_STAGECHECKS_H
