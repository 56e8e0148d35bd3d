// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TRANSFORMS_FUSE_MARGINS_H
#define ASHLAR_LIB_TRANSFORMS_FUSE_MARGINS_H

#include "ashlar/Dialects/Tile/IR/Decode.h"

namespace ashlar {

/// A tensor that no memory has: `input` with zeros around it, so many in front
/// of it along each dim.
tile::DecodeOp addMargins(mlir::OpBuilder &b, mlir::Location at,
                          mlir::Value input, mlir::RankedTensorType type,
                          llvm::ArrayRef<int64_t> before);

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_FUSE_MARGINS_H
