// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Control flow between kernels. An scf.if or scf.while on tensors in the body
// of an entry, and an scf.for that says so, becomes commands: its blocks hold
// dispatches like the entry itself. Any other is part of a kernel.
//
//   %c = tensor.extract %flag[] : tensor<i1>     conditions come from memory
//   %y = scf.if %c -> (tensor<4xf32>) { ... scf.yield } else { ... }
//
//   %s = scf.for %i = %c0 to %c9 step %c1 iter_args(...) { ... }
//   {exec.commands}
//
// The steps of such a loop may take rows from tensors, and put rows into one
// that they carry, at the loop's own counter.
#ifndef ASHLAR_DIALECTS_EXEC_UTILS_CONTROLFLOW_H
#define ASHLAR_DIALECTS_EXEC_UTILS_CONTROLFLOW_H

#include "mlir/IR/Operation.h"

namespace ashlar {

/// On an scf.for that is control flow between kernels.
inline constexpr llvm::StringLiteral commandsAttrName = "exec.commands";

/// In exec.attribute_sizes of such a loop: where it ends, if that is a size
/// that a caller chooses.
inline constexpr llvm::StringLiteral upperBoundName = "upperBound";

bool isControlFlow(mlir::Operation *op);

/// Part of control flow: conditions, ends of blocks, rows of a loop.
bool servesControlFlow(mlir::Operation *op);

/// The tensor of one element that a condition is read from, or null.
mlir::Value conditionTensor(mlir::Value condition);

/// A row of a tensor at the counter of the loop around it, taken or put.
bool isLoopSlice(mlir::Operation *op);

/// Commands that keep their place: what runs before them, runs before them.
bool isFence(mlir::Operation *op);

} // namespace ashlar

#endif // ASHLAR_DIALECTS_EXEC_UTILS_CONTROLFLOW_H
