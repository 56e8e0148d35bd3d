// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of operands that boxes read: in place, or brought near first.
#include "ContractExpander.h"
#include "ashlar/Analysis/SlotBox.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace ashlar;

OpFoldResult ContractExpander::countIn(unsigned d) {
  return hasEdge(d) ? countBefore(b, b.getLoc(), box[d], at[d], extentOf(d))
                    : OpFoldResult();
}

OpFoldResult ContractExpander::countIn(tile::OperandKind operand, unsigned d) {
  Value end = ends[unsigned(operand)][d];
  return end ? countBefore(b, b.getLoc(), box[d], at[d], end) : countIn(d);
}

bool ContractExpander::endsBefore(tile::OperandKind operand) {
  return llvm::any_of(ends[unsigned(operand)],
                      [](Value end) { return end != nullptr; });
}

bool ContractExpander::reachesBeyond(AffineMap map, ArrayRef<unsigned> dims) {
  return llvm::any_of(dims, [&](unsigned d) {
    return d < map.getNumDims() && map.isFunctionOfDim(d) && hasEdge(d);
  });
}

BoxView ContractExpander::view(Value memory, AffineMap map,
                               ArrayRef<unsigned> dims,
                               ArrayRef<int64_t> extents) {
  ArrayRef<OpFoldResult> place =
      ArrayRef<OpFoldResult>(at).take_front(map.getNumDims());
  return viewOfBox(
      b, memory, map, place, dims, extents,
      [&](unsigned d) { return countIn(d); }, nullptr, hasEmptyBoxes);
}

//===-- Rings -------------------------------------------------------------===//

bool ContractExpander::hasRing(tile::HopAttr hop) {
  AffineMap map = mapOf(hop.getOperand());
  bool isKnown = hasTerms() && map.getNumResults() != 0;
  for (unsigned d = 0; d != map.getNumDims(); ++d)
    isKnown &= box[d] != 0 || !map.isFunctionOfDim(d);
  return isKnown;
}

BoxView ContractExpander::viewToCopy(tile::OperandKind operand,
                                     ArrayRef<unsigned> dims,
                                     ArrayRef<int64_t> extents) {
  Value memory = memoryOf(operand);
  AffineMap map = mapOf(operand);
  ArrayRef<int64_t> shape = cast<MemRefType>(memory.getType()).getShape();
  auto lengthOf = [&](unsigned result, OpFoldResult offset, int64_t length) {
    AffineExpr expr = map.getResult(result);
    bool hasEnd = false, isSummed = false, isForward = true;
    for (unsigned d : dims)
      if (int64_t step = d < map.getNumDims() ? stepAlong(expr, d) : 0) {
        hasEnd |= hasEdge(d);
        isSummed |= hasEdge(d) && d >= numParallel;
        isForward &= step > 0;
      }
    if (!hasEnd || isSummed || !isForward ||
        ShapedType::isDynamic(shape[result]))
      return OpFoldResult();
    return affine::makeComposedFoldedAffineMin(
        b, b.getLoc(),
        AffineMap::get(1, 0,
                       {b.getAffineConstantExpr(length),
                        shape[result] - b.getAffineDimExpr(0)},
                       b.getContext()),
        {offset});
  };
  return viewOfBox(
      b, memory, map, ArrayRef<OpFoldResult>(at).take_front(map.getNumDims()),
      dims, extents, [&](unsigned d) { return countIn(operand, d); }, lengthOf,
      hasEmptyBoxes || endsBefore(operand));
}

unsigned ContractExpander::bring(unsigned depth) {
  unsigned before = near.size();
  // a first, and each from far to near.
  for (auto operand : {tile::OperandKind::A, tile::OperandKind::B})
    for (tile::HopAttr hop : strategy.getHops())
      if (!isJoining && hop.getOperand() == operand &&
          hop.getKind() == tile::HopKind::Ring &&
          depth == strategy.getLoopsTo(hop, mapOf(operand)) && hasRing(hop))
        copy(hop);
  return near.size() - before;
}

