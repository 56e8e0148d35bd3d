// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loops over tiles of keys of an attention in registers: up to the last
// tile of which a row of the part sees a key, and apart those of which each row
// sees all.
#include "HeldAttention.h"
#include "VisibleKeys.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace ashlar;

SmallVector<Value> HeldAttention::loopOverKeys(ValueRange start) {
  SmallVector<Span, 2> spans = spansOfKeys();
  bool isKnown = llvm::all_of(spans, [](const Span &span) {
    return getConstantIntValue(span.from) && getConstantIntValue(span.to);
  });
  bool byRoles = !op.getScoresStrategyAttr().getRoles().empty();
  if (!isKnown && !byRoles && keys.hop.getSlots() > 1)
    return loopAhead(spans, start);
  if (goesBehind())
    return loopBehind(spans, start);
  SmallVector<Value> all(start);
  for (const Span &span : spans)
    all = loop(span, all);
  return all;
}

OpFoldResult HeldAttention::firstKey() {
  if (!part)
    return b.getIndexAttr(0);
  return apply(b.getAffineDimExpr(0) * partKeys, {part});
}

SmallVector<HeldAttention::Span, 2> HeldAttention::spansOfKeys() {
  int64_t tile = scores.extents[scores.column];
  VisibleKeys visible = findVisibleKeys(op);
  SmallVector<Value> symbols(visible.symbols);
  AffineExpr all = sizeOf(scores, scores.column, symbols);
  auto atRow = [&](AffineExpr expr, bool last) {
    return visible.ofRows(expr, scores.row, scores.extents[scores.row], last);
  };
  auto wholeTiles = [&](AffineExpr keys) { return keys.floorDiv(tile) * tile; };
  SmallVector<AffineExpr> from = {b.getAffineConstantExpr(0)}, to = {all},
                          seen = {wholeTiles(all)};
  // Where keys are shared out, the dim of keys is where the part begins.
  AffineExpr begin = b.getAffineDimExpr(scores.column);
  if (part) {
    from = {begin};
    to.push_back(begin + partKeys);
    seen.push_back(begin + partKeys);
  }
  for (AffineExpr expr : visible.from)
    from.push_back(wholeTiles(atRow(expr, /*last=*/false)));
  for (AffineExpr expr : visible.to) {
    to.push_back(atRow(expr, /*last=*/true));
    seen.push_back(wholeTiles(atRow(expr, /*last=*/false)));
  }
  SmallVector<OpFoldResult> at(ArrayRef(scores.at).take_front(rank));
  // On which nothing else depends.
  at[scores.column] = firstKey();
  Span whole = {most(from, at, symbols), least(to, at, symbols)};
  if (!visible.isComplete || !visible.from.empty() || visible.to.empty())
    return {whole};
  // Nothing is asked of a key that all rows see.
  OpFoldResult between = most({b.getAffineDimExpr(0), b.getAffineDimExpr(1)},
                              {at[scores.column], least(seen, at, symbols)});
  return {{whole.from, between, /*isSeen=*/true}, {between, whole.to}};
}

void HeldAttention::moveTo(Value key) {
  scores.at[scores.column] = key;
  values.at[values.term] = key;
}

void HeldAttention::copyTile() {
  copy(keys, scores);
  copy(weighed, values);
}

SmallVector<Value> HeldAttention::loop(const Span &span, ValueRange start) {
  auto loop = scf::ForOp::create(b, valueOf(span.from), valueOf(span.to),
                                 index(values.extents[values.term]), start);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  moveTo(loop.getInductionVar());
  copyTile();
  wait({&keys});
  isSeen = span.isSeen;
  scf::YieldOp::create(b,
                       step(loop.getRegionIterArgs(), /*waitsForValues=*/true));
  return llvm::to_vector_of<Value>(loop.getResults());
}

SmallVector<Value> HeldAttention::loopAhead(ArrayRef<Span> spans,
                                            ValueRange start) {
  int64_t tile = values.extents[values.term];
  SmallVector<Value> symbols;
  AffineExpr size = sizeOf(values, values.term, symbols);
  AffineExpr last = (size - 1).floorDiv(tile) * tile;
  // Of no keys at all, the first tile is empty.
  if (values.open[values.term]) {
    symbols = {valueOf(most({last, b.getAffineConstantExpr(0)}, {}, symbols))};
    last = b.getAffineSymbolExpr(0);
  }
  // A part that sees no key begins with one that exists.
  auto existing = [&](OpFoldResult key, int64_t further) {
    return valueOf(
        least({b.getAffineDimExpr(0) + further, last}, {key}, symbols));
  };
  moveTo(existing(spans.front().from, 0));
  copyTile();
  SmallVector<Value> carried(start);
  auto addTile = [&](SmallVectorImpl<Value> &all) {
    llvm::append_values(all, keys.slot, keys.begun, weighed.slot,
                        weighed.begun);
  };
  auto takeTile = [&](ValueRange all) {
    ValueRange tile = all.drop_front(start.size());
    keys.slot = tile[0], keys.begun = tile[1];
    weighed.slot = tile[2], weighed.begun = tile[3];
  };
  addTile(carried);
  for (const Span &span : spans) {
    auto loop = scf::ForOp::create(b, valueOf(span.from), valueOf(span.to),
                                   index(tile), carried);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    ValueRange before = loop.getRegionIterArgs();
    takeTile(before);
    // What is copied now goes where all have read, for which they have met.
    wait({&keys, &weighed});
    moveTo(existing(loop.getInductionVar(), tile));
    copyTile();
    SmallVector<Value> next;
    addTile(next);
    takeTile(before);
    moveTo(loop.getInductionVar());
    isSeen = span.isSeen;
    SmallVector<Value> all =
        step(before.take_front(start.size()), /*waitsForValues=*/false);
    llvm::append_range(all, next);
    scf::YieldOp::create(b, all);
    carried.assign(loop.getResults().begin(), loop.getResults().end());
  }
  takeTile(carried);
  wait({&keys, &weighed});
  release(keys);
  release(weighed);
  carried.resize(start.size());
  return carried;
}
