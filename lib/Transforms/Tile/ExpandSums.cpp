// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One accumulator: the loops over its terms, its steps, and what becomes of it.
#include "ContractExpander.h"
#include "ashlar/Transforms/Tile/Threads.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace ashlar;

llvm::SmallVector<unsigned> ContractExpander::accumulatorDims() {
  llvm::SmallVector<unsigned> dims;
  for (unsigned d = 0; d != numParallel; ++d)
    if (box[d] > 1 || d + 1 == numParallel)
      dims.push_back(d);
  return dims;
}

tile::AccType ContractExpander::accumulatorOf(ArrayRef<unsigned> dims) {
  llvm::SmallVector<int64_t> shape;
  for (unsigned d : dims)
    shape.push_back(box[d]);
  llvm::SmallVector<int64_t> part(shape);
  llvm::SmallVector<tile::LevelAttr> groups;
  for (tile::LevelAttr level : strategy.getGroups()) {
    for (auto [size, d] : llvm::zip(part, dims))
      if (int64_t tile = level.getTile(d))
        size = std::min(size, tile);
    groups.push_back(tile::LevelAttr::get(b.getContext(), level.getKind(),
                                          level.getScope(), part,
                                          /*reduced=*/{}, /*order=*/{}));
  }
  return tile::AccType::get(b.getContext(), shape, op.getAccumulatorType(),
                            strategy.getShape().take_front(2), groups,
                            strategy.getFragment());
}

Value ContractExpander::zeros(tile::AccType type) {
  Value none =
      arith::ConstantOp::create(b, b.getZeroAttr(type.getElementType()));
  return tile::InitOp::create(b, type, none);
}

void ContractExpander::emitBox() {
  llvm::SmallVector<unsigned> dims = accumulatorDims();
  Value sums = zeros(accumulatorOf(dims));
  if (isJoining)
    sums = addPartials(dims, sums);
  else if (hasTerms())
    sums = emitTerms(numOutside, dims, sums);
  drain(sums, dims);
}

void ContractExpander::drain(Value sums, ArrayRef<unsigned> dims) {
  ArrayRef<int64_t> shape = cast<tile::AccType>(sums.getType()).getShape();
  bool isPart = partials && !isJoining;
  llvm::SmallVector<AffineMap> maps;
  llvm::SmallVector<Value> epilogue;
  if (!isPart)
    for (auto [i, operand] : llvm::enumerate(op.getEpilogue())) {
      BoxView part = view(operand, op.getEpilogueMap(i), dims, shape);
      epilogue.push_back(part.memory);
      maps.push_back(part.map);
    }
  AffineMap map = isPart ? mapOfPartials() : op.getResultMap();
  BoxView target = view(isPart ? partials : op.getInit(), map, dims, shape);
  maps.push_back(target.map);
  auto drain = tile::DrainOp::create(b, sums, epilogue, target.memory,
                                     b.getAffineMapArrayAttr(maps),
                                     reachesBeyond(map, dims));
  if (!isPart) {
    IRMapping mapping;
    op.getBody().cloneInto(&drain.getBody(), mapping);
    if (Attribute engine = strategy.getHints().get("stores"))
      drain->setAttr(storesAttrName, engine);
    return;
  }
  OpBuilder::InsertionGuard guard(b);
  Block *body =
      b.createBlock(&drain.getBody(), {}, op.getAccumulatorType(), b.getLoc());
  tile::YieldOp::create(b, body->getArgument(0));
}

Value ContractExpander::emitTerms(unsigned depth, ArrayRef<unsigned> dims,
                                  Value sums) {
  if (depth == loops.size())
    return emitSteps(numParallel, dims, sums);
  return emitTermLoop(depth, dims, sums);
}

/// Tiles of terms, which go into one sum; what is left over at the end of a dim
/// is a tile of its own size, or is filled up where it is masked.
Value ContractExpander::emitTermLoop(unsigned depth, ArrayRef<unsigned> dims,
                                     Value sums) {
  auto [d, level, step] = loops[depth];
  if (isWalked(d) || (box[d] && box[d] <= step))
    return emitChunk(depth + 1, dims, sums);
  llvm::SaveAndRestore place(at[d]);
  llvm::SaveAndRestore size(box[d]);
  int64_t rest = strategy.isMasked(d) ? 0 : box[d] % step;
  OpFoldResult end = affine::makeComposedFoldedAffineApply(
      b, b.getLoc(), b.getAffineSymbolExpr(0) + (box[d] - rest), {at[d]});
  {
    OpBuilder::InsertionGuard guard(b);
    auto loop = scf::ForOp::create(
        b, valueOf(at[d]), strategy.isMasked(d) ? endOfBox(d) : valueOf(end),
        index(step), sums);
    b.setInsertionPointToStart(loop.getBody());
    at[d] = loop.getInductionVar();
    box[d] = step;
    Value inner = emitChunk(depth + 1, dims, loop.getRegionIterArg(0));
    scf::YieldOp::create(b, inner);
    sums = loop.getResult(0);
  }
  if (rest == 0)
    return sums;
  at[d] = end;
  box[d] = rest;
  return emitChunk(depth + 1, dims, sums);
}

