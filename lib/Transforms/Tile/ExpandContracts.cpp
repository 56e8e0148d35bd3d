// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loops of a strategy: parts of workers, then tiles down to accumulators.
#include "ContractExpander.h"
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Support/NoteAt.h"
#include "ashlar/Transforms/Tile/ExpandContract.h"
#include "ashlar/Transforms/Tile/KernelSizes.h"
#include "ashlar/Transforms/Tile/PadMargins.h"
#include "ashlar/Transforms/Tile/Passes.h"
#include "ashlar/Transforms/Tile/StaticStrides.h"
#include "ashlar/Transforms/Tile/TensorBox.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_EXPANDCONTRACTSPASS
#include "ashlar/Transforms/Tile/Passes.h.inc"
} // namespace ashlar

ContractExpander::ContractExpander(tile::ContractOp op)
    : op(op), b(op.getLoc(), op), strategy(op.getStrategyAttr()),
      loops(strategy.getLoops()), numParallel(op.getParallel().size()) {
  numOutside =
      llvm::count_if(loops, [&](Loop loop) { return loop.dim < numParallel; });
  sizes.assign(op.getParallel().begin(), op.getParallel().end());
  llvm::append_range(sizes, op.getReduced());
  open = openDims(op);
  findEnds();
}

/// A part may have fewer points than what is made of it on the way: where tiles
/// are masked, it is filled up with zeros as it is read, else left out.
void ContractExpander::findEnds() {
  for (auto kind : {tile::OperandKind::A, tile::OperandKind::B}) {
    SmallVector<Value> &own = ends.emplace_back(sizes.size());
    for (auto [d, size] :
         llvm::enumerate(sizesAlong(memoryOf(kind), mapOf(kind))))
      if (size && !open[d])
        (strategy.isMasked(d) ? own[d] : open[d]) = size;
  }
}

/// Whether neighbours of the last dim are known not to be in memory.
static bool liesApart(Value memory) {
  SmallVector<int64_t> strides;
  int64_t offset;
  auto type = cast<MemRefType>(memory.getType());
  return succeeded(type.getStridesAndOffset(strides, offset)) &&
         !strides.empty() && strides.back() != 1 &&
         !ShapedType::isDynamic(strides.back());
}

LogicalResult ContractExpander::run() {
  if (isGrouped() && isWalked(sizes.size() - 1))
    return op.emitOpError("expected a group of terms side by side, found one "
                          "whose steps are values");
  for (Value operand : {op.getA(), op.getB()})
    if (isGrouped() && (operand == op.getA() || !packs()) && liesApart(operand))
      return noteAt(op.emitOpError("expected a group of terms side by side, "
                                   "found ")
                        << operand.getType(),
                    operand.getLoc(), "the operand is here");
  zero = index(0);
  for (unsigned d = 0; d != sizes.size(); ++d)
    largest.push_back(strategy.isMatrix() && hasOpenSteps(d) &&
                              !strategy.isMasked(d)
                          ? 1
                          : chunk(d));
  if (llvm::is_contained(op.getParallel(), 0)) {
    emitPad();
  } else if (!strategy.splitsTerms() || hasOpenTerms() || !hasTerms()) {
    emitWorkers([&] {
      emitPad();
      emitLoops(0);
    });
  } else {
    makePartials();
    emitWorkers([&] { emitLoops(0); });
    isJoining = true;
    emitWorkers([&] {
      emitPad();
      emitLoops(0);
    });
  }
  op.erase();
  return success();
}

bool ContractExpander::isCut(unsigned d) {
  int64_t tile = strategy.getWorkerTile(d);
  return tile != 0 && tile < sizes[d] && (d < numParallel || partials);
}

