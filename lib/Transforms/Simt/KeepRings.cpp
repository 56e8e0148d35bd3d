// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Threads.h"
#include "ashlar/Support/NoteAt.h"
#include "ashlar/Transforms/Simt/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_KEEPRINGSPASS
#include "ashlar/Transforms/Simt/Passes.h.inc"
} // namespace ashlar

/// Whether nothing that `op` needs is made in the loop.
static bool isFree(Operation *op, scf::ForOp loop) {
  return !op->walk([&](Operation *inner) {
              for (Value operand : inner->getOperands())
                if (loop->isAncestor(
                        operand.getParentRegion()->getParentOp()) &&
                    !op->isAncestor(operand.getParentRegion()->getParentOp()))
                  return WalkResult::interrupt();
              return WalkResult::advance();
            }).wasInterrupted();
}

namespace {
struct KeepRings : ashlar::impl::KeepRingsPassBase<KeepRings> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    if (failed(interleave()))
      return signalPassFailure();
    for (auto loop :
         llvm::to_vector(getOperation().getBody().front().getOps<scf::ForOp>()))
      keep(loop);
  }

  /// A workgroup of a kernel that takes tensor maps has not parts that follow
  /// each other but each so many-th: those that run at once are neighbours,
  /// which read the same, and long parts are shared out among all.
  LogicalResult interleave() {
    func::FuncOp kernel = getOperation();
    if (!kernel
             .walk(
                 [](tile::ThreadBoxCopyOp) { return WalkResult::interrupt(); })
             .wasInterrupted())
      return success();
    unsigned count = kernel.getNumArguments();
    Value first = kernel.getArgument(count - 2),
          end = kernel.getArgument(count - 1);
    for (OpOperand &use :
         llvm::concat<OpOperand>(first.getUses(), end.getUses()))
      if (auto loop = dyn_cast<scf::ForOp>(use.getOwner());
          !loop || loop.getLowerBound() != first || loop.getUpperBound() != end)
        return noteAt(use.getOwner()->emitOpError(
                          "expected the numbers of parts to be bounds of loops "
                          "over them, in a kernel that takes tensor maps"),
                      kernel.getLoc(), "the kernel is here");
    for (Operation *user : llvm::make_early_inc_range(first.getUsers())) {
      OpBuilder b(user);
      cast<scf::ForOp>(user).setStep(
          gpu::GridDimOp::create(b, user->getLoc(), gpu::Dimension::x));
    }
    return success();
  }

  static void keep(scf::ForOp loop) {
    SmallVector<Operation *> begin, end;
    for (Operation &op : *loop.getBody())
      if (auto once = op.getAttrOfType<StringAttr>(simt::onceAttrName))
        (once == "begin" ? begin : end).push_back(&op);
    if (begin.empty())
      return;
    moveLoopInvariantCode(cast<LoopLikeOpInterface>(loop.getOperation()));
    for (ArrayRef<Operation *> all : {ArrayRef(begin), ArrayRef(end)})
      if (!llvm::all_of(all, [&](Operation *op) { return isFree(op, loop); }))
        return;
    for (Operation *op : begin)
      op->moveBefore(loop);
    Operation *last = loop;
    for (Operation *op : end) {
      op->moveAfter(last);
      last = op;
    }
  }
};
} // namespace