/// Begins to fill the next slot with what the present box reads of an operand;
/// and waits.
void ContractExpander::copy(tile::HopAttr hop) {
  llvm::SmallVector<unsigned> dims;
  for (unsigned d = 0; d != sizes.size(); ++d)
    dims.push_back(d);
  llvm::SmallVector<int64_t> extents(box), shape;
  for (int64_t &extent : extents)
    extent = std::max<int64_t>(extent, 1); // one that it does not depend on
  AffineMap map = mapOf(hop.getOperand());
  llvm::SmallVector<AffineExpr> places;
  const Near *from = nearestOf(hop.getOperand());
  SlotBox slot(map, dims, extents, hasSeveralRings(strategy, hop.getOperand()));
  shape = slot.shape;
  for (auto [i, expr] : llvm::enumerate(map.getResults())) {
    places.push_back(b.getAffineDimExpr(i) * slot.steps[i]);
    if (from)
      places.back() = places.back() +
                      BoxReach(expr, dims, from->extents).before -
                      BoxReach(expr, dims, extents).before;
  }
  Value source, ring;
  llvm::SmallVector<Value> offsets;
  if (from) {
    source = from->slot;
    offsets = offsetsIn(*from);
  } else {
    source = viewToCopy(hop.getOperand(), dims, extents).memory;
  }
  tile::LayoutAttr layout = hop.getLayout();
  if (layout && !layout.whyNot(shape).empty())
    layout = nullptr; // an edge
  Type element = cast<ShapedType>(source.getType()).getElementType();
  auto type =
      tile::RingType::get(b.getContext(), hop.getSlots(), shape, element,
                          b.getStringAttr(hop.getMemory()), layout);
  {
    OpBuilder::InsertionGuard guard(b);
    if (front)
      b.setInsertionPointAfter(front);
    else
      b.setInsertionPointToStart(worker);
    ring = tile::AllocOp::create(b, type);
  }
  auto begun = tile::CopyOp::create(
      b, type.getSlotType(), tile::TokenType::get(b.getContext()), source,
      offsets, ring, AffineMap::get(shape.size(), 0, places, b.getContext()),
      !from && (reachesBeyond(map, dims) || endsBefore(hop.getOperand())),
      hop.getEngine().empty() ? StringAttr() : b.getStringAttr(hop.getEngine()),
      hop.getMulticast());
  tile::WaitOp::create(b, begun.getToken());
  near.push_back({hop, begun.getSlot(), at, std::move(extents), slot.steps});
}

void ContractExpander::release(unsigned count) {
  for (const Near &own : ArrayRef<Near>(near).take_back(count))
    tile::ReleaseOp::create(b, own.slot, ValueRange());
  near.pop_back_n(count);
}

const ContractExpander::Near *
ContractExpander::nearestOf(tile::OperandKind operand) {
  for (const Near &own : llvm::reverse(near))
    if (own.hop.getOperand() == operand)
      return &own;
  return nullptr;
}

llvm::SmallVector<Value> ContractExpander::offsetsIn(const Near &own) {
  llvm::SmallVector<Value> offsets;
  AffineMap map = mapOf(own.hop.getOperand());
  bool moves = false;
  for (auto [i, expr] : llvm::enumerate(map.getResults())) {
    AffineMap alone = AffineMap::get(map.getNumDims(), 0, expr);
    OpFoldResult now = affine::makeComposedFoldedAffineApply(b, b.getLoc(),
                                                             alone, at),
                 then = affine::makeComposedFoldedAffineApply(b, b.getLoc(),
                                                              alone, own.at);
    OpFoldResult offset = affine::makeComposedFoldedAffineApply(
        b, b.getLoc(),
        (b.getAffineDimExpr(0) - b.getAffineDimExpr(1)).floorDiv(own.steps[i]),
        {now, then});
    moves |= getConstantIntValue(offset) != 0;
    offsets.push_back(getValueOrCreateConstantIndexOp(b, b.getLoc(), offset));
  }
  if (!moves)
    offsets.clear();
  return offsets;
}

BoxView ContractExpander::operandOf(tile::OperandKind operand,
                                    ArrayRef<unsigned> dims,
                                    ArrayRef<int64_t> extents,
                                    llvm::SmallVector<Value> &offsets) {
  AffineMap map = mapOf(operand);
  const Near *own = nearestOf(operand);
  assert((own || !endsBefore(operand)) && "nothing fills it up with zeros");
  if (!own)
    return view(memoryOf(operand), map, dims, extents);
  // The slot begins where the copied box's last place is, along dims that go
  // backwards.
  llvm::SmallVector<unsigned> all;
  for (unsigned d = 0; d != own->extents.size(); ++d)
    all.push_back(d);
  llvm::SmallVector<AffineExpr> local;
  for (auto [i, expr] : llvm::enumerate(map.getResults()))
    local.push_back(lineOf(expr, dims, BoxReach(expr, all, own->extents).before,
                           own->steps[i]));
  offsets = offsetsIn(*own);
  return {own->slot, AffineMap::get(dims.size(), 0, local, b.getContext())};
}

//===-- Panels ------------------------------------------------------------===//

/// A contiguous copy of b's box, reduced dims first, columns last; a group lies
/// behind its column. One slot is enough: the next box follows when all that
/// reads this one is done.
BoxView ContractExpander::packB() {
  llvm::SmallVector<unsigned> dims;
  llvm::SmallVector<int64_t> shape;
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
      source.memory, /*offsets=*/ValueRange(), ring, source.map,
      /*padded=*/false, /*engine=*/StringAttr());
  tile::WaitOp::create(b, copy.getToken());
  slot = copy.getSlot();
  llvm::SmallVector<AffineExpr> place;
  for (unsigned d : dims)
    place.push_back(b.getAffineDimExpr(d));
  return {tile::ViewOp::create(b, type.getSlotType().getView(), slot),
          AffineMap::get(sizes.size(), 0, place, b.getContext())};
}

/// The panel holds the parallel dims from the box's start, the reduced ones
/// from zero.
BoxView ContractExpander::viewOfPacked(ArrayRef<unsigned> dims,
                                       ArrayRef<int64_t> extents) {
  llvm::SmallVector<OpFoldResult> saved(at);
  for (unsigned d = 0; d != numParallel; ++d)
    at[d] = b.getIndexAttr(0);
  BoxView part = view(packed.memory, packed.map, dims, extents);
  at = saved;
  return part;
}
