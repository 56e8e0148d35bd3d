// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scalars that are found in the bodies of control flow, handed out of it.
#ifndef ASHLAR_LIB_TRANSFORMS_PRECISION_CARRYSCALARS_H
#define ASHLAR_LIB_TRANSFORMS_PRECISION_CARRYSCALARS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace ashlar {

/// A tensor without dims that holds `value`.
mlir::Value scalarTensor(mlir::ImplicitLocOpBuilder &b, mlir::TypedAttr value);

using CombineScalars = llvm::function_ref<mlir::Value(
    mlir::ImplicitLocOpBuilder &, mlir::Value, mlir::Value)>;
/// Both of them in one, at the end of a block.
mlir::Value joinScalars(mlir::Block *block, mlir::Value x, mlir::Value y,
                        CombineScalars combine);

class CarryScalars {
public:
  CarryScalars() = default;
  CarryScalars(const CarryScalars &) = delete;
  ~CarryScalars();

  /// Whether the block is the body of a function, or in nothing but control
  /// flow between kernels up to one.
  static bool reaches(mlir::Block *block);

  /// From inside a branch or a loop to behind it: what its iterations came to,
  /// joined by `combine`, and `start` where there were none. The op around it
  /// is replaced by one with one more result.
  mlir::Value out(mlir::Value scalar, mlir::TypedAttr start,
                  CombineScalars combine);

  /// What has become of a value that ops around it were replaced.
  mlir::Value now(mlir::Value value) const;

private:
  mlir::Value replace(mlir::Operation *op, mlir::Operation *by);

  llvm::DenseMap<mlir::Value, mlir::Value> replaced; ///< never iterated
  /// Kept to the end, so that no new op is where `replaced` knows an old one.
  llvm::SmallVector<mlir::Operation *> gone;
};

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_PRECISION_CARRYSCALARS_H
