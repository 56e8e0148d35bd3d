// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an attention in registers stands in: the loops of workers, rings of
// operands, the loop over keys.
#include "HeldAttention.h"
#include "VisibleKeys.h"
#include "ashlar/Transforms/Tile/Passes.h"
#include "ashlar/Transforms/Tile/StaticStrides.h"
#include "ashlar/Transforms/Tile/TensorBox.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <numeric>

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_EXPANDHELDATTENTIONPASS
#include "ashlar/Transforms/Tile/Passes.h.inc"
} // namespace ashlar

HeldAttention::HeldAttention(tile::AttentionOp op)
    : op(op), b(op.getLoc(), op), type(cast<FloatType>(op.getScoreType())),
      rank(op.getScoresParallel().size()),
      columns(AffineMap::getMultiDimIdentityMap(2, op.getContext())),
      rowsAlone(AffineMap::get(
          2, 0, {b.getAffineDimExpr(0), b.getAffineConstantExpr(0)},
          op.getContext())) {}

void HeldAttention::write() {
  makeBoxes();
  makeOperands();
  emitGrid();
  makeRing(queries, scores);
  makeRing(keys, scores);
  makeRing(weighed, values);
  copy(queries, scores);
  wait({&queries});
  lowest = number(APFloat::getInf(type.getFloatSemantics(), /*Negative=*/true));
  zero = number(APFloat::getZero(type.getFloatSemantics()));
  tile::AccType sums = typeOf(values, type, op.getStrategyAttr());
  Value start[] = {tile::InitOp::create(b, sums, zero),
                   tile::InitOp::create(b, sums.getRowsAlone(), lowest),
                   tile::InitOp::create(b, sums.getRowsAlone(), zero)};
  Span span = spanOfKeys();
  bool byRoles = !op.getScoresStrategyAttr().getRoles().empty();
  SmallVector<Value> all = span.isKnown() || byRoles || keys.hop.getSlots() < 2
                               ? loop(span, start)
                               : loopAhead(span, start);
  tile::ReleaseOp::create(b, queries.slot, ValueRange());
  finish(all[0], all[2]);
  op.erase();
}

//===-- The loop over keys ------------------------------------------------===//

HeldAttention::Span HeldAttention::spanOfKeys() {
  int64_t all = scores.sizes[scores.column],
          tile = scores.extents[scores.column];
  VisibleKeys visible = findVisibleKeys(op);
  // Of all rows of the part, the one that sees the most.
  auto atRow = [&](AffineExpr expr, bool last) {
    AffineExpr row = b.getAffineDimExpr(scores.row),
               next = expr.replace(row, row + 1);
    auto step =
        dyn_cast<AffineConstantExpr>(simplifyAffineExpr(next - expr, rank, 0));
    bool isGrowing = step && step.getValue() > 0;
    return isGrowing == last
               ? expr.replace(row, row + (scores.extents[scores.row] - 1))
               : expr;
  };
  SmallVector<AffineExpr> from = {b.getAffineConstantExpr(0)},
                          to = {b.getAffineConstantExpr(all)};
  for (AffineExpr expr : visible.from)
    from.push_back(atRow(expr, /*last=*/false).floorDiv(tile) * tile);
  for (AffineExpr expr : visible.to)
    to.push_back(atRow(expr, /*last=*/true));
  SmallVector<OpFoldResult> at(ArrayRef(scores.at).take_front(rank));
  at[scores.column] = b.getIndexAttr(0); // which they do not depend on
  return {affine::makeComposedFoldedAffineMax(
              b, b.getLoc(), AffineMap::get(rank, 0, from, b.getContext()), at),
          affine::makeComposedFoldedAffineMin(
              b, b.getLoc(), AffineMap::get(rank, 0, to, b.getContext()), at)};
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
  auto valueOf = [&](OpFoldResult place) {
    return getValueOrCreateConstantIndexOp(b, b.getLoc(), place);
  };
  auto loop = scf::ForOp::create(b, valueOf(span.from), valueOf(span.to),
                                 index(values.extents[values.term]), start);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  moveTo(loop.getInductionVar());
  copyTile();
  wait({&keys});
  scf::YieldOp::create(b,
                       step(loop.getRegionIterArgs(), /*waitsForValues=*/true));
  return llvm::to_vector_of<Value>(loop.getResults());
}

