// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "ashlar/Support/NoteAt.h"
#include "ashlar/Transforms/Lanes/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_EXPANDCOPIESPASS
#include "ashlar/Transforms/Lanes/Passes.h.inc"
} // namespace ashlar

namespace {
/// Fails where somebody but waits and releases uses `token`.
LogicalResult isWaitedFor(Operation *op, Value token) {
  if (token.use_empty())
    return success();
  InFlightDiagnostic error =
      op->emitOpError("expected to be waited for in its own iteration, by a "
                      "worker that does everything itself");
  error.attachNote((*token.user_begin())->getLoc()) << "waited for here";
  return error;
}

/// What it begins, it ends.
LogicalResult expand(tile::StepOp op) {
  if (!op.getToken())
    return success();
  if (failed(isWaitedFor(op, op.getToken())))
    return failure();
  OpBuilder b(op);
  auto alone = tile::StepOp::create(
      b, op.getLoc(), op.getAcc(), op.getA(), op.getB(), op.getReduced(),
      op.getUnroll(), op.getAMap(), op.getBMap(), op.getAUnsigned(),
      op.getBUnsigned(), op.getGrouped(), op.getAhead());
  op.getResult().replaceAllUsesWith(alone.getResult());
  op.erase();
  return success();
}

/// Its slot is in use until it is released in the same iteration, so each copy
/// of the program can have memory of its own.
LogicalResult expand(tile::CopyOp op) {
  OpBuilder b(op);
  auto type = op.getSlot().getType();
  if (failed(isWaitedFor(op, op.getToken())))
    return failure();
  if (op.getPadded() || !isa<MemRefType>(op.getSource().getType()))
    return noteAt(op.emitOpError("expected all of the slot to lie in memory, "
                                 "for a worker that copies itself"),
                  op.getSource().getLoc(), "the source is here");
  for (Operation *user : op.getSlot().getUsers()) {
    auto step = dyn_cast<tile::StepOp>(user);
    if (type.getLayout() ||
        (step ? !step.getAOffsets().empty() || !step.getBOffsets().empty()
              : !isa<tile::ViewOp>(user))) {
      InFlightDiagnostic error =
          user->emitOpError("expected slots whose elements lie row by row, "
                            "read from the first on, by a worker that copies "
                            "itself");
      error.attachNote(op.getLoc()) << "the slot is filled here";
      return error;
    }
  }
  int64_t rank = type.getShape().size();
  Value memory = memref::AllocOp::create(b, op.getLoc(), type.getView());
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  AffineMap maps[] = {op.getMap(), b.getMultiDimIdentityMap(rank)};
  linalg::GenericOp::create(
      b, op.getLoc(), TypeRange(), op.getSource(), memory, maps, loops,
      [](OpBuilder &inner, Location at, ValueRange arguments) {
        linalg::YieldOp::create(inner, at, arguments[0]);
      });
  for (Operation *user : llvm::make_early_inc_range(op.getSlot().getUsers()))
    if (auto view = dyn_cast<tile::ViewOp>(user)) {
      view.getMemory().replaceAllUsesWith(memory);
      view.erase();
    }
  op.getSlot().replaceAllUsesWith(memory);
  op.erase();
  return success();
}

LogicalResult expand(tile::AllocOp op) {
  if (!op->use_empty()) {
    InFlightDiagnostic error = op->user_begin()->emitOpError(
        "expected roles that follow each other, for a worker that copies "
        "itself");
    error.attachNote(op.getLoc()) << "the ring is here";
    return error;
  }
  op.erase();
  return success();
}

struct ExpandCopies : ashlar::impl::ExpandCopiesPassBase<ExpandCopies> {
  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      if (isa<tile::WaitOp, tile::ReleaseOp>(op))
        op->erase();
    });
    if (failed(expandAll<tile::CopyOp>()) ||
        failed(expandAll<tile::StepOp>()) || failed(expandAll<tile::AllocOp>()))
      signalPassFailure();
  }

  template <typename Op> LogicalResult expandAll() {
    SmallVector<Op> ops;
    getOperation().walk([&](Op op) { ops.push_back(op); });
    return success(
        llvm::all_of(ops, [](Op op) { return succeeded(expand(op)); }));
  }
};
} // namespace
