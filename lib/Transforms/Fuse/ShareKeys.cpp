// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keys of few rows, as a step of decoding has them, among several parts: each
// has its own largest score, sum of exponentials and weighted sums, and a
// kernel of one pass merges them (Dao et al., "Flash-Decoding for long-context
// inference", 2023).
#include "ShareKeys.h"
#include "MergeParts.h"
#include "ashlar/Dialects/Tile/IR/AttentionScalars.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace ashlar;

bool ashlar::canShareKeys(tile::AttentionOp op, int64_t parts) {
  auto type = dyn_cast<RankedTensorType>(op.getInit().getType());
  return type && type.hasStaticShape() && op->getNumResults() == 1 &&
         op.getResultMap().isPermutation() &&
         2 * parts <= op.getParallel().back();
}

namespace {
/// In the body of the kernel that merges.
class PartMerger {
public:
  PartMerger(tile::AttentionOp op, int64_t parts, OpBuilder &b, Location at)
      : op(op), parts(parts), b(b), at(at),
        type(cast<FloatType>(op.getScoreType())) {}

  /// Of sums, largest scores and sums of exponentials, part by part.
  Value run(ValueRange of) {
    ValueRange sums = of.take_front(parts), most = of.slice(parts, parts),
               totals = of.slice(2 * parts, parts);
    Value largest = most[0];
    for (Value one : most.drop_front())
      largest = arith::MaximumFOp::create(b, at, largest, one);
    // The distance to none is to zero.
    const llvm::fltSemantics &semantics = type.getFloatSemantics();
    Value lowest = number(APFloat::getInf(semantics, /*Negative=*/true)),
          zero = number(APFloat::getZero(semantics));
    largest = tile::replaceNumber(b, at, largest, lowest, zero);
    Value sum, total;
    for (int64_t part = 0; part != parts; ++part) {
      Value scale = math::ExpOp::create(
          b, at, arith::SubFOp::create(b, at, most[part], largest));
      add(sum, arith::MulFOp::create(b, at, sums[part], scale));
      add(total, arith::MulFOp::create(b, at, totals[part], scale));
    }
    if (op.getZeroRows())
      total = tile::replaceNumber(b, at, total, zero,
                                  number(APFloat(semantics, 1)));
    return arith::DivFOp::create(b, at, sum, total);
  }

private:
  Value number(const APFloat &value) {
    return arith::ConstantOp::create(b, at, b.getFloatAttr(type, value));
  }
  void add(Value &all, Value one) {
    all = all ? arith::AddFOp::create(b, at, all, one).getResult() : one;
  }

  tile::AttentionOp op;
  int64_t parts;
  OpBuilder &b;
  Location at;
  FloatType type;
};
} // namespace

/// The levels, whose grid takes `keys` of the dim of keys.
static ArrayAttr levelsWith(tile::AttentionOp op, int64_t keys) {
  unsigned dim = *op.getKeyLoop() - op.getParallel().size();
  SmallVector<Attribute> levels(op.getLevelsAttr().getValue());
  auto *grid = llvm::find_if(levels, [](Attribute level) {
    return cast<tile::LevelAttr>(level).getKind() == tile::LevelKind::Grid;
  });
  auto old = cast<tile::LevelAttr>(*grid);
  SmallVector<int64_t> reduced(old.getReduced());
  reduced[dim] = keys;
  *grid = tile::LevelAttr::get(op.getContext(), old.getKind(), old.getScope(),
                               old.getParallel(), reduced, old.getOrder());
  return ArrayAttr::get(op.getContext(), levels);
}

/// The same attention, which stores what its parts have.
static tile::AttentionOp makeParts(tile::AttentionOp op, int64_t keys,
                                   int64_t parts) {
  OpBuilder b(op);
  SmallVector<int64_t> shape = {parts + 1};
  llvm::append_range(shape, op.getParallel());
  Type type = op.getScoreType();
  Value empty = tensor::EmptyOp::create(b, op.getLoc(), shape, type);
  SmallVector<Attribute> maps(op.getMaps().getValue().take_front(2));
  maps.push_back(
      AffineMapAttr::get(b.getMultiDimIdentityMap(op.getParallel().size())));
  auto made = tile::AttentionOp::create(
      b, op.getLoc(), TypeRange(empty.getType()), op.getQueries(), op.getKeys(),
      op.getValues(), op.getScoring(), op.getHiding(), ValueRange(), empty,
      op.getScoresParallel(), op.getScoresReduced(), op.getScoresMaps(),
      op.getHideMaps(), op.getParallel(), op.getReduced(), b.getArrayAttr(maps),
      op.getZeroRows(), levelsWith(op, keys), op.getScoresStrategyAttr(),
      op.getStrategyAttr());
  made->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  IRMapping mapping;
  op.getScore().cloneInto(&made.getScore(), mapping);
  op.getHide().cloneInto(&made.getHide(), mapping);
  op.getWeigh().cloneInto(&made.getWeigh(), mapping);
  Block *body = b.createBlock(&made.getBody(), {}, {type}, {op.getLoc()});
  tile::YieldOp::create(b, op.getLoc(), body->getArgument(0));
  return made;
}

tile::AttentionOp ashlar::shareKeys(tile::AttentionOp op, int64_t keys) {
  unsigned numParallel = op.getParallel().size();
  int64_t parts =
      llvm::divideCeil(op.getReduced()[*op.getKeyLoop() - numParallel], keys);
  tile::AttentionOp made = makeParts(op, keys, parts);
  OpBuilder b(op);
  AffineMap back = inversePermutation(op.getResultMap());
  SmallVector<Value> inputs(3 * parts, made.getResult(0));
  SmallVector<AffineMap> maps;
  // At a place in front, and, if any, at one column for all.
  auto add = [&](int64_t front, std::optional<int64_t> column) {
    SmallVector<AffineExpr> places = {b.getAffineConstantExpr(front)};
    llvm::append_range(places, back.getResults());
    if (column)
      places.back() = b.getAffineConstantExpr(*column);
    maps.push_back(AffineMap::get(numParallel, 0, places, b.getContext()));
  };
  for (int64_t part = 0; part != parts; ++part)
    add(part, std::nullopt);
  for (int64_t known : {0, 1})
    for (int64_t part = 0; part != parts; ++part)
      add(parts, 2 * part + known);
  Value merged = mergeParts(op, inputs, maps,
                            [&](OpBuilder &inner, Location at, ValueRange of) {
                              return PartMerger(op, parts, inner, at).run(of);
                            });
  op->getResult(0).replaceAllUsesWith(merged);
  op.erase();
  return made;
}