/// Whether `memory` is walked along `d` in steps that are values. A matrix unit
/// takes boxes as long as one there; terms have loops of their own.
bool ContractExpander::hasOpenSteps(Value memory, AffineMap map, unsigned d) {
  auto type = cast<MemRefType>(memory.getType());
  llvm::SmallVector<int64_t> strides;
  int64_t offset;
  if (d >= map.getNumDims() ||
      failed(type.getStridesAndOffset(strides, offset)))
    return false;
  for (auto [expr, stride] : llvm::zip(map.getResults(), strides))
    if (expr.isFunctionOfDim(d) && ShapedType::isDynamic(stride))
      return true;
  return false;
}

bool ContractExpander::hasOpenSteps(unsigned d) {
  bool found = hasOpenSteps(op.getA(), op.getAMap(), d);
  // Sums read the copy of b, whose steps are known.
  if (d < numParallel || !packs())
    found |= hasOpenSteps(op.getB(), op.getBMap(), d);
  if (d >= numParallel)
    return found || open[d];
  found |= hasOpenSteps(op.getInit(), op.getResultMap(), d);
  for (auto [i, operand] : llvm::enumerate(op.getEpilogue()))
    found |= hasOpenSteps(operand, op.getEpilogueMap(i), d);
  return found;
}

/// Reduced dims that are walked term by term, in loops of their own.
bool ContractExpander::isWalked(unsigned d) {
  return d >= numParallel && !strategy.isMasked(d) && hasOpenSteps(d) &&
         (open[d] || sizes[d] != 1);
}

bool ContractExpander::hasEdge(unsigned d) {
  return strategy.hasEdge(d, sizes[d], bool(open[d]));
}

void ContractExpander::emitWorkers(llvm::function_ref<void()> emit) {
  OpBuilder::InsertionGuard guard(b);
  front = zero.getDefiningOp();
  worker = nullptr;
  at.assign(sizes.size(), b.getIndexAttr(0));
  high.assign(sizes.size(), Value());
  isEntered.assign(sizes.size(), false);
  workers.clear();
  for (unsigned d = 0; d != numParallel; ++d)
    high[d] = extent(d);
  box.clear();
  for (unsigned d = 0; d != sizes.size(); ++d) {
    int64_t first = strategy.getOutermostTile(d);
    // A tile as large as the largest size is the only one.
    if (strategy.isMasked(d))
      box.push_back(!first ? sizes[d]
                    : open[d] && first < sizes[d]
                        ? 0
                        : llvm::alignTo(sizes[d], first));
    else
      box.push_back(open[d] ? 0 : sizes[d]);
  }
  for (tile::LevelAttr level : strategy.getGrids())
    emitGrid(level);
  whole = box;
  emit();
}

/// Bands of rows of tiles: in each, its rows follow each other in a column, and
/// then the columns.
void ContractExpander::raster(scf::ForallOp grid,
                              llvm::SmallVectorImpl<Value> &places) {
  size_t last = places.size() - 1;
  auto countOf = [&](size_t i) {
    return affine::makeComposedFoldedAffineApply(
        b, b.getLoc(),
        (b.getAffineSymbolExpr(1) - b.getAffineSymbolExpr(0))
            .ceilDiv(*getConstantIntValue(grid.getMixedStep()[i])),
        {grid.getMixedLowerBound()[i], grid.getMixedUpperBound()[i]});
  };
  auto numberOf = [&](size_t i) {
    return affine::makeComposedFoldedAffineApply(
        b, b.getLoc(),
        (b.getAffineDimExpr(0) - b.getAffineSymbolExpr(0))
            .floorDiv(*getConstantIntValue(grid.getMixedStep()[i])),
        {places[i], grid.getMixedLowerBound()[i]});
  };
  Value rows = valueOf(countOf(last - 1)), columns = valueOf(countOf(last));
  Value number = arith::AddIOp::create(
      b, arith::MulIOp::create(b, valueOf(numberOf(last - 1)), columns),
      valueOf(numberOf(last)));
  Value high = index(strategy.getRaster());
  Value perBand = arith::MulIOp::create(b, high, columns);
  Value first = arith::MulIOp::create(
      b, arith::DivUIOp::create(b, number, perBand), high);
  Value inside = arith::RemUIOp::create(b, number, perBand);
  // The last band may be lower.
  Value own =
      arith::MinUIOp::create(b, high, arith::SubIOp::create(b, rows, first));
  Value row =
      arith::AddIOp::create(b, first, arith::RemUIOp::create(b, inside, own));
  Value column = arith::DivUIOp::create(b, inside, own);
  for (auto [i, tile] : {std::pair(last - 1, row), std::pair(last, column)}) {
    AffineExpr place =
        b.getAffineDimExpr(0) * *getConstantIntValue(grid.getMixedStep()[i]) +
        b.getAffineSymbolExpr(0);
    places[i] = valueOf(affine::makeComposedFoldedAffineApply(
        b, b.getLoc(), place, {tile, grid.getMixedLowerBound()[i]}));
  }
}

