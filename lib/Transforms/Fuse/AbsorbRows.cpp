// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A softmax or a layer norm behind a contraction of a further device becomes
// part of the contraction's body, where that device combines the values of a
// row: then nothing goes to the host and back. So does the rounding of a result
// that others read as it is.
#include "LongerContract.h"
#include "RowsBehind.h"
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "ashlar/Support/Remarks.h"
#include "ashlar/Transforms/Fuse/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_ABSORBROWSPASS
#include "ashlar/Transforms/Fuse/Passes.h.inc"
} // namespace ashlar

namespace {
struct AbsorbRows : ashlar::impl::AbsorbRowsPassBase<AbsorbRows> {
  using AbsorbRowsPassBase::AbsorbRowsPassBase;
  AbsorbRows(std::vector<CompanionDevice> companions)
      : companions(std::move(companions)) {}

  LogicalResult initialize(MLIRContext *context) override {
    return readCompanionOption(context, deviceNames, companions);
  }
  void runOnOperation() override {
    SmallVector<exec::DispatchOp> dispatches;
    getOperation().walk([&](exec::DispatchOp op) {
      if (contractOf(op) && op.getDevice() <= companions.size() &&
          !companions[op.getDevice() - 1].lowersKernels)
        dispatches.push_back(op);
    });
    for (exec::DispatchOp dispatch : dispatches) {
      if (SmallVector<Operation *> part = rowsBehind(dispatch); !part.empty())
        if (exec::DispatchOp longer = absorb(dispatch, part))
          dispatch = longer;
      absorbRounding(dispatch);
    }
  }

private:
  /// All as one, or null where the device cannot.
  exec::DispatchOp absorb(exec::DispatchOp dispatch,
                          ArrayRef<Operation *> part) {
    auto last = cast<exec::DispatchOp>(part.back());
    bool isElsewhere = llvm::any_of(dispatch->getUsers(), [&](Operation *user) {
      return !llvm::is_contained(part, user);
    });
    std::string why =
        "it is no chain of sums, maxima and operations element by "
        "element along rows";
    exec::DispatchOp longer;
    LongerContract making(dispatch, dispatch.getResult(0), last);
    if (llvm::all_of(part, [&](Operation *op) { return making.append(op); }))
      longer = cast_or_null<exec::DispatchOp>(making.create(isElsewhere));
    if (longer)
      why = companions[dispatch.getDevice() - 1].whyNot(
          longer.getYield().getOperand(0).getDefiningOp());
    const std::string &device = companions[dispatch.getDevice() - 1].name;
    if (!why.empty()) {
      remark::missed(last.getLoc(), about(last, "Placed", "place"))
          << "stays on the host: "
          << remark::metric("Reason", device + ": " + why);
      if (longer)
        longer.erase();
      return {};
    }
    remark::passed(last.getLoc(), about(last, "Placed", "place"))
        << "runs on " << remark::metric("Target", device)
        << ", in one kernel with " << nodeName(dispatch.getLoc());
    last.getResult(0).replaceAllUsesWith(longer.getResult(0));
    for (Operation *op : llvm::reverse(part))
      op->erase();
    if (isElsewhere)
      dispatch.getResult(0).replaceAllUsesWith(longer.getResult(1));
    dispatch.erase();
    return longer;
  }

  /// Stores a result rounded, too, where others read it as it is.
  void absorbRounding(exec::DispatchOp dispatch) {
    if (Operation *rounding = roundingOf(dispatch.getResult(0))) {
      rounding->moveAfter(dispatch);
      absorb(dispatch, {rounding});
    }
  }

  std::vector<CompanionDevice> companions;
};
} // namespace

std::unique_ptr<Pass>
ashlar::createAbsorbRowsPass(std::vector<CompanionDevice> companions) {
  return std::make_unique<AbsorbRows>(std::move(companions));
}
