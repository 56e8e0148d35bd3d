// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "DecodeWriter.h"
#include "ashlar/Analysis/ByteSize.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::simt;

/// `expr` where `dim` is a multiple of `count`.
static AffineExpr atMultiple(AffineExpr expr, unsigned dim, int64_t count) {
  AffineExpr one = getAffineDimExpr(dim, expr.getContext());
  return expr.replace(one, one * count);
}

/// How far it moves with each of `count` steps of `dim`, from a multiple of
/// `count` on; none: unevenly.
static std::optional<int64_t> stepOf(AffineExpr expr, unsigned dim,
                                     int64_t count) {
  if (!expr.isFunctionOfDim(dim))
    return 0;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return 1;
  std::optional<int64_t> left = stepOf(binary.getLHS(), dim, count),
                         right = stepOf(binary.getRHS(), dim, count);
  auto by = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (!left || !right || (binary.getKind() != AffineExprKind::Add && !by))
    return std::nullopt;
  switch (binary.getKind()) {
  case AffineExprKind::Add:
    return *left + *right;
  case AffineExprKind::Mul:
    return *left * by.getValue();
  case AffineExprKind::FloorDiv:
  case AffineExprKind::Mod:
    if (*left == 0)
      return 0;
    // All steps stay between two multiples of the divisor.
    if (*left != 1 || by.getValue() % count != 0 ||
        atMultiple(binary.getLHS(), dim, count).getLargestKnownDivisor() %
                count !=
            0)
      return std::nullopt;
    return binary.getKind() == AffineExprKind::Mod ? 1 : 0;
  default:
    return std::nullopt;
  }
}

SmallVector<Value> DecodeWriter::placesInResult(Value source, ValueRange at) {
  SmallVector<Value> places(at);
  while (source != op.getResult()) {
    if (auto cast = source.getDefiningOp<memref::CastOp>()) {
      source = cast.getSource();
      continue;
    }
    auto view = source.getDefiningOp<memref::SubViewOp>();
    assert(view && view.getDroppedDims().none() && view.hasUnitStride() &&
           "copies read boxes of what is decoded");
    for (auto [place, offset] : llvm::zip(places, view.getMixedOffsets()))
      place = arith::AddIOp::create(
          b, place, getValueOrCreateConstantIndexOp(b, b.getLoc(), offset));
    source = view.getSource();
  }
  return places;
}

SmallVector<Value> DecodeWriter::placesInInput(Value source, ValueRange at) {
  first = placesInResult(source, at);
  return llvm::map_to_vector(op.getMap(0).getResults(), [&](AffineExpr expr) {
    return applied(expr, /*step=*/0);
  });
}

Value DecodeWriter::exists(Value source, ValueRange at) {
  first = placesInResult(source, at);
  ArrayRef<int64_t> shape = op.getType().getShape();
  Value all;
  for (auto [i, input] : llvm::enumerate(op.getInputs()))
    for (auto [d, expr] : llvm::enumerate(op.getMap(i).getResults())) {
      int64_t size = cast<ShapedType>(input.getType()).getDimSize(d);
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (dim && shape[dim.getPosition()] <= size)
        continue;
      // Places in front of the beginning are beyond the end without a sign.
      Value one = arith::CmpIOp::create(
          b, arith::CmpIPredicate::ult, applied(expr, /*step=*/0),
          memref::DimOp::create(b, input, int64_t(d)));
      all = all ? arith::AndIOp::create(b, all, one) : one;
    }
  return all;
}

Value DecodeWriter::applied(AffineExpr expr, int64_t step) {
  unsigned last = first.size() - 1;
  AffineExpr dim = b.getAffineDimExpr(last);
  return affine::AffineApplyOp::create(
      b, AffineMap::get(first.size(), 0, expr.replace(dim, dim + step)), first);
}

