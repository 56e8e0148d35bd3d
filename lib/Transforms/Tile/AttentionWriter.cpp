// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "AttentionWriter.h"
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Dialects/Tile/IR/AttentionScalars.h"
#include "ashlar/Transforms/Tile/KernelSizes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace ashlar;

static Location locOf(Region &region) {
  return region.front().getTerminator()->getLoc();
}

AttentionWriter::AttentionWriter(tile::AttentionOp op)
    : op(op), b(op), loc(locOf(op.getWeigh())), type(op.getScoreType()),
      rank(op.getScoresParallel().size()),
      place(b.getMultiDimIdentityMap(rank)),
      row(place.getMajorSubMap(rank - 1)) {
  if (auto all =
          op->getAttrOfType<DenseI64ArrayAttr>(exec::dimParametersAttrName))
    parameters = all.asArrayRef();
  for (auto [size, value] :
       llvm::zip(op.getScoresParallel(), openDims(op, rank)))
    sizes.push_back(value ? OpFoldResult(value)
                          : OpFoldResult(b.getIndexAttr(size)));
  // A part of rows may be as long as a value says.
  auto queries = cast<AffineMapAttr>(op.getScoresMaps()[0]).getValue();
  auto shape = cast<ShapedType>(op.getQueries().getType());
  for (auto [i, expr] : llvm::enumerate(queries.getResults()))
    if (auto dim = dyn_cast<AffineDimExpr>(expr);
        dim && dim.getPosition() < rank && shape.isDynamicDim(i) &&
        isa<Attribute>(sizes[dim.getPosition()]))
      sizes[dim.getPosition()] = findDim(op.getQueries(), i);
}

//===-- Ops on scores and on rows of them ---------------------------------===//

void AttentionWriter::writeConstants() {
  const llvm::fltSemantics &semantics =
      cast<FloatType>(type).getFloatSemantics();
  lowest = number(APFloat::getInf(semantics, /*Negative=*/true));
  zero = number(APFloat::getZero(semantics));
  if (op.getZeroRows())
    one = number(APFloat(semantics, 1));
}

Value AttentionWriter::number(const APFloat &value) {
  return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, value));
}

Value AttentionWriter::emptyScores(Type element) {
  return tensor::EmptyOp::create(b, loc, sizes, element);
}

Value AttentionWriter::emptyRow() {
  return tensor::EmptyOp::create(b, loc, ArrayRef(sizes).drop_back(), type);
}

Value AttentionWriter::filled(Value empty, Value with) {
  return linalg::FillOp::create(b, loc, with, empty).getResult(0);
}

Value AttentionWriter::generic(ValueRange inputs, Value init,
                               ArrayRef<AffineMap> maps, bool reduces,
                               Body body) {
  SmallVector<utils::IteratorType> iterators(maps[0].getNumDims(),
                                             utils::IteratorType::parallel);
  if (reduces)
    iterators.back() = utils::IteratorType::reduction;
  return linalg::GenericOp::create(
             b, loc, init.getType(), inputs, ValueRange{init}, maps, iterators,
             [&](OpBuilder &inner, Location at, ValueRange arguments) {
               linalg::YieldOp::create(inner, at, body(inner, arguments));
             })
      .getResult(0);
}

Value AttentionWriter::combineRows(Value x, Value y, Body body) {
  AffineMap map = b.getMultiDimIdentityMap(rank - 1);
  return generic({x, y}, emptyRow(), {map, map, map}, /*reduces=*/false, body);
}

Value AttentionWriter::combine(Value scores, Value ofRow, Type result,
                               Body body) {
  return generic({scores, ofRow}, emptyScores(result), {place, row, place},
                 /*reduces=*/false, body);
}

Value AttentionWriter::maximum(Value scores, Value start) {
  return generic({scores}, start, {place, row}, /*reduces=*/true,
                 [&](OpBuilder &b, ValueRange of) -> Value {
                   return arith::MaximumFOp::create(b, loc, of[0], of[1]);
                 });
}

Value AttentionWriter::sum(Value powers, Value start) {
  return generic({powers}, start, {place, row}, /*reduces=*/true,
                 [&](OpBuilder &b, ValueRange of) -> Value {
                   return arith::AddFOp::create(b, loc, of[1], of[0]);
                 });
}

