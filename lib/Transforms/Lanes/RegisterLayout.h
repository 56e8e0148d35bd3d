// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TRANSFORMS_LANES_REGISTERLAYOUT_H
#define ASHLAR_LIB_TRANSFORMS_LANES_REGISTERLAYOUT_H

#include "ashlar/Dialects/Tile/IR/TileOps.h"

namespace ashlar {

/// How an accumulator lies in registers: rows over all dims but the last, and
/// along the last as many vectors as it takes, the last one no wider than need
/// be.
struct RegisterLayout {
  llvm::SmallVector<int64_t> shape;
  mlir::VectorType whole, last;
  int64_t vectors, wide;

  RegisterLayout(tile::AccType type, int64_t vectorBytes)
      : shape(type.getShape()) {
    mlir::Type element = type.getElementType();
    int64_t lanes =
        vectorBytes / llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
    wide = std::max<int64_t>(lanes, 1);
    vectors = llvm::divideCeil(shape.back(), wide);
    whole = mlir::VectorType::get({wide}, element);
    int64_t rest = shape.back() - (vectors - 1) * wide;
    last = mlir::VectorType::get({int64_t(llvm::PowerOf2Ceil(rest))}, element);
  }

  mlir::Type element() const { return whole.getElementType(); }
  mlir::VectorType type(int64_t i) const {
    return i % vectors + 1 == vectors ? last : whole;
  }
  int64_t lanes(int64_t i) const { return type(i).getDimSize(0); }
  int64_t rows() const {
    return mlir::ShapedType::getNumElements(llvm::ArrayRef(shape).drop_back());
  }
  int64_t count() const { return rows() * vectors; }

  /// The element where register `i` begins.
  llvm::SmallVector<int64_t> begin(int64_t i) const {
    llvm::SmallVector<int64_t> place(shape.size());
    place.back() = i % vectors * wide;
    int64_t row = i / vectors;
    for (int64_t d = int64_t(shape.size()) - 2; d >= 0; --d) {
      place[d] = row % shape[d];
      row /= shape[d];
    }
    return place;
  }
  /// Lanes of register `i` that exist.
  int64_t used(int64_t i) const {
    return std::min(wide, shape.back() - i % vectors * wide);
  }
};

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_LANES_REGISTERLAYOUT_H
