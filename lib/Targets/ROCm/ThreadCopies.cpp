// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies to the LDS by way of registers. CDNA 3's loads that go there by
// themselves take 4 bytes a lane, to neighbouring places: they know no swizzle.
#include "ThreadWriter.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::rocm;

static constexpr uint64_t pieceBytes = 16;

/// Pieces that a thread holds while it multiplies, of four registers each: an
/// eighth of those that it may have.
static int64_t mostHeld(Chip chip) { return chip.isRDNA() ? 8 : 16; }

/// In front of what a copy's store goes if loads may be under way: the next
/// meeting of the threads or the block's end, if steps are in between;
/// otherwise the copy itself.
static Operation *placeOfStore(tile::ThreadCopyOp copy) {
  bool hasSteps = false;
  for (Operation *op = copy->getNextNode(); op; op = op->getNextNode()) {
    hasSteps |= isa<tile::ThreadStepOp>(op);
    bool isEnd = isa<tile::ThreadWaitOp, gpu::BarrierOp>(op) ||
                 op->hasTrait<OpTrait::IsTerminator>() ||
                 op->getNumRegions() != 0;
    if (isEnd)
      return hasSteps ? op : copy;
  }
  return copy;
}

static void translate(tile::ThreadCopyOp op, Operation *stored) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto type = VectorType::get(
      {int64_t(op.getElements())},
      cast<MemRefType>(op.getSource().getType()).getElementType());
  Value exists = op.getExists();
  SmallVector<Value> from(op.getIndices());
  // What is not there is read where something is, and forgotten.
  Value zero = arith::ConstantIndexOp::create(b, 0);
  for (Value &at : from)
    if (exists)
      at = arith::SelectOp::create(b, exists, at, zero);
  Value piece = vector::LoadOp::create(b, type, op.getSource(), from,
                                       /*nontemporal=*/false,
                                       llvm::MaybeAlign(pieceBytes));
  b.setInsertionPoint(stored);
  Value zeros = arith::ConstantOp::create(b, b.getZeroAttr(type));
  // Behind a row's end lies what pads it, or the next row.
  if (Value count = op.getCount()) {
    auto mask = VectorType::get(type.getShape(), b.getI1Type());
    piece = arith::SelectOp::create(
        b, vector::CreateMaskOp::create(b, mask, count), piece, zeros);
  }
  if (exists)
    piece = arith::SelectOp::create(b, exists, piece, zeros);
  vector::StoreOp::create(b, piece, op.getTarget(), op.getPlace(),
                          /*nontemporal=*/false, llvm::MaybeAlign(pieceBytes));
  op.erase();
}

void ashlar::rocm::writeCopies(Operation *kernel, Chip chip) {
  llvm::DenseMap<Block *, int64_t> held;
  SmallVector<Operation *> waits;
  kernel->walk([&](Operation *op) {
    if (auto copy = dyn_cast<tile::ThreadCopyOp>(op))
      translate(copy, held[op->getBlock()]++ < mostHeld(chip)
                          ? placeOfStore(copy)
                          : copy);
    else if (isa<tile::ThreadCloseOp, tile::ThreadWaitOp>(op))
      waits.push_back(op);
  });
  // Stores are seen behind a barrier, which stands behind each wait.
  for (Operation *op : waits)
    op->erase();
}