Value AttentionWriter::powers(Value scores, Value largest, bool mayBeLowest) {
  return combine(scores, largest, type, [&](OpBuilder &b, ValueRange of) {
    return power(b, of[0], of[1], mayBeLowest);
  });
}

//===-- Scalars -----------------------------------------------------------===//

Value AttentionWriter::power(OpBuilder &b, Value score, Value largest,
                             bool mayBeLowest) {
  if (mayBeLowest)
    largest = tile::replaceNumber(b, loc, largest, lowest, zero);
  return math::ExpOp::create(b, loc,
                             arith::SubFOp::create(b, loc, score, largest));
}

Value AttentionWriter::divided(OpBuilder &b, Value value, Value total) {
  if (op.getZeroRows())
    total = tile::replaceNumber(b, loc, total, zero, one);
  return arith::DivFOp::create(b, loc, value, total);
}

Value AttentionWriter::inlined(OpBuilder &b, Region &region,
                               ValueRange arguments, ArrayRef<tile::Cut> cuts) {
  return tile::inlineBody(b, region, arguments, [&](tile::IndexOp index) {
    Value number = linalg::IndexOp::create(b, index.getLoc(), index.getDim());
    if (index.getDim() < cuts.size() && cuts[index.getDim()].size)
      number = arith::AddIOp::create(
          b, index.getLoc(), number,
          getValueOrCreateConstantIndexOp(b, index.getLoc(),
                                          cuts[index.getDim()].offset));
    return number;
  });
}

//===-- The two products --------------------------------------------------===//

tile::ContractOp AttentionWriter::contract(Location at, ValueRange factors,
                                           ValueRange epilogue, Value init,
                                           ArrayRef<int64_t> parallel,
                                           ArrayRef<int64_t> reduced,
                                           ArrayRef<AffineMap> maps,
                                           tile::StrategyAttr strategy) {
  return tile::ContractOp::create(
      b, at, init.getType(), factors[0], factors[1], epilogue, init,
      /*unrounded=*/Value(), b.getDenseI64ArrayAttr(parallel),
      b.getDenseI64ArrayAttr(reduced), b.getAffineMapArrayAttr(maps),
      /*aUnsigned=*/UnitAttr(), /*bUnsigned=*/UnitAttr(),
      /*pad=*/TypedAttr(), strategy, /*device=*/IntegerAttr());
}

/// A strategy for one worker's part of what it was chosen for.
static tile::StrategyAttr clip(tile::StrategyAttr strategy,
                               ArrayRef<int64_t> parallel,
                               ArrayRef<int64_t> reduced) {
  return strategy ? strategy.withoutGrid().clippedTo(llvm::to_vector(
                        llvm::concat<const int64_t>(parallel, reduced)))
                  : strategy;
}

Value AttentionWriter::writeScores(ArrayRef<tile::Cut> cuts) {
  auto part = [&](Value operand, AffineMap map) {
    return cuts.empty() ? operand : *tile::cutOperand(b, operand, map, cuts);
  };
  SmallVector<AffineMap> maps(
      op.getScoresMaps().getAsValueRange<AffineMapAttr>());
  SmallVector<Value> scoring;
  for (auto [i, operand] : llvm::enumerate(op.getScoring()))
    scoring.push_back(part(operand, maps[2 + i]));
  Value queries = part(op.getQueries(), maps[0]),
        keys = part(op.getKeys(), maps[1]);
  maps.push_back(place);
  SmallVector<int64_t> parallel(op.getScoresParallel());
  tile::StrategyAttr strategy = op.getScoresStrategyAttr();
  if (!cuts.empty()) {
    parallel.back() = cuts[rank - 1].size;
    strategy = clip(strategy, parallel, op.getScoresReduced());
  }
  tile::ContractOp product = contract(locOf(op.getScore()), {queries, keys},
                                      scoring, emptyScores(type), parallel,
                                      op.getScoresReduced(), maps, strategy);
  if (!parameters.empty())
    product->setAttr(exec::dimParametersAttrName,
                     b.getDenseI64ArrayAttr(parameters.take_front(
                         rank + op.getScoresReduced().size())));
  IRMapping mapping;
  op.getScore().cloneInto(&product.getBody(), mapping);
  if (!op.hidesScores())
    return product->getResult(0);
  SmallVector<Value> inputs = {product->getResult(0)};
  SmallVector<AffineMap> ofInputs = {place};
  for (auto [operand, map] : llvm::zip(
           op.getHiding(), op.getHideMaps().getAsValueRange<AffineMapAttr>())) {
    inputs.push_back(part(operand, map));
    ofInputs.push_back(map);
  }
  ofInputs.push_back(place);
  llvm::SaveAndRestore at(loc, locOf(op.getHide()));
  return generic(inputs, emptyScores(type), ofInputs, /*reduces=*/false,
                 [&](OpBuilder &b, ValueRange arguments) {
                   return inlined(b, op.getHide(), arguments.drop_back(), cuts);
                 });
}

