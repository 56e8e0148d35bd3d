// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An attention of which two steps go on at a time, where roles bring its
// operands: Shah et al., "FlashAttention-3", 2024, algorithm 2.
#include "HeldAttention.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace ashlar;

/// Each ring has a slot that is read beside one that is filled.
bool HeldAttention::goesBehind() {
  tile::StrategyAttr strategy = op.getScoresStrategyAttr();
  tile::FragmentAttr fragment = strategy.getFragment();
  return !strategy.getRoles().empty() && fragment &&
         fragment.getInFlight() > 0 && keys.hop.getSlots() > 1 &&
         weighed.hop.getSlots() > 1;
}

OpFoldResult HeldAttention::firstTile(OpFoldResult from, OpFoldResult to) {
  OpFoldResult begin = firstKey();
  if (from == begin)
    return begin;
  Value sees = arith::CmpIOp::create(b, arith::CmpIPredicate::slt,
                                     valueOf(from), valueOf(to));
  return arith::SelectOp::create(b, sees, valueOf(from), valueOf(begin))
      .getResult();
}

SmallVector<Value> HeldAttention::loopBehind(ArrayRef<Span> spans,
                                             ValueRange start) {
  int64_t tile = values.extents[values.term];
  AffineExpr d0 = b.getAffineDimExpr(0), d1 = b.getAffineDimExpr(1);
  auto later = [&](OpFoldResult x, OpFoldResult y) {
    return most({d0, d1}, {x, y});
  };
  // There is a first tile always: where no row sees a key, one whose scores are
  // all hidden.
  OpFoldResult first = firstTile(spans.front().from, spans.back().to),
               next = apply(d0 + tile, {first});
  moveTo(valueOf(first));
  copy(keys, scores);
  wait({&keys});
  isSeen = false;
  takeTurn();
  Value begun, products = multiplyKeys(&begun);
  passTurn();
  tile::WaitOp::create(b, begun);
  release(keys);
  Weights now = weigh(makeScores(products), start[1], start[2]);
  SmallVector<Value> carried = {start[0], now.largest, now.total, now.weights};
  for (const Span &span : spans) {
    auto loop = scf::ForOp::create(b, valueOf(later(span.from, next)),
                                   valueOf(span.to), index(tile), carried);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    isSeen = span.isSeen;
    scf::YieldOp::create(
        b, stepBehind(loop.getInductionVar(), loop.getRegionIterArgs()));
    carried.assign(loop.getResults().begin(), loop.getResults().end());
  }
  OpFoldResult last =
      later(first, apply((d0 - 1).floorDiv(tile) * tile, {spans.back().to}));
  moveTo(valueOf(last));
  copy(weighed, values);
  wait({&weighed});
  takeTurn();
  carried[0] =
      multiply(carried[0], carried[3], AffineMap(), weighed, values, &begun);
  passTurn();
  tile::WaitOp::create(b, begun);
  release(weighed);
  carried.resize(start.size());
  return carried;
}

SmallVector<Value> HeldAttention::stepBehind(Value key, ValueRange before) {
  moveTo(key);
  copy(keys, scores);
  wait({&keys});
  takeTurn();
  Value ofKeys, ofValues, products = multiplyKeys(&ofKeys);
  OpFoldResult previous =
      apply(b.getAffineDimExpr(0) - values.extents[values.term], {key});
  moveTo(valueOf(previous));
  copy(weighed, values);
  wait({&weighed});
  Value sums =
      multiply(before[0], before[3], AffineMap(), weighed, values, &ofValues);
  passTurn();
  moveTo(key);
  tile::WaitOp::create(b, ofKeys);
  release(keys);
  Weights now = weigh(makeScores(products), before[1], before[2]);
  tile::WaitOp::create(b, ofValues);
  release(weighed);
  return {rescale(sums, now.scale), now.largest, now.total, now.weights};
}

int64_t HeldAttention::groupsInTurn() {
  for (tile::TeamAttr team : op.getScoresStrategyAttr().getRoles())
    if (team.getRole() == "consumer")
      return team.getCount();
  return 1;
}

void HeldAttention::takeTurn() {
  if (int64_t groups = groupsInTurn(); groups > 1)
    tile::TakeTurnOp::create(b, groups);
}

void HeldAttention::passTurn() {
  if (int64_t groups = groupsInTurn(); groups > 1)
    tile::PassTurnOp::create(b, groups);
}
