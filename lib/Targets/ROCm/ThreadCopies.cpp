// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies to the LDS: 16 bytes a lane by way of registers, or words, which
// CDNA 3's loads bring there by themselves.
#include "ThreadWriter.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
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

static int64_t bytesOf(Value memory) {
  return elementBytes(cast<MemRefType>(memory.getType()).getElementType());
}

static bool isWord(tile::ThreadCopyOp op) {
  return int64_t(op.getElements()) * bytesOf(op.getSource()) == 4;
}

/// Text that the back end takes as it is. It knows of loads that go to the LDS,
/// but of two slots of a ring not that they are two, and would wait for a load
/// in front of each read.
static void writeText(ImplicitLocOpBuilder &b, StringRef text,
                      StringRef constraints, ValueRange operands) {
  LLVM::InlineAsmOp::create(
      b, TypeRange(), operands, text, (constraints + "~{memory}").str(),
      /*has_side_effects=*/true, /*is_align_stack=*/false,
      LLVM::TailCallKind::None,
      LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT),
      ArrayAttr());
}

/// Bytes from the beginning of all memory to an element.
static Value addressOf(ImplicitLocOpBuilder &b, Value memory,
                       ValueRange indices) {
  auto view = memref::ExtractStridedMetadataOp::create(b, memory);
  Value place = view.getOffset();
  for (auto [at, stride] : llvm::zip_equal(indices, view.getStrides()))
    place =
        arith::AddIOp::create(b, place, arith::MulIOp::create(b, at, stride));
  Value bytes = arith::MulIOp::create(
      b, place, arith::ConstantIndexOp::create(b, bytesOf(memory)));
  return arith::AddIOp::create(
      b, memref::ExtractAlignedPointerAsIndexOp::create(b, memory), bytes);
}

/// Lane l's word lies l words behind that of the first lane, which is on in
/// front of the branch: its place is the instruction's (M0). What does not
/// exist is stored by its lane.
static void translateWord(tile::ThreadCopyOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Value to = ROCDL::ReadfirstlaneOp::create(
      b, b.getI32Type(),
      arith::IndexCastOp::create(b, b.getI32Type(),
                                 addressOf(b, op.getTarget(), op.getPlace())));
  auto load = [&] {
    Value from = arith::IndexCastOp::create(
        b, b.getI64Type(), addressOf(b, op.getSource(), op.getIndices()));
    writeText(b, "s_mov_b32 m0, $0\n\ts_nop 0\n\tglobal_load_lds_dword $1, off",
              "s,v,~{m0},", {to, from});
  };
  if (!op.getExists()) {
    load();
    return op.erase();
  }
  auto branch = scf::IfOp::create(b, op.getExists(), /*withElseRegion=*/true);
  b.setInsertionPointToStart(branch.thenBlock());
  load();
  b.setInsertionPointToStart(branch.elseBlock());
  auto type = VectorType::get(
      {int64_t(op.getElements())},
      cast<MemRefType>(op.getSource().getType()).getElementType());
  vector::StoreOp::create(b, arith::ConstantOp::create(b, b.getZeroAttr(type)),
                          op.getTarget(), op.getPlace(), /*nontemporal=*/false,
                          llvm::MaybeAlign(4));
  op.erase();
}

/// Nobody but who copies waits for loads to the LDS: all of them, since other
/// loads may have been begun in between, which count as well.
static void translateWait(tile::ThreadWaitOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  writeText(b, "s_waitcnt vmcnt(0)", "", {});
}

void ashlar::rocm::writeCopies(Operation *kernel, Chip chip) {
  llvm::DenseMap<Block *, int64_t> held;
  SmallVector<tile::ThreadCopyOp> words;
  SmallVector<Operation *> waits;
  kernel->walk([&](Operation *op) {
    auto copy = dyn_cast<tile::ThreadCopyOp>(op);
    if (copy && isWord(copy))
      words.push_back(copy);
    else if (copy)
      translate(copy, held[op->getBlock()]++ < mostHeld(chip)
                          ? placeOfStore(copy)
                          : copy);
    else if (isa<tile::ThreadCloseOp, tile::ThreadWaitOp>(op))
      waits.push_back(op);
  });
  for (tile::ThreadCopyOp copy : words)
    translateWord(copy);
  // Stores are seen behind a barrier, which stands behind each wait.
  for (Operation *op : waits) {
    if (auto wait = dyn_cast<tile::ThreadWaitOp>(op); wait && !words.empty())
      translateWait(wait);
    op->erase();
  }
}
