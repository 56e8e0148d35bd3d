// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "VectorWriter.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include <limits>

using namespace mlir;
using namespace ashlar;

LineMemory::LineMemory(ImplicitLocOpBuilder &b, Value memref)
    : element(cast<MemRefType>(memref.getType()).getElementType()) {
  auto metadata = memref::ExtractStridedMetadataOp::create(b, memref);
  auto line = MemRefType::get(
      {ShapedType::kDynamic}, element,
      StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, {1}));
  memory = memref::ReinterpretCastOp::create(
      b, line, metadata.getBaseBuffer(), OpFoldResult(metadata.getOffset()),
      ArrayRef<OpFoldResult>{
          b.getIndexAttr(std::numeric_limits<int32_t>::max())},
      ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
}

Line::Line(ImplicitLocOpBuilder &b, Value memref, AffineMap map)
    : LineMemory(b, memref) {
  auto type = cast<MemRefType>(memref.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  (void)type.getStridesAndOffset(strides, offset);
  auto placeOf = [&](ArrayRef<int64_t> point) {
    int64_t place = 0;
    for (auto [index, stride] : llvm::zip(map.compose(point), strides))
      place += stride * index;
    return place;
  };
  SmallVector<int64_t> point(map.getNumDims(), 0);
  start = placeOf(point);
  for (unsigned d = 0; d != map.getNumDims(); ++d) {
    point[d] = 1;
    steps.push_back(placeOf(point) - start);
    point[d] = 0;
  }
}

int64_t Line::distance(ArrayRef<int64_t> place) const {
  int64_t sum = start;
  for (auto [step, by] : llvm::zip(steps, place))
    sum += step * by;
  return sum;
}

Value VectorWriter::index(int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}
Value VectorWriter::indexAt(Value base, int64_t distance) {
  if (!base)
    return index(distance);
  return distance == 0 ? base : arith::AddIOp::create(b, base, index(distance));
}
Value VectorWriter::moved(Value base, Value iv, int64_t step) {
  if (step == 0)
    return base;
  AffineExpr x = b.getAffineDimExpr(0), y = b.getAffineDimExpr(1);
  if (!base)
    return affine::AffineApplyOp::create(b, AffineMap::get(1, 0, x * step),
                                         ValueRange{iv});
  return affine::AffineApplyOp::create(b, AffineMap::get(2, 0, y + x * step),
                                       ValueRange{iv, base});
}

Value VectorWriter::mask(int64_t lanes, int64_t used) {
  return vector::ConstantMaskOp::create(
      b, VectorType::get({lanes}, b.getI1Type()), ArrayRef<int64_t>{used});
}

Value VectorWriter::load(const LineMemory &line, Value place, int64_t step,
                         int64_t lanes, int64_t used) {
  auto type = VectorType::get({lanes}, line.element);
  if (step == 0) {
    Value scalar = memref::LoadOp::create(b, line.memory, ValueRange{place});
    return vector::BroadcastOp::create(b, type, scalar);
  }
  if (step == 1 && used == lanes)
    return vector::LoadOp::create(b, type, line.memory, ValueRange{place});
  Value none = arith::ConstantOp::create(b, b.getZeroAttr(type));
  if (step == 1)
    return vector::MaskedLoadOp::create(b, type, line.memory, ValueRange{place},
                                        mask(lanes, used), none);
  SmallVector<int32_t> places;
  for (int64_t lane = 0; lane != lanes; ++lane)
    places.push_back(lane * step);
  Value steps = arith::ConstantOp::create(b, b.getI32VectorAttr(places));
  return vector::GatherOp::create(b, type, line.memory, ValueRange{place},
                                  steps, mask(lanes, used), none);
}

void VectorWriter::store(const LineMemory &line, Value place, int64_t step,
                         Value value, int64_t used) {
  int64_t lanes = cast<VectorType>(value.getType()).getDimSize(0);
  if (step == 1 && used == lanes) {
    vector::StoreOp::create(b, value, line.memory, ValueRange{place});
  } else if (step == 1) {
    vector::MaskedStoreOp::create(b, line.memory, ValueRange{place},
                                  mask(lanes, used), value);
  } else {
    for (int64_t lane = 0; lane != used; ++lane) {
      Value scalar = vector::ExtractOp::create(b, value, lane);
      memref::StoreOp::create(b, scalar, line.memory,
                              ValueRange{indexAt(place, lane * step)});
    }
  }
}
