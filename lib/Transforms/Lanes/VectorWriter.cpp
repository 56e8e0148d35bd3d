// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "VectorWriter.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
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
  auto metadata = memref::ExtractStridedMetadataOp::create(b, memref);
  front = metadata;
  SmallVector<OpFoldResult> apart = metadata.getConstifiedMixedStrides();
  SmallVector<int64_t> known;
  for (OpFoldResult stride : apart)
    known.push_back(getConstantIntValue(stride).value_or(0));
  for (OpFoldResult stride : apart)
    if (!getConstantIntValue(stride))
      strides.push_back(cast<Value>(stride));
  auto placeOf = [&](ArrayRef<int64_t> point) {
    int64_t place = 0;
    for (auto [index, stride] : llvm::zip(map.compose(point), known))
      place += stride * index;
    return place;
  };
  auto countsOf = [&](ArrayRef<int64_t> point) {
    SmallVector<int64_t> counts;
    for (auto [index, stride] : llvm::zip(map.compose(point), apart))
      if (!getConstantIntValue(stride))
        counts.push_back(index);
    return counts;
  };
  SmallVector<int64_t> point(map.getNumDims(), 0);
  start = placeOf(point);
  openStart = countsOf(point);
  for (unsigned d = 0; d != map.getNumDims(); ++d) {
    point[d] = 1;
    steps.push_back(placeOf(point) - start);
    SmallVector<int64_t> &counts = openSteps.emplace_back(countsOf(point));
    for (auto [count, from] : llvm::zip(counts, openStart))
      count -= from;
    point[d] = 0;
  }
}

int64_t Line::distance(ArrayRef<int64_t> place) const {
  int64_t sum = start;
  for (auto [step, by] : llvm::zip(steps, place))
    sum += step * by;
  return sum;
}

bool Line::isOpen(unsigned dim) const {
  return llvm::any_of(openSteps[dim], [](int64_t count) { return count != 0; });
}

Value Line::openStep(unsigned dim) { return sumStrides(openSteps[dim]); }

Value Line::openDistance(ArrayRef<int64_t> place) {
  SmallVector<int64_t> counts(openStart);
  for (auto [own, by] : llvm::zip(openSteps, place))
    for (auto [count, step] : llvm::zip(counts, own))
      count += step * by;
  return sumStrides(counts);
}

Value Line::sumStrides(const SmallVector<int64_t> &counts) {
  if (llvm::all_of(counts, [](int64_t count) { return count == 0; }))
    return {};
  Value &sum = sums[counts];
  if (sum)
    return sum;
  ImplicitLocOpBuilder b(memory.getLoc(), memory.getContext());
  b.setInsertionPointAfter(front);
  AffineExpr total = b.getAffineConstantExpr(0);
  for (auto [i, count] : llvm::enumerate(counts))
    total = total + b.getAffineSymbolExpr(i) * count;
  return sum = affine::AffineApplyOp::create(
             b, AffineMap::get(0, counts.size(), total), strides);
}

Value VectorWriter::index(int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}
Value VectorWriter::indexAt(Value base, int64_t distance) {
  if (!base)
    return index(distance);
  return distance == 0 ? base : arith::AddIOp::create(b, base, index(distance));
}
Value VectorWriter::sum(Value x, Value y) {
  return !x ? y : !y ? x : arith::AddIOp::create(b, x, y).getResult();
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

/// How far neighbours along `dim` are apart in all; null where it is a number.
Value VectorWriter::stepAlong(Line &line, unsigned dim) {
  return line.isOpen(dim) ? indexAt(line.openStep(dim), line.steps[dim])
                          : Value();
}

Value VectorWriter::loadAlong(Line &line, Value place, unsigned dim,
                              int64_t lanes, int64_t used) {
  Value step = stepAlong(line, dim);
  return step ? loadApart(line, place, step, lanes, used)
              : load(line, place, line.steps[dim], lanes, used);
}

Value VectorWriter::loadApart(const LineMemory &line, Value place, Value step,
                              int64_t lanes, int64_t used) {
  auto type = VectorType::get({lanes}, line.element);
  Value value = arith::ConstantOp::create(b, b.getZeroAttr(type));
  for (int64_t lane = 0; lane != used; ++lane) {
    Value scalar =
        memref::LoadOp::create(b, line.memory, ValueRange{place}).getResult();
    value = vector::InsertOp::create(b, scalar, value, lane);
    place = arith::AddIOp::create(b, place, step);
  }
  return value;
}

void VectorWriter::storeAlong(Line &line, Value place, unsigned dim,
                              Value value, int64_t used) {
  Value step = stepAlong(line, dim);
  step ? storeApart(line, place, step, value, used)
       : store(line, place, line.steps[dim], value, used);
}

void VectorWriter::storeApart(const LineMemory &line, Value place, Value step,
                              Value value, int64_t used) {
  for (int64_t lane = 0; lane != used; ++lane) {
    Value scalar = vector::ExtractOp::create(b, value, lane);
    memref::StoreOp::create(b, scalar, line.memory, ValueRange{place});
    place = arith::AddIOp::create(b, place, step);
  }
}