void ContractExpander::emitGrid(tile::LevelAttr level) {
  SmallVector<OpFoldResult> from, to, step;
  SmallVector<unsigned> cut;
  // Those that share copies are all there, behind the end of a dim as well.
  bool isWhole = level == strategy.getGrids().back() &&
                 llvm::any_of(strategy.getHops(), [](tile::HopAttr hop) {
                   return hop.getMulticast();
                 });
  for (unsigned d = 0; d != sizes.size(); ++d) {
    int64_t tile = level.getTile(d);
    // The sums of parts are joined by whoever has all of them.
    if (!tile || tile >= sizes[d] || (box[d] && tile >= box[d]) ||
        (d >= numParallel && (!partials || isJoining)))
      continue;
    cut.push_back(d);
    from.push_back(at[d]);
    step.push_back(b.getIndexAttr(tile));
    if (getConstantIntValue(at[d]) == 0)
      to.push_back(extentOf(d));
    else if (isWhole)
      to.push_back(affine::makeComposedFoldedAffineApply(
          b, b.getLoc(), b.getAffineSymbolExpr(0) + box[d], {at[d]}));
    else
      to.push_back(box[d] ? endOfBox(d) : high[d]);
  }
  if (cut.empty())
    return;
  auto forall =
      scf::ForallOp::create(b, from, to, step, ValueRange(), std::nullopt);
  forall->setAttr("tile.scope", b.getStringAttr(level.getScope()));
  b.setInsertionPoint(forall.getTerminator());
  front = nullptr;
  worker = forall.getBody();
  llvm::append_range(workers, forall.getInductionVars());
  llvm::SmallVector<Value> places(forall.getInductionVars());
  if (strategy.getRaster() > 1 && cut.size() >= 2)
    raster(forall, places);
  for (auto [d, iv] : llvm::zip(cut, places)) {
    int64_t tile = level.getTile(d);
    at[d] = iv;
    if (isWhole && llvm::alignTo(sizes[d], tile) % box[d] != 0) {
      hasEmptyBoxes = true;
      at[d] = Value(affine::AffineMinOp::create(
          b,
          AffineMap::get(
              1, 0, {b.getAffineDimExpr(0), b.getAffineConstantExpr(sizes[d])},
              b.getContext()),
          ValueRange{iv}));
    }
    AffineExpr start = b.getAffineDimExpr(0);
    // No box is cut short where boxes divide the dim.
    AffineMap end = AffineMap::get(1, 0, start + tile);
    if (strategy.isMasked(d) || sizes[d] % tile == 0)
      box[d] = open[d] && !strategy.isMasked(d) ? 0 : tile;
    else
      box[d] = 0;
    if (d >= numParallel)
      continue;
    if (open[d]) {
      end = AffineMap::get(1, 1, {start + tile, b.getAffineSymbolExpr(0)},
                           b.getContext());
      high[d] = affine::AffineMinOp::create(b, end, ValueRange{iv, open[d]});
      continue;
    }
    if (sizes[d] % tile != 0)
      end = AffineMap::get(1, 0,
                           {start + tile, b.getAffineConstantExpr(sizes[d])},
                           b.getContext());
    high[d] = affine::AffineMinOp::create(b, end, ValueRange{iv});
  }
}