void AttentionWriter::writeRows() {
  Value scores = writeScores({});
  writeConstants();
  Value largest = maximum(scores, filled(emptyRow(), lowest));
  Value exponentials = powers(scores, largest, op.getZeroRows());
  Value total = sum(exponentials, filled(emptyRow(), zero));
  Value weights =
      combine(exponentials, total, op.getWeightType(),
              [&](OpBuilder &b, ValueRange of) {
                return inlined(b, op.getWeigh(), divided(b, of[0], of[1]));
              });
  tile::ContractOp values =
      contract(locOf(op.getBody()), {weights, op.getValues()}, op.getEpilogue(),
               op.getInit(), op.getParallel(), op.getReduced(),
               llvm::to_vector(op.getMaps().getAsValueRange<AffineMapAttr>()),
               op.getStrategyAttr());
  if (!parameters.empty())
    values->setAttr(exec::dimParametersAttrName,
                    b.getDenseI64ArrayAttr(parameters.drop_front(
                        rank + op.getScoresReduced().size())));
  values.getBody().takeBody(op.getBody());
  op->getResult(0).replaceAllUsesWith(values->getResult(0));
  op->erase();
}

//===-- Some keys at a time -----------------------------------------------===//
//
// With the largest score so far, the sum of exponentials and the weighted sums,
// which all shrink when a larger score comes, no score is needed twice:
// Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018.

AffineMap AttentionWriter::rowOfResult() {
  return AffineMap::get(op.getParallel().size(), 0,
                        op.getWeightsMap().getResults().drop_back(),
                        op.getContext());
}

AttentionWriter::State AttentionWriter::step(const State &before,
                                             unsigned keyDim, OpFoldResult from,
                                             int64_t count) {
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

  Value scores = writeScores(ofScores);
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
  tile::ContractOp values = contract(
      at,
      {weights,
       *tile::cutOperand(b, op.getValues(), op.getValuesMap(), ofValues)},
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

Value AttentionWriter::finish(const State &state) {
  loc = locOf(op.getBody());
  SmallVector<Value> inputs = {state.sums, state.total};
  llvm::append_range(inputs, op.getEpilogue());
  SmallVector<AffineMap> maps = {
      b.getMultiDimIdentityMap(op.getParallel().size()), rowOfResult()};
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

void AttentionWriter::writeLoop() {
  unsigned keyDim = *op.getKeyLoop();
  int64_t count = op.getTile(tile::LevelKind::Loop, keyDim),
          all = op.getReduced()[keyDim - op.getParallel().size()],
          whole = all / count * count;
  writeConstants();
  State state = {
      filled(tensor::EmptyOp::create(b, loc, op.getParallel(), type), zero),
      filled(emptyRow(), lowest), filled(emptyRow(), zero)};
  auto index = [&](int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value).getResult();
  };
  auto loop = scf::ForOp::create(
      b, loc, index(0), index(whole), index(count),
      ValueRange{state.sums, state.largest, state.total},
      [&](OpBuilder &inner, Location at, Value from, ValueRange carried) {
        llvm::SaveAndRestore inside(b, inner);
        State next =
            step({carried[0], carried[1], carried[2]}, keyDim, from, count);
        scf::YieldOp::create(b, at,
                             ValueRange{next.sums, next.largest, next.total});
      });
  state = {loop.getResult(0), loop.getResult(1), loop.getResult(2)};
  if (whole != all)
    state = step(state, keyDim, b.getIndexAttr(whole), all - whole);
  op->getResult(0).replaceAllUsesWith(finish(state));
  op->erase();
}
