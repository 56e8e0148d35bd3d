// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Some keys at a time: with the largest score so far, the sum of exponentials
// and the weighted sums, which all shrink when a larger score comes, no score
// is needed twice: Milakov and Gimelshein, "Online normalizer calculation for
// softmax", 2018.
#include "AttentionWriter.h"
#include "BoxView.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace ashlar;

AffineMap AttentionWriter::rowOfResult() {
  return AffineMap::get(op.getParallel().size(), 0,
                        op.getWeightsMap().getResults().drop_back(),
                        op.getContext());
}

AttentionWriter::State AttentionWriter::step(const State &before,
                                             unsigned keyDim, OpFoldResult from,
                                             int64_t count,
                                             OpFoldResult existing) {
  // Of each dim of keys that the loop cuts, so many lie behind one.
  int64_t perKeyDim = op.getScoresParallel().back() /
                      op.getReduced()[keyDim - op.getParallel().size()];
  SmallVector<tile::Cut> ofScores(rank + op.getScoresReduced().size());
  ofScores[rank - 1] = {affine::makeComposedFoldedAffineApply(
                            b, loc, b.getAffineDimExpr(0) * perKeyDim, {from}),
                        count * perKeyDim};
  SmallVector<tile::Cut> ofValues(op.getParallel().size());
  for (int64_t size : op.getReduced())
    ofValues.push_back({b.getIndexAttr(0), size});
  ofValues[keyDim] = {from, count};
  sizes.back() = b.getIndexAttr(count * perKeyDim);

  OpFoldResult existingScores = existing;
  if (existing && perKeyDim != 1)
    existingScores = affine::makeComposedFoldedAffineApply(
        b, loc, b.getAffineDimExpr(0) * perKeyDim, {existing});
  if (existing && !isFilled)
    sizes.back() = existingScores;
  Value scores = writeScores(ofScores, existingScores);
  Value largest = maximum(scores, before.largest);
  Value exponentials = powers(scores, largest, /*mayBeLowest=*/true);
  Value scale =
      combineRows(before.largest, largest, [&](OpBuilder &b, ValueRange of) {
        return power(b, of[0], of[1],
                     /*mayBeLowest=*/true);
      });
  Value scaled = combineRows(
      before.total, scale, [&](OpBuilder &b, ValueRange of) -> Value {
        return arith::MulFOp::create(b, loc, of[0], of[1]);
      });
  Value total = sum(exponentials, scaled), weights = exponentials;
  if (op.getWeightType() != type)
    weights =
        generic({exponentials}, emptyScores(op.getWeightType()), {place, place},
                /*reduces=*/false, [&](OpBuilder &b, ValueRange of) {
                  return inlined(b, op.getWeigh(), of[0]);
                });

  SmallVector<int64_t> reduced(op.getReduced());
  reduced[keyDim - op.getParallel().size()] = count;
  AffineMap result = b.getMultiDimIdentityMap(op.getParallel().size());
  Location at = locOf(op.getBody());
  SmallVector<OpFoldResult> lengths(ofValues.size());
  lengths[keyDim] = existing;
  tile::ContractOp values = contract(
      at,
      {weights, *tile::cutOperand(b, op.getValues(), op.getValuesMap(),
                                  ofValues, lengths)},
      {before.sums, scale}, before.sums, op.getParallel(), reduced,
      {op.getWeightsMap(), op.getValuesMap(), result, rowOfResult(), result},
      clip(op.getStrategyAttr(), op.getParallel(), reduced));
  OpBuilder::InsertionGuard guard(b);
  Block *body =
      b.createBlock(&values.getBody(), {}, {type, type, type}, {at, at, at});
  Value old =
      arith::MulFOp::create(b, at, body->getArgument(1), body->getArgument(2));
  tile::YieldOp::create(
      b, at, arith::AddFOp::create(b, at, old, body->getArgument(0)));
  return {values->getResult(0), largest, total};
}

/// The front of `value`, of so many elements along each dim.
static Value frontOf(OpBuilder &b, Location loc, Value value,
                     ArrayRef<OpFoldResult> sizes) {
  SmallVector<OpFoldResult> from(sizes.size(), b.getIndexAttr(0)),
      steps(sizes.size(), b.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(b, loc, value, from, sizes, steps);
}

Value AttentionWriter::finish(const State &state) {
  loc = locOf(op.getBody());
  AffineMap place = b.getMultiDimIdentityMap(op.getParallel().size()),
            row = rowOfResult();
  // Only what exists is stored.
  SmallVector<OpFoldResult> existing =
      getAsIndexOpFoldResult(b.getContext(), op.getParallel());
  for (auto [size, expr] :
       llvm::zip(tensor::getMixedSizes(b, loc, op.getInit()),
                 op.getResultMap().getResults()))
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      existing[dim.getPosition()] = size;
  auto front = [&](Value value, AffineMap map) {
    if (!isFilled)
      return value;
    SmallVector<OpFoldResult> ofValue;
    for (AffineExpr expr : map.getResults()) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      ofValue.push_back(dim ? existing[dim.getPosition()]
                            : OpFoldResult(b.getIndexAttr(1)));
    }
    return frontOf(b, loc, value, ofValue);
  };
  SmallVector<Value> inputs = {front(state.sums, place),
                               front(state.total, row)};
  llvm::append_range(inputs, op.getEpilogue());
  SmallVector<AffineMap> maps = {place, row};
  for (unsigned i = 2; i != op.getMaps().size(); ++i)
    maps.push_back(op.getMap(i));
  return generic(
      inputs, op.getInit(), maps, /*reduces=*/false,
      [&](OpBuilder &b, ValueRange arguments) {
        SmallVector<Value> taken = {divided(b, arguments[0], arguments[1])};
        llvm::append_range(taken, arguments.drop_front(2).drop_back());
        return inlined(b, op.getBody(), taken);
      });
}