/// What a chunk sums joins the total at its end, which keeps long sums
/// accurate.
Value ContractExpander::emitChunk(unsigned depth, ArrayRef<unsigned> dims,
                                  Value sums) {
  unsigned level = loops[depth - 1].level;
  bool promotes = strategy.getPromote() == int64_t(level) &&
                  (depth == loops.size() || loops[depth].level != level);
  bool isChunk = false;
  for (unsigned d = numParallel; d != sizes.size(); ++d)
    isChunk |= !isWalked(d) && box[d] != whole[d];
  promotes &= isChunk;
  Value start = promotes ? zeros(cast<tile::AccType>(sums.getType())) : sums;
  unsigned brought = bring(depth);
  Value part = emitTerms(depth, dims, start);
  release(brought);
  if (!promotes)
    return part;
  return tile::AddOp::create(b, sums.getType(), sums, part);
}

/// Loops over the dims that are walked term by term, from `d` on, around one
/// step.
Value ContractExpander::emitSteps(unsigned d, ArrayRef<unsigned> dims,
                                  Value sums) {
  while (d != sizes.size() && !isWalked(d))
    ++d;
  if (d == sizes.size())
    return emitStep(dims, sums);
  auto loop = scf::ForOp::create(b, zero, extent(d), index(1), sums);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  llvm::SaveAndRestore place(at[d], OpFoldResult(loop.getInductionVar()));
  Value inner = emitSteps(d + 1, dims, loop.getRegionIterArg(0));
  scf::YieldOp::create(b, inner);
  return loop.getResult(0);
}

Value ContractExpander::emitStep(ArrayRef<unsigned> dims, Value sums) {
  llvm::SmallVector<unsigned> all(dims);
  llvm::SmallVector<int64_t> extents, reduced;
  for (unsigned d = numParallel; d != sizes.size(); ++d) {
    all.push_back(d);
    reduced.push_back(isWalked(d) ? 1 : box[d]);
  }
  for (unsigned d : dims)
    extents.push_back(box[d]);
  llvm::append_range(extents, reduced);
  llvm::SmallVector<Value> aOffsets, bOffsets;
  BoxView left = operandOf(tile::OperandKind::A, all, extents, aOffsets);
  BoxView right = packed.memory
                      ? viewOfPacked(all, extents)
                      : operandOf(tile::OperandKind::B, all, extents, bOffsets);
  // Edges are small; their code should be too. Where a size is a value, they
  // may be all that there is.
  bool isEdge = false;
  for (unsigned d = 0; d != numParallel; ++d)
    isEdge |= !open[d] && box[d] < std::min(largest[d], sizes[d]);
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

//===-- Sums of parts -----------------------------------------------------===//

void ContractExpander::makePartials() {
  llvm::SmallVector<int64_t> shape;
  llvm::SmallVector<Value> open;
  for (unsigned d = numParallel; d != sizes.size(); ++d)
    if (int64_t part = strategy.getWorkerTile(d)) {
      split.push_back(d);
      shape.push_back(llvm::divideCeil(sizes[d], part));
    }
  for (unsigned d = 0; d != numParallel; ++d) {
    shape.push_back(this->open[d] ? ShapedType::kDynamic : sizes[d]);
    if (this->open[d])
      open.push_back(this->open[d]);
  }
  partials = memref::AllocOp::create(
      b, MemRefType::get(shape, op.getAccumulatorType()), open);
  partials.getDefiningOp()->setAttr("tile.memory",
                                    b.getStringAttr(strategy.getPartials()));
}

/// The number of the part, then the place in the result.
AffineMap ContractExpander::mapOfPartials() {
  llvm::SmallVector<AffineExpr> place;
  for (unsigned d : split)
    place.push_back(b.getAffineDimExpr(d).floorDiv(strategy.getWorkerTile(d)));
  for (unsigned d = 0; d != numParallel; ++d)
    place.push_back(b.getAffineDimExpr(d));
  return AffineMap::get(sizes.size(), 0, place, b.getContext());
}

/// In the order of the parts, so that it does not matter who was first.
Value ContractExpander::addPartials(ArrayRef<unsigned> dims, Value sums) {
  OpBuilder::InsertionGuard guard(b);
  llvm::SmallVector<OpFoldResult> saved(at);
  llvm::SmallVector<scf::ForOp> nest;
  for (unsigned d : split) {
    auto loop = scf::ForOp::create(b, zero, index(sizes[d]),
                                   index(strategy.getWorkerTile(d)), sums);
    nest.push_back(loop);
    b.setInsertionPointToStart(loop.getBody());
    at[d] = loop.getInductionVar();
    sums = loop.getRegionIterArg(0);
  }
  auto type = cast<tile::AccType>(sums.getType());
  BoxView part = view(partials, mapOfPartials(), dims, type.getShape());
  Value own = tile::LoadOp::create(b, type, part.memory, part.map,
                                   reachesBeyond(mapOfPartials(), dims));
  sums = tile::AddOp::create(b, type, sums, own);
  for (scf::ForOp loop : llvm::reverse(nest)) {
    b.setInsertionPointToEnd(loop.getBody());
    scf::YieldOp::create(b, sums);
    sums = loop.getResult(0);
  }
  at = saved;
  return sums;
}
