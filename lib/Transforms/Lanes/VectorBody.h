// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The elementwise body of an op, on vectors instead of scalars.
#ifndef ASHLAR_LIB_TRANSFORMS_LANES_VECTORBODY_H
#define ASHLAR_LIB_TRANSFORMS_LANES_VECTORBODY_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace ashlar {

/// Writes the ops of `body` on vectors of `lanes` and returns what its
/// terminator yields. `arguments`: one vector per argument of the body,
/// null for those it does not use. Constants and values from outside are
/// broadcast. `placeAlong`: a vector of the places along a dim, for bodies with
/// linalg.index.
llvm::SmallVector<mlir::Value, 1>
emitVectorBody(mlir::ImplicitLocOpBuilder &b, mlir::Block *body,
               llvm::ArrayRef<mlir::Value> arguments, int64_t lanes,
               llvm::function_ref<mlir::Value(unsigned dim)> placeAlong = {});

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_LANES_VECTORBODY_H
