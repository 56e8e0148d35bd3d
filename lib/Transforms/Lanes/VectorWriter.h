// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads and stores of vectors through affine maps into memrefs.
#ifndef ASHLAR_LIB_TRANSFORMS_LANES_VECTORWRITER_H
#define ASHLAR_LIB_TRANSFORMS_LANES_VECTORWRITER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace ashlar {

/// A memref as one line of memory.
struct LineMemory {
  mlir::Value memory;
  mlir::Type element;

  LineMemory(mlir::ImplicitLocOpBuilder &b, mlir::Value memref);
};

/// With the distance between neighbours along each dim of a map into it.
struct Line : LineMemory {
  llvm::SmallVector<int64_t> steps;
  int64_t start = 0; ///< where the map's dims are all zero

  Line(mlir::ImplicitLocOpBuilder &b, mlir::Value memref, mlir::AffineMap map);
  int64_t distance(llvm::ArrayRef<int64_t> place) const;
};

class VectorWriter {
public:
  VectorWriter(mlir::Location location, mlir::OpBuilder &builder)
      : b(location, builder) {}

protected:
  mlir::Value index(int64_t value);
  /// `base` is null for zero.
  mlir::Value indexAt(mlir::Value base, int64_t distance);
  /// `base` and `iv` steps; null for zero.
  mlir::Value moved(mlir::Value base, mlir::Value iv, int64_t step);
  mlir::Value mask(int64_t lanes, int64_t used);
  /// `lanes` elements from `place` on, `step` apart; the first `used` count.
  mlir::Value load(const LineMemory &line, mlir::Value place, int64_t step,
                   int64_t lanes, int64_t used);
  /// The first `used` lanes of `value` to elements `step` apart.
  void store(const LineMemory &line, mlir::Value place, int64_t step,
             mlir::Value value, int64_t used);

  mlir::ImplicitLocOpBuilder b;
};

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_LANES_VECTORWRITER_H