void ContractExpander::emitPad() {
  SmallVector<OpFoldResult> extents;
  for (unsigned d = 0; d != numParallel; ++d)
    extents.push_back(extentOf(d));
  if (op.getPadAttr())
    fillMargins(b, op.getInit(), op.getResultMap(), extents, *op.getPad(),
                workers);
}

void ContractExpander::emitLoops(unsigned depth) {
  bool packsHere =
      packs() && !isJoining &&
      depth == strategy.getLoopsTo(strategy.getPack(), op.getBMap());
  if (packsHere)
    packed = packB();
  unsigned brought = bring(depth);
  if (depth == numOutside)
    emitBox();
  else
    emitLoop(depth);
  release(brought);
  if (!packsHere)
    return;
  tile::ReleaseOp::create(b, slot, ValueRange());
  packed = BoxView();
}

Value ContractExpander::endOfBox(unsigned d) {
  AffineExpr x = b.getAffineSymbolExpr(0), y = b.getAffineSymbolExpr(1);
  OpFoldResult end = extentOf(d);
  if (box[d])
    end = affine::makeComposedFoldedAffineMin(
        b, b.getLoc(), AffineMap::get(0, 2, {x + box[d], y}, b.getContext()),
        {at[d], end});
  return valueOf(end);
}

Value ContractExpander::valueOf(OpFoldResult place) {
  if (getConstantIntValue(place) == 0)
    return zero;
  return getValueOrCreateConstantIndexOp(b, b.getLoc(), place);
}

/// The last tile is as large as all others.
void ContractExpander::emitMaskedLoop(unsigned depth) {
  auto [d, level, step] = loops[depth];
  if (box[d] && box[d] <= step) {
    emitLoops(depth + 1);
    return;
  }
  OpBuilder::InsertionGuard guard(b);
  auto loop = scf::ForOp::create(b, valueOf(at[d]), endOfBox(d), index(step));
  b.setInsertionPointToStart(loop.getBody());
  llvm::SaveAndRestore place(at[d], OpFoldResult(loop.getInductionVar()));
  llvm::SaveAndRestore size(box[d], step);
  emitLoops(depth + 1);
}

/// Loops over a dim whose size is a value: whole boxes, then smaller ones for
/// what is left.
void ContractExpander::emitOpenLoops(unsigned depth) {
  auto [d, level, tile] = loops[depth];
  llvm::SaveAndRestore place(at[d]);
  llvm::SaveAndRestore size(box[d]);
  llvm::SaveAndRestore end(high[d]);
  auto isOver = [d = d](Loop loop) { return loop.dim == d; };
  if (llvm::any_of(ArrayRef<Loop>(loops).drop_front(depth + 1), isOver)) {
    OpBuilder::InsertionGuard guard(b);
    auto loop = scf::ForOp::create(b, valueOf(at[d]), high[d], index(tile));
    b.setInsertionPointToStart(loop.getBody());
    at[d] = loop.getInductionVar();
    AffineMap last = AffineMap::get(
        1, 1, {b.getAffineDimExpr(0) + tile, b.getAffineSymbolExpr(0)},
        b.getContext());
    high[d] = affine::AffineMinOp::create(
        b, last, ValueRange{loop.getInductionVar(), high[d]});
    emitLoops(depth + 1);
    return;
  }
  Value from = valueOf(at[d]);
  for (int64_t step : openSteps(d)) {
    OpBuilder::InsertionGuard guard(b);
    Value to = endOfSteps(from, high[d], step);
    auto loop = scf::ForOp::create(b, from, to, index(step));
    from = to;
    b.setInsertionPointToStart(loop.getBody());
    at[d] = loop.getInductionVar();
    box[d] = step;
    emitLoops(depth + 1);
  }
}

