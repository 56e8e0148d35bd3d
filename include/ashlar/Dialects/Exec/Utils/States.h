// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// States: an argument of an entry and the result that it becomes, which have
// one place in the caller's memory. Their tensors are of the largest size that
// the state ever has, so that what lies there stays when it grows; ops read and
// write the part that there is.
//
//   func.func @main(%past: tensor<1x4x9x16xf32> {exec.state_shape = [1, 4, P,
//   16]},
//                   %new: tensor<1x4x1x16xf32>)
//       -> (tensor<1x4x9x16xf32> {exec.state = 0, exec.state_shape = ...}) {
//     %old = tensor.extract_slice %past[0, 0, 0, 0] [1, 4, P, 16] [1, 1, 1, 1]
//     %all = tensor.insert_slice %new into %past[0, 0, P, 0] ...
//     return %all
#ifndef ASHLAR_DIALECTS_EXEC_UTILS_STATES_H
#define ASHLAR_DIALECTS_EXEC_UTILS_STATES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <optional>

namespace ashlar {

/// On an argument of an entry that --state names, until form-states: the name
/// of the result (string) and the largest shape (array of i64; empty: that of
/// the result), a dictionary of `output` and `shape`.
inline constexpr llvm::StringLiteral stateOfAttrName = "ashlar.state";
/// On both ends of a state: the shape that a caller sees (array of i64); where
/// it has symbols, `exec.state_sizes`, an array of SizeAttr, counts.
inline constexpr llvm::StringLiteral stateShapeAttrName = "exec.state_shape";
inline constexpr llvm::StringLiteral stateSizesAttrName = "exec.state_sizes";
/// On a result that is a state: the number of the argument (i64).
inline constexpr llvm::StringLiteral stateAttrName = "exec.state";
/// On a dispatch whose result takes the place of an operand and changes a part
/// of it only: the operand's number (i64).
inline constexpr llvm::StringLiteral inPlaceAttrName = "exec.in_place";

/// Whether a value is a state before or after its change.
bool isState(mlir::Value value);

/// The result that argument `number` becomes, if it is a state.
std::optional<unsigned> stateResult(mlir::func::FuncOp entry, unsigned number);

} // namespace ashlar

#endif // ASHLAR_DIALECTS_EXEC_UTILS_STATES_H