bool DecodeWriter::areSideBySide(unsigned input, int64_t count) {
  AffineMap map = op.getMap(input);
  auto type = cast<MemRefType>(op.getInputs()[input].getType());
  unsigned last = first.size() - 1;
  auto [strides, offset] = type.getStridesAndOffset();
  // A boolean has a byte in memory, but a bit in a vector.
  if (type.getElementTypeBitWidth() < 8 || strides.empty() ||
      strides.back() != 1 || ShapedType::isDynamic(offset) ||
      offset % count != 0)
    return false;
  for (auto [expr, stride] :
       llvm::drop_end(llvm::zip(map.getResults(), strides)))
    if (stepOf(expr, last, count) != 0 || ShapedType::isDynamic(stride) ||
        stride % count != 0)
      return false;
  AffineExpr inner = map.getResults().back();
  return stepOf(inner, last, count) == 1 &&
         atMultiple(inner, last, count).getLargestKnownDivisor() % count == 0;
}

SmallVector<Value> DecodeWriter::load(unsigned input, int64_t count) {
  AffineMap map = op.getMap(input);
  Value memory = op.getInputs()[input];
  unsigned last = first.size() - 1;
  auto placesAt = [&](int64_t step) {
    return llvm::map_to_vector(
        map.getResults(), [&](AffineExpr expr) { return applied(expr, step); });
  };
  if (llvm::all_of(map.getResults(), [&](AffineExpr expr) {
        return stepOf(expr, last, count) == 0;
      }))
    return {memref::LoadOp::create(b, memory, placesAt(0))};
  SmallVector<Value> loaded;
  if (count > 1 && areSideBySide(input, count)) {
    Type element = cast<MemRefType>(memory.getType()).getElementType();
    Value all = vector::LoadOp::create(
        b, VectorType::get({count}, element), memory, placesAt(0),
        /*nontemporal=*/false,
        llvm::MaybeAlign(std::min<int64_t>(16, count * elementBytes(element))));
    for (int64_t i = 0; i != count; ++i)
      loaded.push_back(vector::ExtractOp::create(b, all, ArrayRef<int64_t>{i}));
    return loaded;
  }
  for (int64_t i = 0; i != count; ++i)
    loaded.push_back(memref::LoadOp::create(b, memory, placesAt(i)));
  return loaded;
}

SmallVector<Value> DecodeWriter::write(Value source, ValueRange at,
                                       int64_t count) {
  first = placesInResult(source, at);
  unsigned last = first.size() - 1;
  Block &body = op.getBody().front();
  SmallVector<IRMapping> numbers(count);
  llvm::DenseSet<Value> same; ///< for all of them
  auto map = [&](Value before, ArrayRef<Value> now) {
    for (int64_t i = 0; i != count; ++i)
      numbers[i].map(before, now[now.size() == 1 ? 0 : i]);
    if (now.size() == 1)
      same.insert(before);
  };
  for (unsigned i = 0; i != op.getInputs().size(); ++i)
    map(body.getArgument(i), load(i, count));
  for (auto [d, argument] : llvm::enumerate(op.getPlaces())) {
    SmallVector<Value> all;
    for (int64_t i = 0; i != (d == last ? count : 1); ++i)
      all.push_back(applied(b.getAffineDimExpr(d), i));
    map(argument, all);
  }
  for (Operation &inner : body.without_terminator()) {
    // A region may read what is not among the operands.
    bool isSame = inner.getNumRegions() == 0 &&
                  llvm::all_of(inner.getOperands(), [&](Value value) {
                    return same.contains(value);
                  });
    // A place among the last dim's blocks may be the same as well.
    auto place = dyn_cast<affine::AffineApplyOp>(inner);
    if (place && !isSame && place.getAffineMap().getNumSymbols() == 0) {
      AffineExpr expr = place.getAffineMap().getResult(0);
      isSame = true;
      for (auto [d, operand] : llvm::enumerate(place.getOperands()))
        isSame &= same.contains(operand) || (operand == op.getPlaces().back() &&
                                             stepOf(expr, d, count) == 0);
    }
    for (int64_t i = 0; i != (isSame ? 1 : count); ++i)
      b.clone(inner, numbers[i]);
    if (isSame)
      for (Value result : inner.getResults())
        map(result, {numbers[0].lookup(result)});
  }
  return llvm::map_to_vector(
      numbers, [&](IRMapping &own) { return own.lookup(op.getElement()); });
}