/// Of boxes along a dim whose size is a value: whole ones, then smaller and
/// smaller ones.
llvm::SmallVector<int64_t> ContractExpander::openSteps(unsigned d) {
  llvm::SmallVector<int64_t> steps = {largest[d]};
  // Lanes are left in numbers of which most fill a vector, rows in powers of
  // two: one by one, each would read all of b again.
  for (int64_t lanes : {16, 4})
    if (d + 1 == numParallel && lanes < steps.back())
      steps.push_back(lanes);
  while (d + 1 != numParallel && steps.back() > 2)
    steps.push_back(int64_t(llvm::bit_ceil(uint64_t(steps.back())) / 2));
  if (steps.back() != 1)
    steps.push_back(1);
  return steps;
}

/// Behind the last whole step.
Value ContractExpander::endOfSteps(Value from, Value to, int64_t step) {
  AffineExpr x = b.getAffineSymbolExpr(0), y = b.getAffineSymbolExpr(1);
  if (step == 1)
    return to;
  return affine::AffineApplyOp::create(
      b, AffineMap::get(0, 2, x + (y - x).floorDiv(step) * step),
      ValueRange{from, to});
}

/// Of a dim, for one worker at most.
int64_t ContractExpander::rowsAtOnce(unsigned d) {
  int64_t part = strategy.getWorkerTile(d);
  return part ? std::min(part, sizes[d]) : sizes[d];
}

/// Whether this loop goes over rows one by one, and the next one over rows of
/// an open size in boxes, all of which read the same of b.
bool ContractExpander::isOverRowsOfRows(unsigned depth) {
  if (depth + 1 >= numOutside || strategy.isMatrix() || strategy.isShared())
    return false;
  unsigned outer = loops[depth].dim, inner = loops[depth + 1].dim;
  auto isOnce = [&](unsigned d) {
    return llvm::count_if(loops, [&](Loop loop) { return loop.dim == d; }) == 1;
  };
  auto isRow = [&](unsigned d) {
    return d + 1 != numParallel && !strategy.isMasked(d) && isOnce(d) &&
           !op.getBMap().isFunctionOfDim(d);
  };
  return isRow(outer) && isRow(inner) && open[inner] && largest[outer] == 1 &&
         rowsAtOnce(outer) > 1 && largest[inner] > 1;
}

/// What is left over of a row of boxes comes with that of other rows in one box
/// as far as it has room for them: by itself, it would read all of b for a few
/// sums, of which a small size has no others.
void ContractExpander::emitRowsOfRows(unsigned depth) {
  unsigned outer = loops[depth].dim, inner = loops[depth + 1].dim;
  llvm::SaveAndRestore outerPlace(at[outer]), innerPlace(at[inner]);
  llvm::SaveAndRestore outerSize(box[outer]), innerSize(box[inner]);
  Value first = valueOf(at[outer]), from = valueOf(at[inner]);
  auto enter = [&](unsigned d, Value begin, Value end, int64_t step) {
    auto loop = scf::ForOp::create(b, begin, end, index(step));
    b.setInsertionPointToStart(loop.getBody());
    at[d] = loop.getInductionVar();
    box[d] = step;
  };
  for (int64_t step : openSteps(inner)) {
    OpBuilder::InsertionGuard guard(b);
    Value to = endOfSteps(from, high[inner], step);
    if (step == largest[inner]) {
      enter(outer, first, high[outer], 1);
      enter(inner, from, to, step);
      emitLoops(depth + 2);
      from = to;
      continue;
    }
    enter(inner, from, to, step);
    auto most = strategy.getHints().getAs<IntegerAttr>("edge_rows");
    int64_t room = most ? most.getInt() : largest[inner];
    int64_t together = int64_t(
        llvm::bit_floor(uint64_t(std::min(room / step, rowsAtOnce(outer)))));
    SmallVector<int64_t> rowSteps = {together};
    if (together != 1)
      rowSteps.push_back(1);
    Value row = first;
    for (int64_t rows : rowSteps) {
      OpBuilder::InsertionGuard inside(b);
      Value last = endOfSteps(row, high[outer], rows);
      enter(outer, row, last, rows);
      row = last;
      emitLoops(depth + 2);
    }
    from = to;
  }
}

