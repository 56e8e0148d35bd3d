// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Dialects/Tile/IR/CutOperand.h"
#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AffineExpr.h"

using namespace mlir;
using namespace ashlar::tile;

namespace {
/// What is taken of one dim of an operand.
struct Part {
  AffineExpr from = {}; ///< of the cuts' offsets; null: all is taken
  int64_t size = 0;
};
} // namespace

/// A dim by a constant: the part of the quotient, and all of the rest. Fails
/// for other expressions.
static FailureOr<Part> dividedPart(AffineExpr expr, ArrayRef<Cut> cuts) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return failure();
  auto dim = dyn_cast<AffineDimExpr>(binary.getLHS());
  auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (!dim || !divisor)
    return failure();
  if (expr.getKind() == AffineExprKind::Mod)
    return Part();
  if (expr.getKind() != AffineExprKind::FloorDiv)
    return failure();
  return Part{expr, llvm::divideCeilSigned(cuts[dim.getPosition()].size,
                                           divisor.getValue())};
}

/// Fails where no slice is what the cuts reach.
static FailureOr<Part> partOf(AffineExpr expr, ArrayRef<Cut> cuts) {
  bool isCut = false;
  for (auto [d, cut] : llvm::enumerate(cuts))
    isCut |= cut.size != 0 && expr.isFunctionOfDim(d);
  if (!isCut)
    return Part();
  if (FailureOr<Part> part = dividedPart(expr, cuts); succeeded(part))
    return part;
  SmallVector<int64_t> factors;
  if (!expr.isPureAffine() ||
      failed(getFlattenedAffineExpr(expr, cuts.size(), 0, &factors)) ||
      factors.size() != cuts.size() + 1)
    return failure();
  Part part = {expr, 1};
  for (auto [cut, factor] : llvm::zip(cuts, factors)) {
    if (factor < 0 || (factor != 0 && cut.size == 0))
      return failure();
    part.size += factor * (cut.size - 1);
  }
  return part;
}

/// All dims of a map, those behind the cuts whole.
static SmallVector<Cut> extend(ArrayRef<Cut> cuts, AffineMap map) {
  SmallVector<Cut> all(cuts);
  all.resize(std::max<size_t>(cuts.size(), map.getNumDims()));
  return all;
}

bool ashlar::tile::isCuttable(AffineMap map, ArrayRef<Cut> cuts) {
  SmallVector<Cut> all = extend(cuts, map);
  return llvm::all_of(map.getResults(), [&](AffineExpr expr) {
    if (failed(partOf(expr, all)))
      return false;
    // Parts behind each other begin where a quotient does.
    auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
    auto dim = binary ? dyn_cast<AffineDimExpr>(binary.getLHS())
                      : AffineDimExpr(nullptr);
    auto divisor = binary ? dyn_cast<AffineConstantExpr>(binary.getRHS())
                          : AffineConstantExpr(nullptr);
    bool divides = dim && divisor &&
                   (expr.getKind() == AffineExprKind::Mod ||
                    expr.getKind() == AffineExprKind::FloorDiv);
    return !divides || all[dim.getPosition()].size % divisor.getValue() == 0;
  });
}

LogicalResult ashlar::tile::findPart(OpBuilder &b, Value operand, AffineMap map,
                                     ArrayRef<Cut> cuts,
                                     SmallVectorImpl<OpFoldResult> &offsets,
                                     SmallVectorImpl<OpFoldResult> &sizes,
                                     ArrayRef<OpFoldResult> lengths) {
  Location loc = operand.getLoc();
  SmallVector<Cut> all = extend(cuts, map);
  SmallVector<OpFoldResult> from;
  for (const Cut &cut : all)
    from.push_back(cut.size ? cut.offset : OpFoldResult(b.getIndexAttr(0)));
  for (auto [expr, extent] :
       llvm::zip(map.getResults(), tensor::getMixedSizes(b, loc, operand))) {
    FailureOr<Part> part = partOf(expr, all);
    if (failed(part))
      return failure();
    offsets.push_back(
        part->from ? affine::makeComposedFoldedAffineApply(
                         b, loc, AffineMap::get(all.size(), 0, expr), from)
                   : OpFoldResult(b.getIndexAttr(0)));
    sizes.push_back(part->from ? OpFoldResult(b.getIndexAttr(part->size))
                               : extent);
    for (auto [d, length] : llvm::enumerate(lengths)) {
      if (all[d].size == 0 || !length || isa<Attribute>(length) ||
          !expr.isFunctionOfDim(d))
        continue;
      if (!isa<AffineDimExpr>(expr))
        return failure();
      sizes.back() = length;
    }
  }
  return success();
}

FailureOr<Value> ashlar::tile::cutOperand(OpBuilder &b, Value operand,
                                          AffineMap map, ArrayRef<Cut> cuts,
                                          ArrayRef<OpFoldResult> lengths) {
  SmallVector<OpFoldResult> offsets, sizes;
  if (failed(findPart(b, operand, map, cuts, offsets, sizes, lengths)))
    return failure();
  SmallVector<OpFoldResult> steps(offsets.size(), b.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(b, operand.getLoc(), operand, offsets,
                                        sizes, steps)
      .getResult();
}
