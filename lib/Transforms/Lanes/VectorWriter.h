// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads and stores of vectors through affine maps into memrefs.
#ifndef ASHLAR_LIB_TRANSFORMS_LANES_VECTORWRITER_H
#define ASHLAR_LIB_TRANSFORMS_LANES_VECTORWRITER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <map>

namespace ashlar {

/// A memref as one line of memory.
struct LineMemory {
  mlir::Value memory;
  mlir::Type element;

  LineMemory(mlir::ImplicitLocOpBuilder &b, mlir::Value memref);
};

/// With the distance between neighbours along each dim of a map into it: a
/// number, and some of each stride that is a value.
struct Line : LineMemory {
  llvm::SmallVector<int64_t> steps;
  int64_t start = 0; ///< where the map's dims are all zero

  Line(mlir::ImplicitLocOpBuilder &b, mlir::Value memref, mlir::AffineMap map);
  /// What is known of how far `place` lies from the beginning.
  int64_t distance(llvm::ArrayRef<int64_t> place) const;
  /// The rest of it, written in front of all uses; null: nothing.
  mlir::Value openDistance(llvm::ArrayRef<int64_t> place);
  /// Whether neighbours along `dim` lie as far apart as a value says.
  bool isOpen(unsigned dim) const;
  /// How far that is, but for the number; null where it is not open.
  mlir::Value openStep(unsigned dim);

private:
  llvm::SmallVector<int64_t> countStrides(llvm::ArrayRef<int64_t> place) const;
  mlir::Value sumStrides(const llvm::SmallVector<int64_t> &counts);

  llvm::SmallVector<mlir::Value> strides; ///< those that are values
  /// Of each of them, by dim, and where the map's dims are all zero.
  llvm::SmallVector<llvm::SmallVector<int64_t>> openSteps;
  llvm::SmallVector<int64_t> openStart;
  mlir::Operation *front = nullptr; ///< sums of strides stand behind it
  std::map<llvm::SmallVector<int64_t>, mlir::Value> sums;
};

class VectorWriter {
public:
  VectorWriter(mlir::Location location, mlir::OpBuilder &builder)
      : b(location, builder) {}

protected:
  mlir::Value index(int64_t value);
  /// `base` is null for zero.
  mlir::Value indexAt(mlir::Value base, int64_t distance);
  /// The sum of both; null for zero.
  mlir::Value sum(mlir::Value x, mlir::Value y);
  /// `base` and `iv` steps; null for zero.
  mlir::Value moved(mlir::Value base, mlir::Value iv, int64_t step);
  mlir::Value mask(int64_t lanes, int64_t used);
  /// `lanes` elements from `place` on, `step` apart; the first `used` count.
  mlir::Value load(const LineMemory &line, mlir::Value place, int64_t step,
                   int64_t lanes, int64_t used);
  /// `step` apart, which the running program knows.
  mlir::Value loadApart(const LineMemory &line, mlir::Value place,
                        mlir::Value step, int64_t lanes, int64_t used);
  /// As far apart as `dim` of the line says.
  mlir::Value loadAlong(Line &line, mlir::Value place, unsigned dim,
                        int64_t lanes, int64_t used);
  /// The first `used` lanes of `value` to elements `step` apart.
  void store(const LineMemory &line, mlir::Value place, int64_t step,
             mlir::Value value, int64_t used);
  void storeApart(const LineMemory &line, mlir::Value place, mlir::Value step,
                  mlir::Value value, int64_t used);
  void storeAlong(Line &line, mlir::Value place, unsigned dim,
                  mlir::Value value, int64_t used);

  mlir::ImplicitLocOpBuilder b;

private:
  mlir::Value stepAlong(Line &line, unsigned dim);
};

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_LANES_VECTORWRITER_H
