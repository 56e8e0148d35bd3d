// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the elements of a contraction's operand lie in memory, for those who
// walk it by addresses: a stride for each dim of the contraction.
#ifndef ASHLAR_ANALYSIS_LINEAROPERAND_H
#define ASHLAR_ANALYSIS_LINEAROPERAND_H

#include "ashlar/Support/Refusal.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Value.h"

namespace ashlar {

/// Along one dim of an operand: an index that is linear in the contraction's
/// dims.
struct LinearIndex {
  int64_t stride = 0; ///< between neighbours in memory, in elements
  int64_t constant = 0;
  llvm::SmallVector<int64_t> factors; ///< by dim of the contraction
};

/// `expr` as a sum of dims times numbers; none if it is not linear. The stride
/// is not set.
std::optional<LinearIndex> linearIndex(mlir::AffineExpr expr, unsigned dims);

/// Where the elements of a tensor or memref lie, by its own dims.
struct ElementPlaces {
  /// What it is a part of: an argument, an allocation, a tensor.
  mlir::Value whole;
  /// From the beginning of `whole` to its first element, in elements of its
  /// own.
  int64_t offset = 0;
  llvm::SmallVector<int64_t> strides; ///< by dim, in elements
};

/// Reads a tensor, which lies in memory row by row, or a memref. Refused, in
/// words that begin with `name`: sizes, strides or an offset that are not known
/// when compiling, and an offset between two elements.
Refusal readPlaces(mlir::Value value, llvm::StringRef name,
                   ElementPlaces &places);

/// The same by a contraction's dims.
struct LinearOperand {
  mlir::Value whole;                      ///< as ElementPlaces has it
  int64_t offset = 0;                     ///< to where all dims are 0
  llvm::SmallVector<int64_t> strides;     ///< by dim of the contraction
  llvm::SmallVector<LinearIndex> indices; ///< by dim of the operand
};

/// Reads `value` at `map` over dims of these sizes. A map of the first dims
/// alone leaves the others' strides at zero. Refused as readPlaces does, and
/// where an index is not linear or reaches outside.
Refusal readLinearOperand(mlir::Value value, mlir::AffineMap map,
                          llvm::ArrayRef<int64_t> sizes, llvm::StringRef name,
                          LinearOperand &operand);

} // namespace ashlar

#endif // ASHLAR_ANALYSIS_LINEAROPERAND_H
