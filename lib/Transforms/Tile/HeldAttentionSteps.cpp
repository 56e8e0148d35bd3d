// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One tile of keys of an attention in registers: scores, weights, sums.
#include "HeldAttention.h"
#include "VisibleKeys.h"
#include "ashlar/Dialects/Tile/IR/AttentionScalars.h"
#include "ashlar/Dialects/Tile/IR/KeyParts.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace ashlar;

//===-- Accumulators ------------------------------------------------------===//

tile::AccType HeldAttention::typeOf(const Box &box, Type element,
                                    tile::StrategyAttr strategy) {
  SmallVector<int64_t> shape = {box.extents[box.row], box.extents[box.column]};
  tile::LevelAttr group = strategy.getGroups().front();
  SmallVector<int64_t> part(shape);
  const unsigned dims[] = {box.row, box.column};
  for (auto [size, d] : llvm::zip(part, dims))
    if (int64_t tile = group.getTile(d))
      size = std::min(size, tile);
  SmallVector<tile::LevelAttr> groups = {
      tile::LevelAttr::get(b.getContext(), group.getKind(), group.getScope(),
                           part, /*reduced=*/{}, /*order=*/{})};
  return tile::AccType::get(b.getContext(), shape, element, /*registers=*/{},
                            groups, strategy.getFragment());
}

void HeldAttention::fill(Region &region, ArrayRef<Type> types, Body body) {
  OpBuilder::InsertionGuard guard(b);
  Block *block = b.createBlock(&region, {}, types,
                               SmallVector<Location>(types.size(), b.getLoc()));
  tile::YieldOp::create(b, body(block->getArguments()));
}

Value HeldAttention::map(tile::AccType result, ValueRange inputs,
                         ArrayRef<AffineMap> maps, bool padded, Body body) {
  auto made = tile::MapOp::create(b, result, inputs,
                                  b.getAffineMapArrayAttr(maps), padded);
  SmallVector<Type> types;
  for (Value input : inputs)
    types.push_back(isa<tile::AccType>(input.getType())
                        ? cast<tile::AccType>(input.getType()).getElementType()
                        : cast<MemRefType>(input.getType()).getElementType());
  fill(made.getBody(), types, body);
  return made;
}

Value HeldAttention::mapRows(Value all, Value rows, Body body) {
  return map(cast<tile::AccType>(all.getType()), {all, rows},
             {columns, rowsAlone}, /*padded=*/false, body);
}

Value HeldAttention::mapBoth(Value x, Value y, Body body) {
  return map(cast<tile::AccType>(x.getType()), {x, y}, {columns, columns},
             /*padded=*/false, body);
}

Value HeldAttention::reduce(Value all, Body body) {
  auto type = cast<tile::AccType>(all.getType());
  auto made = tile::ReduceOp::create(b, type.getRowsAlone(), all,
                                     b.getDenseI64ArrayAttr({1}));
  fill(made.getBody(), {type.getElementType(), type.getElementType()}, body);
  return made;
}

Value HeldAttention::multiply(Value sums, Value a, AffineMap aMap,
                              Operand &right, const Box &box, Value *begun) {
  // Over rows, columns and terms.
  auto inSlot = [&](AffineMap map) {
    SmallVector<AffineExpr> places;
    for (AffineExpr expr : map.getResults()) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      unsigned d = dim ? dim.getPosition() : ~0u;
      places.push_back(d == box.row      ? b.getAffineDimExpr(0)
                       : d == box.column ? b.getAffineDimExpr(1)
                       : d == box.term   ? b.getAffineDimExpr(2)
                                         : b.getAffineConstantExpr(0));
    }
    return AffineMap::get(3, 0, places, b.getContext());
  };
  aMap = aMap ? inSlot(aMap)
              : AffineMap::getMultiDimMapWithTargets(3, {0, 2}, b.getContext());
  Type token = begun ? tile::TokenType::get(b.getContext()) : Type();
  auto step = tile::StepOp::create(
      b, sums.getType(), token, sums, a, /*aOffsets=*/ValueRange(), right.slot,
      /*bOffsets=*/ValueRange(), ArrayRef<int64_t>{box.extents[box.term]},
      /*unroll=*/1, aMap, inSlot(right.map), /*aUnsigned=*/false,
      /*bUnsigned=*/false, /*grouped=*/false, /*ahead=*/0);
  if (begun)
    *begun = step.getToken();
  return step.getResult();
}

