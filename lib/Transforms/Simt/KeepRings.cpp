// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Threads.h"
#include "ashlar/Transforms/Simt/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
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
    for (auto loop :
         llvm::to_vector(getOperation().getBody().front().getOps<scf::ForOp>()))
      keep(loop);
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
