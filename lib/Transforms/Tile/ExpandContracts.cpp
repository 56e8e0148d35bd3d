// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the loops of a contraction's strategy: boxes of workers, loops over
// accumulator boxes inside, sums in chunks, then the epilogue. It chooses
// nothing.
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "ashlar/Transforms/Tile/KernelSizes.h"
#include "ashlar/Transforms/Tile/PadMargins.h"
#include "ashlar/Transforms/Tile/Passes.h"
#include "ashlar/Transforms/Tile/StaticStrides.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_EXPANDCONTRACTSPASS
#include "ashlar/Transforms/Tile/Passes.h.inc"
} // namespace ashlar

namespace {
/// How far an index moves along one dim inside a box that starts where the
/// dim's panels do.
int64_t stepAlong(AffineExpr expr, unsigned dim) {
  if (auto binary = dyn_cast<AffineBinaryOpExpr>(expr)) {
    int64_t left = stepAlong(binary.getLHS(), dim);
    switch (binary.getKind()) {
    case AffineExprKind::Add:
      return left + stepAlong(binary.getRHS(), dim);
    case AffineExprKind::Mul:
      return left * cast<AffineConstantExpr>(binary.getRHS()).getValue();
    case AffineExprKind::Mod:
      return left;
    default:
      return 0;
    }
  }
  auto own = dyn_cast<AffineDimExpr>(expr);
  return own && own.getPosition() == dim ? 1 : 0;
}

/// How far in front of a box's first place its last one lies along a dim, where
/// a step goes backwards.
int64_t reachBack(AffineExpr expr, unsigned dim, int64_t extent) {
  return std::max<int64_t>(0, -stepAlong(expr, dim) * (extent - 1));
}

/// An operand seen from a box: a part of its memory and the map into it.
struct BoxView {
  Value memory;
  AffineMap map;
};

class ContractExpander {
public:
  explicit ContractExpander(tile::ContractOp op)
      : op(op), b(op.getLoc(), op), strategy(op.getStrategyAttr()),
        loops(strategy.getLoops()), numParallel(op.getParallel().size()) {
    sizes.assign(op.getParallel().begin(), op.getParallel().end());
    llvm::append_range(sizes, op.getReduced());
    open = openDims(op, sizes.size());
    if (op->hasAttr(exec::dimParametersAttrName))
      return;
    // What a kernel makes on its way may be as long as a value says.
    auto type = cast<MemRefType>(op.getInit().getType());
    for (auto [i, expr] : llvm::enumerate(op.getResultMap().getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(expr); dim && type.isDynamicDim(i))
        open[dim.getPosition()] =
            dyn_cast_if_present<Value>(findDim(op.getInit(), i));
  }

  LogicalResult run() {
    if (isGrouped() && isWalked(sizes.size() - 1))
      return op.emitOpError("expected a group of terms side by side, found one "
                            "whose steps are values");
    for (Value operand : {op.getA(), op.getB()})
      if (isGrouped() && (operand == op.getA() || !packs()) &&
          liesApart(operand))
        return op.emitOpError("expected a group of terms side by side, found ")
               << operand.getType();
    zero = index(0);
    at.assign(sizes.size(), b.getIndexAttr(0));
    for (unsigned d = 0; d != sizes.size(); ++d)
      box.push_back(chunk(d));
    largest = box;
    for (unsigned d = 0; d != sizes.size(); ++d)
      if (hasOpenSteps(d))
        largest[d] = box[d] = 1;
    low.assign(numParallel, zero);
    for (unsigned d = 0; d != numParallel; ++d)
      high.push_back(extent(d));
    front = zero.getDefiningOp();
    if (llvm::is_contained(op.getParallel(), 0))
      emitPad({});
    else
      emitWorkers();
    op.erase();
    return success();
  }

private:
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  Value extent(unsigned d) { return open[d] ? open[d] : index(sizes[d]); }
  /// The accumulator's tile, or how many terms are one sum.
  int64_t chunk(unsigned d) {
    int64_t tile = strategy.getTile(d);
    return tile ? tile : sizes[d];
  }
  bool isCut(unsigned d) {
    int64_t workers = strategy.getWorkerTile(d);
    return workers != 0 && workers < sizes[d];
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
  /// Whether `memory` is walked along `d` in steps that are values: boxes are
  /// as long as one there.
  static bool hasOpenSteps(Value memory, AffineMap map, unsigned d) {
    auto type = cast<MemRefType>(memory.getType());
    SmallVector<int64_t> strides;
    int64_t offset;
    if (d >= map.getNumDims() ||
        failed(type.getStridesAndOffset(strides, offset)))
      return false;
    for (auto [expr, stride] : llvm::zip(map.getResults(), strides))
      if (expr.isFunctionOfDim(d) && ShapedType::isDynamic(stride))
        return true;
    return false;
  }
  bool hasOpenSteps(unsigned d) {
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
  bool isWalked(unsigned d) {
    return d >= numParallel && hasOpenSteps(d) && (open[d] || sizes[d] != 1);
  }

  void emitWorkers() {
    SmallVector<OpFoldResult> from, to, step;
    SmallVector<unsigned> cut;
    for (unsigned d = 0; d != numParallel; ++d)
      if (isCut(d)) {
        cut.push_back(d);
        from.push_back(b.getIndexAttr(0));
        to.push_back(open[d] ? OpFoldResult(open[d])
                             : OpFoldResult(b.getIndexAttr(sizes[d])));
        step.push_back(b.getIndexAttr(strategy.getWorkerTile(d)));
      }
    if (cut.empty()) {
      emitPad({});
      emitLoops(0);
      return;
    }
    auto forall =
        scf::ForallOp::create(b, from, to, step, ValueRange(), std::nullopt);
    b.setInsertionPoint(forall.getTerminator());
    front = nullptr;
    worker = forall.getBody();
    for (auto [d, iv] : llvm::zip(cut, forall.getInductionVars())) {
      low[d] = iv;
      AffineExpr start = b.getAffineDimExpr(0);
      int64_t workers = strategy.getWorkerTile(d);
      // No box is cut short where boxes divide the dim.
      AffineMap end = AffineMap::get(1, 0, start + workers);
      if (open[d]) {
        end = AffineMap::get(1, 1, {start + workers, b.getAffineSymbolExpr(0)},
                             b.getContext());
        high[d] = affine::AffineMinOp::create(b, end, ValueRange{iv, open[d]});
        continue;
      }
      if (sizes[d] % workers != 0)
        end = AffineMap::get(
            1, 0, {start + workers, b.getAffineConstantExpr(sizes[d])},
            b.getContext());
      high[d] = affine::AffineMinOp::create(b, end, ValueRange{iv});
    }
    emitPad(forall.getInductionVars());
    emitLoops(0);
  }

  void emitPad(ValueRange workers) {
    SmallVector<OpFoldResult> extents;
    for (unsigned d = 0; d != numParallel; ++d)
      extents.push_back(open[d] ? OpFoldResult(open[d])
                                : OpFoldResult(b.getIndexAttr(sizes[d])));
    if (op.getPadAttr())
      fillMargins(b, op.getInit(), op.getResultMap(), extents, *op.getPad(),
                  workers);
  }

  /// Loops over a dim whose size is a value: whole boxes, then smaller ones
  /// for what is left.
  void emitOpenLoops(unsigned depth, unsigned d) {
    SmallVector<int64_t> steps = {largest[d]};
    // Lanes are left in numbers of which most fill a vector.
    for (int64_t lanes : {16, 4})
      if (d + 1 == numParallel && lanes < steps.back())
        steps.push_back(lanes);
    if (steps.back() != 1)
      steps.push_back(1);
    Value from = low[d];
    for (int64_t step : steps) {
      OpBuilder::InsertionGuard guard(b);
      Value to = high[d];
      AffineExpr x = b.getAffineSymbolExpr(0), y = b.getAffineSymbolExpr(1);
      if (step != 1)
        to = affine::AffineApplyOp::create(
            b, AffineMap::get(0, 2, x + (y - x).floorDiv(step) * step),
            ValueRange{from, high[d]});
      auto loop = scf::ForOp::create(b, from, to, index(step));
      from = to;
      b.setInsertionPointToStart(loop.getBody());
      at[d] = loop.getInductionVar();
      box[d] = step;
      emitInside(depth, d);
    }
    at[d] = b.getIndexAttr(0);
  }

  /// Loops over accumulator boxes, outermost first; what is left over at the
  /// end of a dim gets a box of its own size.
  void emitLoops(unsigned depth) {
    if (depth == numParallel) {
      emitBox();
      return;
    }
    unsigned d = loops[depth];
    if (open[d]) {
      emitOpenLoops(depth, d);
      return;
    }
    int64_t step = largest[d], rest = sizes[d] % step;
    bool single = !isCut(d) && sizes[d] <= step;
    if (single) {
      box[d] = sizes[d];
      emitInside(depth, d);
      return;
    }
    int64_t whole = sizes[d] - rest;
    if (whole != 0) {
      OpBuilder::InsertionGuard guard(b);
      Value end = high[d];
      if (rest != 0)
        end = affine::AffineMinOp::create(
            b,
            AffineMap::get(
                1, 0, {b.getAffineDimExpr(0), b.getAffineConstantExpr(whole)},
                b.getContext()),
            ValueRange{end});
      auto loop = scf::ForOp::create(b, low[d], end, index(step));
      b.setInsertionPointToStart(loop.getBody());
      at[d] = loop.getInductionVar();
      box[d] = step;
      emitInside(depth, d);
    }
    if (rest != 0) {
      OpBuilder::InsertionGuard guard(b);
      if (isCut(d)) {
        Value isLast = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                             high[d], index(sizes[d]));
        auto branch = scf::IfOp::create(b, isLast, /*withElseRegion=*/false);
        b.setInsertionPointToStart(&branch.getThenRegion().front());
      }
      at[d] = b.getIndexAttr(whole);
      box[d] = rest;
      emitInside(depth, d);
    }
    at[d] = b.getIndexAttr(0);
  }

  /// The body of the loop over `d`, which brings operands near where the last
  /// loop is that they depend on.
  void emitInside(unsigned depth, unsigned d) {
    bool packsHere = packs() && depth == depthOf(strategy.getPack());
    if (packsHere)
      packed = packB();
    SmallVector<tile::OperandKind> copied;
    for (tile::OperandKind operand : operands)
      if (hasRing(operand) && !isOfTerms(operand) &&
          depth == depthOf(ringOf(operand))) {
        copy(operand);
        copied.push_back(operand);
      }
    emitLoops(depth + 1);
    llvm::for_each(copied, [&](auto operand) { release(operand); });
    if (!packsHere)
      return;
    tile::ReleaseOp::create(b, slot, ValueRange());
    packed = BoxView();
  }

  /// A copy of b has a size that is known.
  bool packs() {
    return strategy.getPack() != nullptr && !hasOpenTerms() && hasTerms();
  }

  bool hasTerms() { return !llvm::is_contained(op.getReduced(), 0); }

  bool hasOpenTerms() {
    return llvm::any_of(ArrayRef(open).drop_front(numParallel),
                        [](Value size) { return size != nullptr; });
  }

  tile::HopAttr ringOf(tile::OperandKind operand) {
    return strategy.getHop(operand, tile::HopKind::Ring);
  }
  bool isA(tile::OperandKind operand) {
    return operand == tile::OperandKind::A;
  }
  Value memoryOf(tile::OperandKind operand) {
    return isA(operand) ? op.getA() : op.getB();
  }
  AffineMap mapOf(tile::OperandKind operand) {
    return isA(operand) ? op.getAMap() : op.getBMap();
  }
  /// Whether an operand is copied to slots, whose size is known.
  bool hasRing(tile::OperandKind operand) {
    return ringOf(operand) && !hasOpenTerms() && hasTerms() &&
           mapOf(operand).getNumResults() != 0;
  }
  /// Whether the copies are of tiles of terms, and so inside the loops over
  /// them.
  bool isOfTerms(tile::OperandKind operand) {
    return strategy.cutsTerms() &&
           ringOf(operand).getAt() + 1 == int64_t(strategy.getLevels().size());
  }

  /// Begins to fill the next slot with what the present box, and the present
  /// terms or all of them, read of an operand; and waits.
  void copy(tile::OperandKind operand) {
    SmallVector<unsigned> dims;
    SmallVector<int64_t> extents;
    for (unsigned d = 0; d != sizes.size(); ++d) {
      dims.push_back(d);
      extents.push_back(d < numParallel      ? box[d]
                        : isOfTerms(operand) ? std::min(chunk(d), sizes[d])
                                             : sizes[d]);
    }
    tile::HopAttr hop = ringOf(operand);
    BoxView source = view(memoryOf(operand), mapOf(operand), dims, extents);
    auto seen = cast<MemRefType>(source.memory.getType());
    tile::LayoutAttr layout = hop.getLayout();
    if (layout && !layout.whyNot(seen.getShape()).empty())
      layout = nullptr; // an edge
    auto type = tile::RingType::get(b.getContext(), hop.getSlots(),
                                    seen.getShape(), seen.getElementType(),
                                    b.getStringAttr(hop.getMemory()), layout);
    Value ring;
    {
      OpBuilder::InsertionGuard guard(b);
      if (front)
        b.setInsertionPointAfter(front);
      else
        b.setInsertionPointToStart(worker);
      ring = tile::AllocOp::create(b, type);
    }
    auto begun = tile::CopyOp::create(
        b, type.getSlotType(), tile::TokenType::get(b.getContext()),
        source.memory, ring,
        AffineMapAttr::get(b.getMultiDimIdentityMap(seen.getRank())));
    tile::WaitOp::create(b, begun.getToken());
    near[unsigned(operand)] = {begun.getSlot(), at, std::move(extents)};
  }

  void release(tile::OperandKind operand) {
    Near &own = near[unsigned(operand)];
    tile::ReleaseOp::create(b, own.slot, ValueRange());
    own = Near();
  }

  /// What a box reads of a slot: from which element on, and where in it.
  AffineMap viewOfSlot(tile::OperandKind operand, ArrayRef<unsigned> dims,
                       SmallVectorImpl<Value> &offsets) {
    Near &own = near[unsigned(operand)];
    AffineMap map = mapOf(operand);
    SmallVector<AffineExpr> local;
    bool moves = false;
    for (AffineExpr expr : map.getResults()) {
      // The slot begins where the copied box's last place is, along dims that
      // go backwards.
      AffineExpr inside = b.getAffineConstantExpr(0);
      for (unsigned d = 0; d != map.getNumDims(); ++d)
        inside = inside + reachBack(expr, d, own.extents[d]);
      for (auto [i, d] : llvm::enumerate(dims))
        inside = inside + b.getAffineDimExpr(i) * stepAlong(expr, d);
      local.push_back(inside);
      AffineMap alone = AffineMap::get(map.getNumDims(), 0, expr);
      ArrayRef<OpFoldResult> now = ArrayRef(at).take_front(map.getNumDims()),
                             then =
                                 ArrayRef(own.at).take_front(map.getNumDims());
      AffineExpr difference = b.getAffineDimExpr(0) - b.getAffineDimExpr(1);
      OpFoldResult offset = affine::makeComposedFoldedAffineApply(
          b, b.getLoc(), difference,
          {affine::makeComposedFoldedAffineApply(b, b.getLoc(), alone, now),
           affine::makeComposedFoldedAffineApply(b, b.getLoc(), alone, then)});
      moves |= getConstantIntValue(offset) != 0;
      offsets.push_back(getValueOrCreateConstantIndexOp(b, b.getLoc(), offset));
    }
    if (!moves)
      offsets.clear();
    return AffineMap::get(dims.size(), 0, local, b.getContext());
  }

  /// Whether groups of terms lie side by side in b: where it should be copied
  /// so and is not, terms are summed one by one.
  bool isGrouped() {
    return strategy.isGrouped() && (strategy.getPack() != nullptr) == packs();
  }

  /// The innermost of the loops down to its level's that the hop's operand
  /// depends on.
  unsigned depthOf(tile::HopAttr hop) {
    unsigned found = 0;
    for (unsigned depth = 0; depth != strategy.getLoopsTo(hop); ++depth)
      if (mapOf(hop.getOperand()).isFunctionOfDim(loops[depth]))
        found = depth;
    return found;
  }

  /// A contiguous copy of b's box, reduced dims first, columns last; a group
  /// lies behind its column. One slot is enough: the next box follows when all
  /// that reads this one is done.
  BoxView packB() {
    SmallVector<unsigned> dims;
    SmallVector<int64_t> shape;
    unsigned end = sizes.size() - (strategy.isGrouped() ? 1 : 0);
    for (unsigned d = numParallel; d != end; ++d)
      dims.push_back(d);
    for (unsigned d = 0; d != numParallel; ++d)
      if (box[d] > 1 && op.getBMap().isFunctionOfDim(d))
        dims.push_back(d);
    if (dims.empty() || dims.back() != numParallel - 1)
      dims.push_back(numParallel - 1);
    if (strategy.isGrouped())
      dims.push_back(end);
    for (unsigned d : dims)
      shape.push_back(d < numParallel ? box[d] : sizes[d]);
    BoxView source = view(op.getB(), op.getBMap(), dims, shape);
    Type element = cast<MemRefType>(op.getB().getType()).getElementType();
    auto type = tile::RingType::get(
        b.getContext(), /*slots=*/1, shape, element,
        b.getStringAttr(strategy.getPack().getMemory()), tile::LayoutAttr());
    Value ring = tile::AllocOp::create(b, type);
    auto copy = tile::CopyOp::create(
        b, type.getSlotType(), tile::TokenType::get(b.getContext()),
        source.memory, ring, AffineMapAttr::get(source.map));
    tile::WaitOp::create(b, copy.getToken());
    slot = copy.getSlot();
    SmallVector<AffineExpr> place;
    for (unsigned d : dims)
      place.push_back(b.getAffineDimExpr(d));
    return {tile::ViewOp::create(b, type.getSlotType().getView(), slot),
            AffineMap::get(sizes.size(), 0, place, b.getContext())};
  }

  /// The part of `memory` that a box touches whose dims are `dims` with the
  /// extents `extents`, all other dims standing still.
  BoxView view(Value memory, AffineMap map, ArrayRef<unsigned> dims,
               ArrayRef<int64_t> extents) {
    SmallVector<OpFoldResult> offsets, lengths, steps;
    SmallVector<AffineExpr> local;
    ArrayRef<OpFoldResult> place = ArrayRef(at).take_front(map.getNumDims());
    for (AffineExpr expr : map.getResults()) {
      // Where a step goes backwards, the part begins at its last place.
      int64_t length = 1, before = 0;
      AffineExpr inside = b.getAffineConstantExpr(0);
      for (auto [i, d] : llvm::enumerate(dims)) {
        int64_t step = stepAlong(expr, d);
        length += std::abs(step * (extents[i] - 1));
        before += reachBack(expr, d, extents[i]);
        inside = inside + b.getAffineDimExpr(i) * step;
      }
      offsets.push_back(affine::makeComposedFoldedAffineApply(
          b, b.getLoc(), AffineMap::get(map.getNumDims(), 0, expr - before),
          place));
      inside = inside + before;
      lengths.push_back(b.getIndexAttr(length));
      steps.push_back(b.getIndexAttr(1));
      local.push_back(inside);
    }
    Value part = memory;
    if (!offsets.empty())
      part = memref::SubViewOp::create(b, memory, offsets, lengths, steps);
    return {part, AffineMap::get(dims.size(), 0, local, b.getContext())};
  }

  /// The dims of one accumulator: those it is longer than one along, and the
  /// lanes.
  SmallVector<unsigned> accumulatorDims() {
    SmallVector<unsigned> dims;
    for (unsigned d = 0; d != numParallel; ++d)
      if (box[d] > 1 || d + 1 == numParallel)
        dims.push_back(d);
    return dims;
  }

  void emitBox() {
    SmallVector<unsigned> dims = accumulatorDims();
    SmallVector<int64_t> shape;
    for (unsigned d : dims)
      shape.push_back(box[d]);
    Type element = op.getAccumulatorType();
    ArrayRef<int64_t> registers = strategy.getShape();
    auto type = tile::AccType::get(b.getContext(), shape, element,
                                   registers.take_front(2));
    Value none = arith::ConstantOp::create(b, b.getZeroAttr(element));
    Value sums = tile::InitOp::create(b, type, none);
    if (hasTerms())
      sums = emitChunks(numParallel, dims, shape, sums);

    SmallVector<AffineMap> maps;
    SmallVector<Value> epilogue;
    for (auto [i, operand] : llvm::enumerate(op.getEpilogue())) {
      BoxView part = view(operand, op.getEpilogueMap(i), dims, shape);
      epilogue.push_back(part.memory);
      maps.push_back(part.map);
    }
    BoxView target = view(op.getInit(), op.getResultMap(), dims, shape);
    maps.push_back(target.map);
    auto drain = tile::DrainOp::create(b, sums, epilogue, target.memory,
                                       b.getAffineMapArrayAttr(maps));
    IRMapping mapping;
    op.getBody().cloneInto(&drain.getBody(), mapping);
  }

  /// Loops over chunks of the reduced dims from `d` on; what a chunk sums
  /// joins the total at its end, which keeps long sums accurate.
  Value emitChunks(unsigned d, ArrayRef<unsigned> dims, ArrayRef<int64_t> shape,
                   Value sums) {
    while (d != sizes.size() && (isWalked(d) || chunk(d) >= sizes[d]))
      ++d;
    if (d == sizes.size())
      return emitStep(dims, shape, sums);
    auto loop =
        scf::ForOp::create(b, zero, index(sizes[d]), index(chunk(d)), sums);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    at[d] = loop.getInductionVar();
    Value inner = emitChunks(d + 1, dims, shape, loop.getRegionIterArg(0));
    scf::YieldOp::create(b, inner);
    at[d] = b.getIndexAttr(0);
    return loop.getResult(0);
  }

  Value emitStep(ArrayRef<unsigned> dims, ArrayRef<int64_t> shape, Value sums) {
    SmallVector<unsigned> all(dims);
    SmallVector<int64_t> extents(shape), reduced;
    bool isChunk = false;
    for (unsigned d = numParallel; d != sizes.size(); ++d) {
      all.push_back(d);
      reduced.push_back(isWalked(d) ? 1 : std::min(chunk(d), sizes[d]));
      isChunk |= !isWalked(d) && reduced.back() != sizes[d];
    }
    llvm::append_range(extents, reduced);
    bool promotes = isChunk && strategy.getPromote() >= 0;
    Value start = sums;
    if (promotes) {
      auto type = cast<tile::AccType>(sums.getType());
      Value none =
          arith::ConstantOp::create(b, b.getZeroAttr(type.getElementType()));
      start = tile::InitOp::create(b, type, none);
    }
    SmallVector<tile::OperandKind> copied;
    for (tile::OperandKind operand : operands)
      if (hasRing(operand) && isOfTerms(operand)) {
        copy(operand);
        copied.push_back(operand);
      }
    Value part = emitTerms(numParallel, all, extents, reduced, start);
    llvm::for_each(copied, [&](auto operand) { release(operand); });
    if (!promotes)
      return part;
    return tile::AddOp::create(b, sums.getType(), sums, part);
  }

  /// The terms of a chunk: loops over the dims that are walked, from `d` on,
  /// around one step.
  Value emitTerms(unsigned d, ArrayRef<unsigned> all, ArrayRef<int64_t> extents,
                  ArrayRef<int64_t> reduced, Value sums) {
    while (d != sizes.size() && !isWalked(d))
      ++d;
    if (d != sizes.size()) {
      auto loop = scf::ForOp::create(b, zero, extent(d), index(1), sums);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      at[d] = loop.getInductionVar();
      Value inner =
          emitTerms(d + 1, all, extents, reduced, loop.getRegionIterArg(0));
      scf::YieldOp::create(b, inner);
      at[d] = b.getIndexAttr(0);
      return loop.getResult(0);
    }
    SmallVector<Value> aOffsets, bOffsets;
    BoxView left = operandOf(tile::OperandKind::A, all, extents, aOffsets);
    BoxView right =
        packed.memory ? viewOfPacked(all, extents)
                      : operandOf(tile::OperandKind::B, all, extents, bOffsets);
    // Edges are small; their code should be too.
    bool isEdge = false;
    for (unsigned d = 0; d != numParallel; ++d)
      isEdge |= box[d] < std::min(largest[d], sizes[d]);
    int64_t unroll = isEdge ? 1 : strategy.getUnroll();
    if (strategy.isMatrix())
      unroll = strategy.getShape().back() / sizes.back();
    // How far apart terms that are walked lie is a value.
    int64_t ahead =
        isWalked(sizes.size() - 1) ? 0 : strategy.getPrefetchDistance();
    auto step = tile::StepOp::create(
        b, sums.getType(), /*token=*/Type(), sums, left.memory, aOffsets,
        right.memory, bOffsets, reduced, unroll, left.map, right.map,
        op.getAUnsigned(), op.getBUnsigned(), isGrouped(), ahead);
    return step.getResult();
  }

  BoxView operandOf(tile::OperandKind operand, ArrayRef<unsigned> dims,
                    ArrayRef<int64_t> extents, SmallVector<Value> &offsets) {
    if (Value own = near[unsigned(operand)].slot)
      return {own, viewOfSlot(operand, dims, offsets)};
    return view(memoryOf(operand), mapOf(operand), dims, extents);
  }

  /// The panel holds the parallel dims from the box's start, the reduced ones
  /// from zero.
  BoxView viewOfPacked(ArrayRef<unsigned> dims, ArrayRef<int64_t> extents) {
    SmallVector<OpFoldResult> saved(at);
    for (unsigned d = 0; d != numParallel; ++d)
      at[d] = b.getIndexAttr(0);
    BoxView part = view(packed.memory, packed.map, dims, extents);
    at = saved;
    return part;
  }

  tile::ContractOp op;
  ImplicitLocOpBuilder b;
  tile::StrategyAttr strategy;
  SmallVector<int64_t> loops; ///< over parallel dims, outermost first
  unsigned numParallel;
  SmallVector<int64_t> sizes;   ///< of all dims
  SmallVector<Value> open;      ///< sizes that are values, by dim
  SmallVector<int64_t> box;     ///< of the present accumulator and chunk
  SmallVector<int64_t> largest; ///< box that there is
  SmallVector<OpFoldResult> at;
  SmallVector<Value> low, high; ///< of the worker's box
  BoxView packed;
  Value slot; ///< that b is packed into
  /// A slot, and where the box stood that it was filled for.
  struct Near {
    Value slot;
    SmallVector<OpFoldResult> at;
    SmallVector<int64_t> extents;
  };
  Near near[2];
  static constexpr tile::OperandKind operands[] = {tile::OperandKind::A,
                                                   tile::OperandKind::B};
  Operation *front = nullptr; ///< rings stand behind it; null: first in worker
  Block *worker = nullptr;
  Value zero;
};

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
      giveStaticStrides(cast<DestinationStyleOpInterface>(op.getOperation()));
      if (failed(ContractExpander(op).run()))
        return signalPassFailure();
    }
  }
};
} // namespace