//===-- One tile of keys --------------------------------------------------===//

Value HeldAttention::inlined(Region &region, ValueRange arguments) {
  return tile::inlineBody(b, region, arguments, [&](tile::IndexOp index) {
    return placeOf(index.getDim());
  });
}

Value HeldAttention::placeOf(unsigned d) {
  Value begin = begins[d];
  if (d != scores.row && d != scores.column)
    return begin;
  Value own =
      tile::IndexOp::create(b, b.getIndexType(), d == scores.column ? 1 : 0);
  return arith::AddIOp::create(b, begin, own);
}

Value HeldAttention::multiplyKeys(Value *begun) {
  tile::AccType acc =
      typeOf(scores, op.getScore().front().getArgument(0).getType(),
             op.getScoresStrategyAttr());
  Value none =
      arith::ConstantOp::create(b, b.getZeroAttr(acc.getElementType()));
  return multiply(tile::InitOp::create(b, acc, none), queries.slot, queries.map,
                  keys, scores, begun);
}

Value HeldAttention::makeScores(Value products) {
  SmallVector<Value> inputs = {products};
  SmallVector<AffineMap> maps = {columns};
  bool padded = false;
  auto read = [&](Value memory, AffineMap at) {
    BoxView part =
        view(memory, at, scores, {scores.row, scores.column}, padded);
    inputs.push_back(part.memory);
    maps.push_back(part.map);
  };
  for (auto [operand, at] :
       llvm::zip(op.getScoring(),
                 llvm::drop_begin(
                     op.getScoresMaps().getAsValueRange<AffineMapAttr>(), 2)))
    read(operand, at);
  for (auto [operand, at] : llvm::zip(
           op.getHiding(), op.getHideMaps().getAsValueRange<AffineMapAttr>()))
    read(operand, at);
  begins.clear();
  for (unsigned d = 0; d != rank; ++d)
    begins.push_back(valueOf(scores.at[d]));
  Value end = scores.open[scores.column] ? scores.open[scores.column]
                                         : index(scores.sizes[scores.column]);
  tile::AccType result = typeOf(scores, type, op.getScoresStrategyAttr());
  return map(result, inputs, maps, padded, [&](ValueRange arguments) {
    size_t own = 1 + op.getScoring().size();
    SmallVector<Value> hiding = {
        inlined(op.getScore(), arguments.take_front(own))};
    llvm::append_range(hiding, arguments.drop_front(own));
    Value score = inlined(op.getHide(), hiding);
    if (isSeen)
      return takeVisible(score);
    if (!scores.hasEdge(scores.column))
      return score;
    Value exists = arith::CmpIOp::create(b, arith::CmpIPredicate::slt,
                                         placeOf(scores.column), end);
    return arith::SelectOp::create(b, exists, score, lowest).getResult();
  });
}

Value HeldAttention::power(Value score, Value largest) {
  Value distance = arith::SubFOp::create(
      b, score, tile::replaceNumber(b, b.getLoc(), largest, lowest, zero));
  auto exp = math::ExpOp::create(b, distance);
  // Weights of 16 bits are rounded by far more than an approximation's error.
  if (op.getWeightType() != type)
    exp.setFastmath(arith::FastMathFlags::afn);
  return exp;
}

