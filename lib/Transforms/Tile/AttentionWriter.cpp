// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "AttentionWriter.h"
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Dialects/Tile/IR/AttentionScalars.h"
#include "ashlar/Transforms/Tile/KernelSizes.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace ashlar;

Location AttentionWriter::locOf(Region &region) {
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
  op.forEachOperand([&](Value operand, AffineMap, bool) {
    isOpen |= !cast<ShapedType>(operand.getType()).hasStaticShape();
  });
  // Strategies of products for which threads are planned follow.
  isFilled = isOpen && !op.getScoresStrategyAttr();
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

tile::StrategyAttr AttentionWriter::clip(tile::StrategyAttr strategy,
                                         ArrayRef<int64_t> parallel,
                                         ArrayRef<int64_t> reduced) {
  return strategy ? strategy.withoutGrid().clippedTo(llvm::to_vector(
                        llvm::concat<const int64_t>(parallel, reduced)))
                  : strategy;
}

bool AttentionWriter::mayEnd(Value part) {
  return isFilled && op.getKeyLoop() &&
         !cast<ShapedType>(part.getType()).hasStaticShape();
}

Value AttentionWriter::writeScores(ArrayRef<tile::Cut> cuts,
                                   OpFoldResult existing) {
  SmallVector<OpFoldResult> lengths(cuts.size());
  if (!cuts.empty())
    lengths[rank - 1] = existing;
  auto part = [&](Value operand, AffineMap map) {
    return cuts.empty() ? operand
                        : *tile::cutOperand(b, operand, map, cuts, lengths);
  };
  SmallVector<AffineMap> maps(
      op.getScoresMaps().getAsValueRange<AffineMapAttr>());
  SmallVector<Value> scoring;
  for (auto [i, operand] : llvm::enumerate(op.getScoring()))
    scoring.push_back(part(operand, maps[2 + i]));
  Value queries = part(op.getQueries(), maps[0]),
        keys = part(op.getKeys(), maps[1]);
  // What scores sums, where it ends in front of them, is not the product's.
  bool isApart =
      llvm::any_of(scoring, [&](Value operand) { return mayEnd(operand); });
  SmallVector<Beside> beside;
  if (isApart) {
    for (auto [operand, map] : llvm::zip(scoring, ArrayRef(maps).drop_front(2)))
      beside.push_back({operand, map});
    scoring.clear();
    maps.truncate(2);
  }
  maps.push_back(place);
  SmallVector<int64_t> parallel(op.getScoresParallel());
  tile::StrategyAttr strategy = op.getScoresStrategyAttr();
  if (!cuts.empty()) {
    parallel.back() = cuts[rank - 1].size;
    strategy = clip(strategy, parallel, op.getScoresReduced());
  }
  Location at = locOf(op.getScore());
  Type sum = op.getScore().front().getArgument(0).getType();
  tile::ContractOp product =
      contract(at, {queries, keys}, scoring, emptyScores(isApart ? sum : type),
               parallel, op.getScoresReduced(), maps, strategy);
  if (!parameters.empty() && cuts.empty())
    product->setAttr(exec::dimParametersAttrName,
                     b.getDenseI64ArrayAttr(parameters.take_front(
                         rank + op.getScoresReduced().size())));
  IRMapping mapping;
  if (isApart)
    yieldSum(product);
  else
    op.getScore().cloneInto(&product.getBody(), mapping);
  auto end = isFilled ? dyn_cast_if_present<Value>(existing) : Value();
  if (!op.hidesScores() && !end && !isApart)
    return product->getResult(0);
  for (auto [operand, map] : llvm::zip(
           op.getHiding(), op.getHideMaps().getAsValueRange<AffineMapAttr>()))
    beside.push_back({part(operand, map), map});
  return hide(product->getResult(0), beside, isApart, cuts, end);
}

void AttentionWriter::yieldSum(tile::ContractOp product) {
  OpBuilder::InsertionGuard guard(b);
  Type sum = getElementTypeOrSelf(product.getInit());
  Block *body = b.createBlock(&product.getBody(), {}, sum, product.getLoc());
  tile::YieldOp::create(b, product.getLoc(), body->getArgument(0));
}

Value AttentionWriter::hide(Value scores, ArrayRef<Beside> beside, bool areSums,
                            ArrayRef<tile::Cut> cuts, Value existing) {
  SmallVector<Value> inputs = {scores};
  SmallVector<AffineMap> maps = {place};
  for (auto [operand, map] : beside)
    if (!mayEnd(operand)) {
      inputs.push_back(operand);
      maps.push_back(map);
    }
  maps.push_back(place);
  llvm::SaveAndRestore at(loc, locOf(op.getHide()));
  return generic(inputs, emptyScores(type), maps, /*reduces=*/false,
                 [&](OpBuilder &b, ValueRange arguments) {
                   Value score = arguments.front();
                   ValueRange others = arguments.drop_front();
                   SmallVector<Value> read;
                   for (auto [operand, map] : beside) {
                     read.push_back(mayEnd(operand) ? readAt(b, operand, map)
                                                    : others.front());
                     others = others.drop_front(mayEnd(operand) ? 0 : 1);
                   }
                   ArrayRef<Value> rest = read;
                   if (areSums) {
                     size_t count = op.getScoring().size();
                     SmallVector<Value> ofScore = {score};
                     llvm::append_range(ofScore, rest.take_front(count));
                     score = inlined(b, op.getScore(), ofScore);
                     rest = rest.drop_front(count);
                   }
                   SmallVector<Value> ofHide = {score};
                   llvm::append_range(ofHide, rest);
                   score = inlined(b, op.getHide(), ofHide, cuts);
                   if (!existing)
                     return score;
                   Value exists = arith::CmpIOp::create(
                       b, loc, arith::CmpIPredicate::slt,
                       linalg::IndexOp::create(b, loc, rank - 1), existing);
                   return arith::SelectOp::create(b, loc, exists, score, lowest)
                       .getResult();
                 });
}

Value AttentionWriter::readAt(OpBuilder &b, Value part, AffineMap map) {
  SmallVector<Value> place;
  for (auto [size, expr] :
       llvm::zip(tensor::getMixedSizes(b, loc, part), map.getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim) {
      place.push_back(arith::ConstantIndexOp::create(b, loc, 0));
      continue;
    }
    place.push_back(linalg::IndexOp::create(b, loc, dim.getPosition()));
    if (auto end = dyn_cast<Value>(size)) {
      Value last = arith::SubIOp::create(
          b, loc, end, arith::ConstantIndexOp::create(b, loc, 1));
      place.back() = arith::MinSIOp::create(b, loc, place.back(), last);
    }
  }
  return tensor::ExtractOp::create(b, loc, part, place);
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