SmallVector<Value> HeldAttention::loopAhead(const Span &span,
                                            ValueRange start) {
  int64_t tile = values.extents[values.term];
  int64_t last = (values.sizes[values.term] - 1) / tile * tile;
  // A part that sees no key begins with one that exists.
  auto existing = [&](OpFoldResult key, int64_t further) {
    return getValueOrCreateConstantIndexOp(
        b, b.getLoc(),
        affine::makeComposedFoldedAffineMin(
            b, b.getLoc(),
            AffineMap::get(1, 0,
                           {b.getAffineDimExpr(0) + further,
                            b.getAffineConstantExpr(last)},
                           b.getContext()),
            {key}));
  };
  Value from = existing(span.from, 0);
  moveTo(from);
  copyTile();
  SmallVector<Value> carried(start);
  llvm::append_values(carried, keys.slot, keys.begun, weighed.slot,
                      weighed.begun);
  auto carry = [&](ValueRange all) {
    keys.slot = all[0], keys.begun = all[1];
    weighed.slot = all[2], weighed.begun = all[3];
  };
  auto loop = scf::ForOp::create(
      b, from, getValueOrCreateConstantIndexOp(b, b.getLoc(), span.to),
      index(tile), carried);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    ValueRange before = loop.getRegionIterArgs();
    carry(before.drop_front(start.size()));
    // What is copied now goes where all have read, for which they have met.
    wait({&keys, &weighed});
    moveTo(existing(loop.getInductionVar(), tile));
    copyTile();
    SmallVector<Value> next = {keys.slot, keys.begun, weighed.slot,
                               weighed.begun};
    carry(before.drop_front(start.size()));
    moveTo(loop.getInductionVar());
    SmallVector<Value> all =
        step(before.take_front(start.size()), /*waitsForValues=*/false);
    llvm::append_range(all, next);
    scf::YieldOp::create(b, all);
  }
  carry(loop.getResults().drop_front(start.size()));
  wait({&keys, &weighed});
  for (Operand *operand : {&keys, &weighed})
    tile::ReleaseOp::create(b, operand->slot, ValueRange());
  return llvm::to_vector_of<Value>(loop.getResults().take_front(start.size()));
}

Value HeldAttention::number(const APFloat &value) {
  return arith::ConstantOp::create(b, b.getFloatAttr(type, value));
}

Value HeldAttention::index(int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}

void HeldAttention::makeBoxes() {
  auto begin = [&](Box &box, ArrayRef<int64_t> parallel,
                   ArrayRef<int64_t> reduced, tile::StrategyAttr strategy) {
    box.sizes = llvm::to_vector(llvm::concat<const int64_t>(parallel, reduced));
    box.extents = box.sizes;
    box.at.assign(box.sizes.size(), b.getIndexAttr(0));
    box.row = strategy.getM().front();
    box.column = strategy.getN().front();
    box.term = strategy.getK().front();
  };
  begin(values, op.getParallel(), op.getReduced(), op.getStrategyAttr());
  begin(scores, op.getScoresParallel(), op.getScoresReduced(),
        op.getScoresStrategyAttr());
  for (unsigned d = 0; d != values.sizes.size(); ++d)
    for (tile::LevelKind kind : {tile::LevelKind::Grid, tile::LevelKind::Loop})
      if (int64_t tile = op.getTile(kind, d))
        values.extents[d] = tile;
  scores.extents[scores.column] = values.extents[values.term];
  for (auto [i, expr] :
       llvm::enumerate(op.getWeightsMap().getResults().drop_back()))
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      scores.extents[i] = values.extents[dim.getPosition()];
}

void HeldAttention::makeOperands() {
  auto make = [&](Value memory, AffineMap map, tile::StrategyAttr strategy,
                  tile::OperandKind kind) {
    return Operand{
        memory, map, strategy.getHop(kind, tile::HopKind::Ring), {}, {}};
  };
  SmallVector<AffineMap> maps(
      op.getScoresMaps().getAsValueRange<AffineMapAttr>());
  tile::StrategyAttr strategy = op.getScoresStrategyAttr();
  queries = make(op.getQueries(), maps[0], strategy, tile::OperandKind::A);
  keys = make(op.getKeys(), maps[1], strategy, tile::OperandKind::B);
  weighed = make(op.getValues(), op.getValuesMap(), op.getStrategyAttr(),
                 tile::OperandKind::B);
}

//===-- The loops of workers ----------------------------------------------===//

void HeldAttention::emitGrid() {
  SmallVector<OpFoldResult> from, to, step;
  SmallVector<unsigned> cut;
  for (unsigned d = 0; d != op.getParallel().size(); ++d)
    if (values.extents[d] < values.sizes[d]) {
      cut.push_back(d);
      from.push_back(b.getIndexAttr(0));
      to.push_back(b.getIndexAttr(values.sizes[d]));
      step.push_back(b.getIndexAttr(values.extents[d]));
    }
  if (cut.empty())
    return;
  auto forall =
      scf::ForallOp::create(b, from, to, step, ValueRange(), std::nullopt);
  forall->setAttr("tile.scope", b.getStringAttr(scope()));
  b.setInsertionPoint(forall.getTerminator());
  for (auto [d, place] : llvm::zip(cut, forall.getInductionVars()))
    values.at[d] = place;
  for (auto [i, expr] :
       llvm::enumerate(op.getWeightsMap().getResults().drop_back()))
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      scores.at[i] = values.at[dim.getPosition()];
}