HeldAttention::Weights HeldAttention::weigh(Value all, Value before,
                                            Value totalBefore) {
  Weights made;
  made.largest =
      mapBoth(before,
              reduce(all,
                     [&](ValueRange both) -> Value {
                       return arith::MaximumFOp::create(b, both[0], both[1]);
                     }),
              [&](ValueRange both) -> Value {
                return arith::MaximumFOp::create(b, both[0], both[1]);
              });
  auto power = [&](ValueRange both) { return this->power(both[0], both[1]); };
  Value powers = mapRows(all, made.largest, power);
  made.scale = mapBoth(before, made.largest, power);
  Value own = reduce(powers, [&](ValueRange both) -> Value {
    return arith::AddFOp::create(b, both[0], both[1]);
  });
  tile::AccType rows = cast<tile::AccType>(own.getType());
  made.total =
      map(rows, {totalBefore, made.scale, own}, {columns, columns, columns},
          /*padded=*/false, [&](ValueRange of) -> Value {
            Value old = arith::MulFOp::create(b, of[0], of[1]);
            return arith::AddFOp::create(b, old, of[2]);
          });
  made.weights =
      map(typeOf(scores, op.getWeightType(), op.getScoresStrategyAttr()),
          {powers}, {columns}, /*padded=*/false,
          [&](ValueRange of) { return inlined(op.getWeigh(), of); });
  return made;
}

Value HeldAttention::rescale(Value sums, Value scale) {
  return mapRows(sums, scale, [&](ValueRange of) -> Value {
    return arith::MulFOp::create(b, of[0], of[1]);
  });
}

SmallVector<Value> HeldAttention::step(ValueRange before, bool waitsForValues) {
  Value products = multiplyKeys();
  release(keys);
  Weights now = weigh(makeScores(products), before[1], before[2]);
  Value sums = rescale(before[0], now.scale);
  if (waitsForValues)
    wait({&weighed});
  sums = multiply(sums, now.weights, AffineMap(), weighed, values);
  release(weighed);
  return {sums, now.largest, now.total};
}

void HeldAttention::finish(Value sums, Value total) {
  SmallVector<Value> inputs = {sums, total};
  SmallVector<AffineMap> maps = {columns, rowsAlone};
  bool padded = false;
  for (auto [i, operand] : llvm::enumerate(op.getEpilogue())) {
    BoxView part = view(operand, op.getMap(2 + i), values,
                        {values.row, values.column}, padded);
    inputs.push_back(part.memory);
    maps.push_back(part.map);
  }
  auto target = cast<MemRefType>(op.getInit().getType());
  Value one =
      op.getZeroRows() ? number(APFloat(type.getFloatSemantics(), 1)) : Value();
  Value result = map(
      typeOf(values, target.getElementType(), op.getStrategyAttr()), inputs,
      maps, padded, [&](ValueRange of) {
        Value by =
            one ? tile::replaceNumber(b, b.getLoc(), of[1], zero, one) : of[1];
        SmallVector<Value> taken = {
            arith::DivFOp::create(b, of[0], by).getResult()};
        llvm::append_range(taken, of.drop_front(2));
        return inlined(op.getBody(), taken);
      });
  store(result, op.getResultMap());
}

void HeldAttention::store(Value acc, AffineMap map) {
  bool clipped = false;
  BoxView to =
      view(op.getInit(), map, values, {values.row, values.column}, clipped);
  auto drain =
      tile::DrainOp::create(b, acc, /*epilogue=*/ValueRange(), to.memory,
                            b.getAffineMapArrayAttr({to.map}), clipped);
  fill(drain.getBody(), {cast<tile::AccType>(acc.getType()).getElementType()},
       [](ValueRange of) { return of[0]; });
}

void HeldAttention::storePart(ValueRange all) {
  // No keys are read any more: their dim is the part's number.
  values.at[values.term] = part;
  AffineExpr number = b.getAffineDimExpr(values.term);
  SmallVector<AffineExpr> places = {number};
  for (unsigned d = 0; d != op.getParallel().size(); ++d)
    places.push_back(b.getAffineDimExpr(d));
  auto map = [&] {
    return AffineMap::get(values.sizes.size(), 0, places, b.getContext());
  };
  store(all[0], map());
  places.front() = b.getAffineConstantExpr(tile::countKeyParts(op));
  for (auto [i, ofRows] : llvm::enumerate(all.drop_front())) {
    places.back() = number * 2 + i;
    store(ofRows, map());
  }
}
