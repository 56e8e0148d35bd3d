// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is known of values in a kernel that are made of its parameters: sizes
// that a caller chooses.
#ifndef ASHLAR_TRANSFORMS_TILE_KERNELSIZES_H
#define ASHLAR_TRANSFORMS_TILE_KERNELSIZES_H

#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "mlir/IR/OpDefinition.h"
#include <optional>

namespace ashlar {

/// The parameter, or the constant, that `size` is: dims are followed to where
/// their memory got its sizes.
mlir::OpFoldResult findSize(mlir::OpFoldResult size);

/// The same of a dim of a tensor or memref; null where it is not known.
mlir::OpFoldResult findDim(mlir::Value value, int64_t dim);

/// The largest value at the largest sizes; nothing where it is not known.
/// Indices of loops count from zero.
std::optional<int64_t> largestSize(mlir::OpFoldResult size);

/// Of an op with exec.dim_parameters: the sizes of its first `count` dims that
/// are parameters of its kernel, null for those that are constant.
llvm::SmallVector<mlir::Value> openDims(mlir::Operation *op, unsigned count);

/// The same of a contraction in memory: what a kernel makes on its way may be
/// as long as a value says.
llvm::SmallVector<mlir::Value> openDims(tile::ContractOp op);

/// By the dims of `map`, those sizes of memory there that are values; null
/// where a dim is not one of the memory's, or its size is a constant.
llvm::SmallVector<mlir::Value> sizesAlong(mlir::Value memory,
                                          mlir::AffineMap map);

/// The size that a kernel's parameter is; null: the value is none.
exec::SizeAttr parameterOf(mlir::Value value);

/// `size` over the module's symbols; null where it is made of anything else.
mlir::AffineExpr formulaOf(mlir::OpFoldResult size);

/// A constant, or a parameter of the kernel, as #exec.size; null: neither.
exec::SizeAttr sizeAttrOf(mlir::OpFoldResult size);

} // namespace ashlar

#endif // ASHLAR_TRANSFORMS_TILE_KERNELSIZES_H
