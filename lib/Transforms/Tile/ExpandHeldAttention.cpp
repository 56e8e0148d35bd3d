// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an attention in registers stands in: the loops of workers, rings of
// operands, the loop over keys.
#include "HeldAttention.h"
#include "VisibleKeys.h"
#include "ashlar/Dialects/Tile/IR/KeyParts.h"
#include "ashlar/Transforms/Tile/Passes.h"
#include "ashlar/Transforms/Tile/StaticStrides.h"
#include "ashlar/Transforms/Tile/TensorBox.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
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

LogicalResult HeldAttention::write() {
  if (failed(makeBoxes()))
    return failure();
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
  SmallVector<Value> all = loopOverKeys(start);
  release(queries);
  if (part)
    storePart(all);
  else
    finish(all[0], all[2]);
  op.erase();
  return success();
}

Value HeldAttention::number(const APFloat &value) {
  return arith::ConstantOp::create(b, b.getFloatAttr(type, value));
}

Value HeldAttention::index(int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}

Value HeldAttention::valueOf(OpFoldResult place) {
  return getValueOrCreateConstantIndexOp(b, b.getLoc(), place);
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
  SmallVector<unsigned> cut, order;
  // Where the last rows see the most keys, those of all batches come first, so
  // that what is left at the end is short.
  bool isUneven = !findVisibleKeys(op).to.empty();
  if (isUneven)
    order.push_back(values.row);
  for (unsigned d = 0; d != op.getParallel().size(); ++d)
    if (!isUneven || d != values.row)
      order.push_back(d);
  for (unsigned d : order)
    if (values.extents[d] < values.sizes[d]) {
      cut.push_back(d);
      from.push_back(b.getIndexAttr(0));
      to.push_back(values.open[d] ? OpFoldResult(values.open[d])
                                  : b.getIndexAttr(values.sizes[d]));
      step.push_back(b.getIndexAttr(values.extents[d]));
    }
  if (partKeys) {
    from.push_back(b.getIndexAttr(0));
    to.push_back(b.getIndexAttr(tile::countKeyParts(op)));
    step.push_back(b.getIndexAttr(1));
  }
  if (from.empty())
    return;
  auto forall =
      scf::ForallOp::create(b, from, to, step, ValueRange(), std::nullopt);
  forall->setAttr("tile.scope", b.getStringAttr(scope()));
  b.setInsertionPoint(forall.getTerminator());
  if (partKeys)
    part = forall.getInductionVars().back();
  for (auto [d, place] : llvm::zip(cut, forall.getInductionVars())) {
    values.at[d] = place;
    SmallVector<Value> symbols;
    AffineExpr last =
        (sizeOf(values, d, symbols) - 1).floorDiv(values.extents[d]) *
        values.extents[d];
    if (isUneven && d == values.row)
      values.at[d] =
          apply(last - b.getAffineDimExpr(0), {values.at[d]}, symbols);
  }
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

void HeldAttention::release(Operand &operand) {
  tile::ReleaseOp::create(b, operand.slot, ValueRange());
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
      if (failed(HeldAttention(op).write()))
        return signalPassFailure();
    }
  }
};
} // namespace
