// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A memref as one line of memory where distances may be values: those between
// the rows of a tensor whose rows are as long as a caller says.
#ifndef ASHLAR_LIB_TRANSFORMS_LANES_OPENLINE_H
#define ASHLAR_LIB_TRANSFORMS_LANES_OPENLINE_H

#include "VectorWriter.h"

namespace ashlar {

struct OpenLine : LineMemory {
  /// Between neighbours along each dim of the map.
  llvm::SmallVector<mlir::OpFoldResult> steps;
  mlir::OpFoldResult start; ///< where the map's dims are all zero

  OpenLine(mlir::ImplicitLocOpBuilder &b, mlir::Value memref,
           mlir::AffineMap map);

  /// Where the point is that lies `scales` times `coordinates` from zero.
  mlir::Value place(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange coordinates,
                    llvm::ArrayRef<int64_t> scales) const;
  /// `from`, moved by `count` along a dim; a number or a value.
  mlir::Value moved(mlir::ImplicitLocOpBuilder &b, mlir::Value from,
                    unsigned dim, mlir::OpFoldResult count) const;
};

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_LANES_OPENLINE_H