StringRef HeldAttention::scope() {
  for (auto level : op.getLevelsAttr().getAsRange<tile::LevelAttr>())
    if (level.getKind() == tile::LevelKind::Grid)
      return level.getScope();
  return "";
}

//===-- Rings -------------------------------------------------------------===//

void HeldAttention::makeRing(Operand &operand, const Box &box) {
  SmallVector<unsigned> dims(operand.map.getNumDims());
  std::iota(dims.begin(), dims.end(), 0);
  SmallVector<int64_t> shape;
  for (AffineExpr expr : operand.map.getResults())
    shape.push_back(
        BoxReach(expr, dims, ArrayRef(box.extents).take_front(dims.size()))
            .length);
  tile::LayoutAttr layout = operand.hop.getLayout();
  if (layout && !layout.whyNot(shape).empty())
    layout = nullptr;
  auto type = tile::RingType::get(
      b.getContext(), operand.hop.getSlots(), shape,
      cast<MemRefType>(operand.memory.getType()).getElementType(),
      b.getStringAttr(operand.hop.getMemory()), layout);
  operand.ring = tile::AllocOp::create(b, type);
}

BoxView HeldAttention::view(Value memory, AffineMap map, const Box &box,
                            ArrayRef<unsigned> dims, bool &padded) {
  SmallVector<int64_t> extents;
  for (unsigned d : dims)
    extents.push_back(box.extents[d]);
  return viewOfBox(
      b, memory, map, ArrayRef(box.at).take_front(map.getNumDims()), dims,
      extents, [&](unsigned d) -> OpFoldResult {
        if (!box.hasEdge(d))
          return {};
        padded = true;
        return affine::makeComposedFoldedAffineMin(
            b, b.getLoc(),
            AffineMap::get(
                1, 0,
                {b.getAffineConstantExpr(box.extents[d]),
                 b.getAffineConstantExpr(box.sizes[d]) - b.getAffineDimExpr(0)},
                b.getContext()),
            {box.at[d]});
      });
}

void HeldAttention::copy(Operand &operand, const Box &box) {
  SmallVector<unsigned> dims(operand.map.getNumDims());
  std::iota(dims.begin(), dims.end(), 0);
  bool padded = false;
  Value source = view(operand.memory, operand.map, box, dims, padded).memory;
  auto type = cast<tile::RingType>(operand.ring.getType());
  StringRef engine = operand.hop.getEngine();
  auto copy = tile::CopyOp::create(
      b, type.getSlotType(), tile::TokenType::get(b.getContext()), source,
      /*offsets=*/ValueRange(), operand.ring,
      b.getMultiDimIdentityMap(type.getShape().size()), padded,
      engine.empty() ? StringAttr() : b.getStringAttr(engine));
  operand.slot = copy.getSlot();
  operand.begun = copy.getToken();
}

void HeldAttention::wait(ArrayRef<Operand *> operands) {
  SmallVector<Value> tokens;
  for (Operand *operand : operands)
    tokens.push_back(operand->begun);
  tile::WaitOp::create(b, tokens);
}

namespace {
struct ExpandHeldAttention
    : ashlar::impl::ExpandHeldAttentionPassBase<ExpandHeldAttention> {
  void runOnOperation() override {
    SmallVector<tile::AttentionOp> ops;
    getOperation().walk([&](tile::AttentionOp op) { ops.push_back(op); });
    for (tile::AttentionOp op : ops) {
      if (!op.hasGroup() || !isa<MemRefType>(op.getInit().getType())) {
        op.emitOpError("expected memory, and levels with a group, in front of "
                       "accumulators");
        return signalPassFailure();
      }
      giveStaticStrides(cast<DestinationStyleOpInterface>(op.getOperation()));
      // Roles share out the threads of the whole kernel.
      if (ArrayRef<tile::TeamAttr> teams =
              op.getScoresStrategyAttr().getRoles();
          !teams.empty() && llvm::hasSingleElement(ops))
        getOperation()->setAttr(
            teamsAttrName,
            ArrayAttr::get(&getContext(),
                           SmallVector<Attribute>(teams.begin(), teams.end())));
      HeldAttention(op).write();
    }
  }
};
} // namespace