AttentionWriter::State AttentionWriter::loop(const State &before,
                                             unsigned keyDim, OpFoldResult from,
                                             OpFoldResult to, int64_t count,
                                             OpFoldResult all) {
  auto value = [&](OpFoldResult place) {
    return getValueOrCreateConstantIndexOp(b, loc, place);
  };
  auto loop = scf::ForOp::create(
      b, loc, value(from), value(to), value(b.getIndexAttr(count)),
      ValueRange{before.sums, before.largest, before.total},
      [&](OpBuilder &inner, Location at, Value key, ValueRange carried) {
        llvm::SaveAndRestore inside(b, inner);
        OpFoldResult existing;
        if (all)
          existing = countBefore(b, loc, count, key, all);
        State next = step({carried[0], carried[1], carried[2]}, keyDim, key,
                          count, existing);
        scf::YieldOp::create(b, at,
                             ValueRange{next.sums, next.largest, next.total});
      });
  return {loop.getResult(0), loop.getResult(1), loop.getResult(2)};
}

AttentionWriter::State AttentionWriter::loopToValue(const State &before,
                                                    unsigned keyDim,
                                                    const VisibleKeys &visible,
                                                    ArrayRef<OpFoldResult> at) {
  int64_t count = op.getTile(tile::LevelKind::Loop, keyDim);
  OpFoldResult all = sizes.back();
  SmallVector<OpFoldResult> operands(at);
  llvm::append_range(operands, getAsOpFoldResult(visible.symbols));
  operands.push_back(all);
  unsigned symbols = visible.symbols.size();
  SmallVector<AffineExpr> from = {b.getAffineConstantExpr(0)},
                          to = {b.getAffineSymbolExpr(symbols)};
  auto ofRows = [&](AffineExpr term, bool largest) {
    for (auto [d, size] : llvm::enumerate(op.getScoresParallel().drop_back()))
      term = visible.ofRows(term, d, size, largest);
    return term;
  };
  for (AffineExpr term : visible.from)
    from.push_back(ofRows(term, /*largest=*/false).floorDiv(count) * count);
  for (AffineExpr term : visible.to)
    to.push_back(ofRows(term, /*largest=*/true));
  auto mapOver = [&](ArrayRef<AffineExpr> exprs) {
    return AffineMap::get(at.size(), symbols + 1, exprs, b.getContext());
  };
  OpFoldResult first = affine::makeComposedFoldedAffineMax(
                   b, loc, mapOver(from), operands),
               last = affine::makeComposedFoldedAffineMin(b, loc, mapOver(to),
                                                          operands);
  std::optional<int64_t> number = getConstantIntValue(all);
  return loop(before, keyDim, first, last, count,
              number && *number % count == 0 ? OpFoldResult() : all);
}

void AttentionWriter::writeLoop(const VisibleKeys &visible,
                                ArrayRef<OpFoldResult> at) {
  unsigned keyDim = *op.getKeyLoop();
  int64_t count = op.getTile(tile::LevelKind::Loop, keyDim),
          all = op.getReduced()[keyDim - op.getParallel().size()],
          whole = all / count * count;
  OpFoldResult keys = sizes.back();
  if (isFilled || !isOpen)
    sizes = getAsIndexOpFoldResult(b.getContext(), op.getScoresParallel());
  SmallVector<OpFoldResult> ofSums =
      getAsIndexOpFoldResult(b.getContext(), op.getParallel());
  for (auto [size, expr] :
       llvm::zip(sizes, op.getWeightsMap().getResults().drop_back()))
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      ofSums[dim.getPosition()] = size;
  writeConstants();
  State state = {filled(tensor::EmptyOp::create(b, loc, ofSums, type), zero),
                 filled(emptyRow(), lowest), filled(emptyRow(), zero)};
  if (isOpen) {
    sizes.back() = keys;
    state = loopToValue(state, keyDim, visible, at);
  } else {
    state =
        loop(state, keyDim, b.getIndexAttr(0), b.getIndexAttr(whole), count);
    if (whole != all)
      state = step(state, keyDim, b.getIndexAttr(whole), all - whole);
  }
  op->getResult(0).replaceAllUsesWith(finish(state));
  op->erase();
}
