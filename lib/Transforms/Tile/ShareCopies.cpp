// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that only move data: what is padded, what is joined. Workers share
// them row by row, as they do all others; and padding fills its margins, not
// first everything.
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Transforms/Tile/PadMargins.h"
#include "ashlar/Transforms/Tile/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_SHARECOPIESPASS
#include "ashlar/Transforms/Tile/Passes.h.inc"
} // namespace ashlar

namespace {
/// Of more parts than this, one loop over rows copies a row of each: LLVM takes
/// long for as many loops, each with a row as small.
constexpr size_t mostLoops = 16;

/// A copy into a part of the kernel's result, of the result's rank.
struct Part {
  memref::CopyOp copy;
  SmallVector<int64_t> from, size; ///< in the result
};

/// What a kernel of copies does; nothing where it does something else.
struct Moves {
  Value result;
  TypedAttr pad; ///< what the result holds beside the one part; null: nothing
  SmallVector<Part> parts;
};

std::optional<Part> findPart(memref::CopyOp copy) {
  auto view = copy.getTarget().getDefiningOp<memref::SubViewOp>();
  auto source = dyn_cast<MemRefType>(copy.getSource().getType());
  if (!view || !source.hasStaticShape() ||
      !isa<BlockArgument>(view.getSource()) || !view.getDroppedDims().none() ||
      !view.getOffsets().empty() || !view.getSizes().empty() ||
      !view.getStrides().empty() || !llvm::all_equal(view.getStaticStrides()) ||
      view.getStaticStrides().front() != 1)
    return std::nullopt;
  return Part{copy, SmallVector<int64_t>(view.getStaticOffsets()),
              SmallVector<int64_t>(view.getStaticSizes())};
}

std::optional<Moves> findMoves(Block &kernel) {
  Moves moves;
  for (Operation &op : kernel.without_terminator()) {
    if (isMemoryEffectFree(&op))
      continue;
    Value target;
    if (auto fill = dyn_cast<linalg::FillOp>(op)) {
      target = fill.output();
      if (!moves.parts.empty() ||
          !matchPattern(fill.value(), m_Constant(&moves.pad)) ||
          !isa<BlockArgument>(target))
        return std::nullopt;
    } else if (auto copy = dyn_cast<memref::CopyOp>(op)) {
      std::optional<Part> part = findPart(copy);
      if (!part)
        return std::nullopt;
      target = copy.getTarget().getDefiningOp<memref::SubViewOp>().getSource();
      moves.parts.push_back(std::move(*part));
    } else {
      return std::nullopt;
    }
    if (moves.result && moves.result != target)
      return std::nullopt;
    moves.result = target;
  }
  if (moves.parts.empty() || (moves.pad && moves.parts.size() != 1) ||
      !cast<MemRefType>(moves.result.getType()).hasStaticShape())
    return std::nullopt;
  return moves;
}

struct ShareCopies : ashlar::impl::ShareCopiesPassBase<ShareCopies> {
  using ShareCopiesPassBase::ShareCopiesPassBase;

  void runOnOperation() override {
    Block &kernel = getOperation().getBody().front();
    if (std::optional<Moves> moves = findMoves(kernel))
      share(kernel, *moves);
  }

  /// The outermost dim, or with `many` the longest, that all parts are as long
  /// as the result along, or the one part that is padded longer than one.
  int64_t findRows(const Moves &moves) {
    ArrayRef<int64_t> whole =
        cast<MemRefType>(moves.result.getType()).getShape();
    int64_t found = -1;
    for (size_t d = 0; d != whole.size(); ++d) {
      if (whole[d] <= 1 || !llvm::all_of(moves.parts, [&](const Part &part) {
            return moves.pad ? part.size[d] > 1 : part.size[d] == whole[d];
          }))
        continue;
      if (!many)
        return d;
      // Neighbours stay together.
      if (found < 0 || (d + 1 != whole.size() && whole[d] > whole[found]))
        found = d;
    }
    return found;
  }

  /// Rows for each worker: enough bytes to be worth it.
  int64_t rowsOfBox(const Moves &moves, int64_t rows) {
    int64_t bytes = byteSize(moves.result.getType());
    int64_t boxes = std::clamp<int64_t>(bytes / boxBytes, 1, rows);
    for (int64_t count = llvm::divideCeil(rows, boxes); count < rows; ++count)
      if (rows % count == 0)
        return count;
    return rows;
  }

  void share(Block &kernel, Moves &moves) {
    int64_t d = findRows(moves);
    if (d < 0)
      return;
    int64_t rows = moves.parts.front().size[d];
    int64_t box = rowsOfBox(moves, rows);
    ImplicitLocOpBuilder b(moves.parts.front().copy.getLoc(),
                           kernel.getTerminator());
    OpFoldResult zero = b.getIndexAttr(0);
    auto forall =
        scf::ForallOp::create(b, ArrayRef<OpFoldResult>{zero},
                              ArrayRef<OpFoldResult>{b.getIndexAttr(rows)},
                              ArrayRef<OpFoldResult>{b.getIndexAttr(box)},
                              ValueRange(), std::nullopt);
    b.setInsertionPoint(forall.getTerminator());
    Value row = forall.getInductionVars().front();
    if (moves.pad)
      fillAround(b, moves, row);
    if (moves.parts.size() > mostLoops && box > 1) {
      auto ofBox = scf::ForOp::create(b, arith::ConstantIndexOp::create(b, 0),
                                      arith::ConstantIndexOp::create(b, box),
                                      arith::ConstantIndexOp::create(b, 1));
      b.setInsertionPoint(ofBox.getBody()->getTerminator());
      row = arith::AddIOp::create(b, row, ofBox.getInductionVar());
      box = 1;
    }
    for (const Part &part : moves.parts)
      copyRows(b, moves.result, part, d, row, box);
    for (Operation &op :
         llvm::make_early_inc_range(llvm::reverse(kernel.getOperations())))
      if (isa<memref::CopyOp, linalg::FillOp>(op))
        op.erase();
  }

  static void fillAround(ImplicitLocOpBuilder &b, Moves &moves, Value row) {
    const Part &part = moves.parts.front();
    SmallVector<AffineExpr> place;
    SmallVector<OpFoldResult> sizes;
    for (auto [d, from] : llvm::enumerate(part.from)) {
      place.push_back(b.getAffineDimExpr(d) + from);
      sizes.push_back(b.getIndexAttr(part.size[d]));
    }
    fillMargins(b, moves.result,
                AffineMap::get(place.size(), 0, place, b.getContext()), sizes,
                moves.pad, row);
  }

  static void copyRows(ImplicitLocOpBuilder &b, Value result, const Part &part,
                       int64_t d, Value row, int64_t box) {
    auto view = [&](Value memory, ArrayRef<int64_t> from) -> Value {
      SmallVector<OpFoldResult> offsets =
          getAsIndexOpFoldResult(b.getContext(), from);
      SmallVector<OpFoldResult> sizes =
          getAsIndexOpFoldResult(b.getContext(), part.size);
      SmallVector<OpFoldResult> steps(sizes.size(), b.getIndexAttr(1));
      offsets[d] = affine::makeComposedFoldedAffineApply(
          b, b.getLoc(), b.getAffineDimExpr(0) + from[d], {row});
      sizes[d] = b.getIndexAttr(box);
      return memref::SubViewOp::create(b, memory, offsets, sizes, steps);
    };
    memref::CopyOp copy = part.copy;
    memref::CopyOp::create(
        b, view(copy.getSource(), SmallVector<int64_t>(part.size.size(), 0)),
        view(result, part.from));
  }
};
} // namespace