/// What is left over at the end of a dim gets a box of its own size.
void ContractExpander::emitLoop(unsigned depth) {
  auto [d, level, tile] = loops[depth];
  if (strategy.isMasked(d))
    return emitMaskedLoop(depth);
  if (isOverRowsOfRows(depth))
    return emitRowsOfRows(depth);
  if (open[d])
    return emitOpenLoops(depth);
  // A box of one where steps are values, once nothing cuts it further.
  int64_t step = tile == chunk(d) ? largest[d] : tile;
  bool isFirst = !isEntered[d] && isCut(d);
  llvm::SaveAndRestore place(at[d]);
  llvm::SaveAndRestore size(box[d]);
  llvm::SaveAndRestore<char> entered(isEntered[d], true);
  int64_t all = isFirst ? sizes[d] : box[d];
  if (!isFirst && all <= step)
    return emitLoops(depth + 1);
  int64_t rest = all % step;
  OpFoldResult from = at[d], end = b.getIndexAttr(all - rest);
  if (!isFirst)
    end = affine::makeComposedFoldedAffineApply(
        b, b.getLoc(), b.getAffineSymbolExpr(0) + (all - rest), {from});
  if (all != rest) {
    OpBuilder::InsertionGuard guard(b);
    Value to;
    if (!isFirst) {
      to = valueOf(end);
    } else if (rest != 0) {
      to = affine::AffineMinOp::create(
          b,
          AffineMap::get(
              1, 0,
              {b.getAffineDimExpr(0), b.getAffineConstantExpr(all - rest)},
              b.getContext()),
          ValueRange{high[d]});
    } else {
      to = high[d];
    }
    auto loop = scf::ForOp::create(b, valueOf(from), to, index(step));
    b.setInsertionPointToStart(loop.getBody());
    at[d] = loop.getInductionVar();
    box[d] = step;
    emitLoops(depth + 1);
  }
  if (rest == 0)
    return;
  OpBuilder::InsertionGuard guard(b);
  if (isFirst) {
    Value isLast = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, high[d],
                                         index(sizes[d]));
    auto branch = scf::IfOp::create(b, isLast, /*withElseRegion=*/false);
    b.setInsertionPointToStart(&branch.getThenRegion().front());
  }
  at[d] = end;
  box[d] = rest;
  emitLoops(depth + 1);
}

LogicalResult ashlar::expandContract(tile::ContractOp op) {
  giveStaticStrides(cast<DestinationStyleOpInterface>(op.getOperation()));
  return ContractExpander(op).run();
}

namespace {
struct ExpandContracts
    : ashlar::impl::ExpandContractsPassBase<ExpandContracts> {
  void runOnOperation() override {
    SmallVector<tile::ContractOp> contracts;
    getOperation().walk([&](tile::ContractOp op) { contracts.push_back(op); });
    for (tile::ContractOp op : contracts) {
      // Another device's target lowers it as it is.
      if (op.getDevice())
        continue;
      if (!op.getStrategyAttr()) {
        op.emitOpError("has no strategy; the stage fuse chooses one");
        return signalPassFailure();
      }
      // Roles share out the threads of the whole kernel.
      if (ArrayRef<tile::TeamAttr> teams = op.getStrategyAttr().getRoles();
          !teams.empty() && llvm::hasSingleElement(contracts))
        getOperation()->setAttr(
            teamsAttrName,
            ArrayAttr::get(&getContext(),
                           SmallVector<Attribute>(teams.begin(), teams.end())));
      if (failed(expandContract(op)))
        return signalPassFailure();
    }
  }
};
} // namespace
