// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stage fuse: whatever moves or computes data is in a dispatch.
#include "StageChecks.h"
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Dialects/Exec/Utils/ControlFlow.h"
#include "ashlar/Dialects/Exec/Utils/Views.h"
#include "ashlar/Dialects/Tile/IR/Decode.h"
#include "ashlar/Support/NoteAt.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace ashlar;

/// The bounds of a loop.
static bool isLoopBound(Operation *op) {
  return isa<arith::ConstantOp>(op) && !op->use_empty() &&
         llvm::all_of(op->getUsers(),
                      [](Operation *user) { return isa<scf::ForOp>(user); });
}

static LogicalResult checkBlock(Block &block, StringRef kernelOp,
                                StringRef stage) {
  for (Operation &op : block) {
    if (isControlFlow(&op)) {
      for (Region &region : op.getRegions())
        if (failed(checkBlock(region.front(), kernelOp, stage)))
          return failure();
      continue;
    }
    bool isTensorConstant = isa<arith::ConstantOp>(op) &&
                            isa<RankedTensorType>(op.getResult(0).getType());
    if (!isTensorConstant && !isView(&op) &&
        !isa<func::ReturnOp, tile::PackOp, exec::TransferOp>(op) &&
        !servesControlFlow(&op) && !isLoopBound(&op) &&
        op.getName().getStringRef() != kernelOp)
      return noteAt(
          op.emitError("after the stage ")
              << stage << ": expected tensor constants, views, " << kernelOp
              << ", transfers, control flow and return in an entry, found '"
              << op.getName() << "'",
          op.getParentOfType<func::FuncOp>().getLoc(), "the entry is here");
  }
  return success();
}

LogicalResult ashlar::checkEntryBody(func::FuncOp entry, StringRef kernelOp) {
  StringRef stage =
      kernelOp == exec::DispatchOp::getOperationName() ? "fuse" : "tile";
  if (!llvm::hasSingleElement(entry.getBody()))
    return entry.emitError("after the stage ")
           << stage << ": expected one block in '" << entry.getName()
           << "', found " << entry.getBody().getBlocks().size();
  return checkBlock(entry.getBody().front(), kernelOp, stage);
}

static LogicalResult checkDispatch(exec::DispatchOp dispatch) {
  WalkResult walk = dispatch.getBody().walk<WalkOrder::PreOrder>([&](Operation
                                                                         *op) {
    if (isTensorCode(op) ||
        isa<exec::YieldOp, tile::AttentionOp, tile::ContractOp, tile::DecodeOp,
            tile::DecodedOp, tile::IndexOp, tile::RowMaximumOp, tile::RowSumOp,
            tile::WinogradOp, tile::YieldOp>(op))
      return WalkResult::advance();
    InFlightDiagnostic error =
        op->emitError("after the stage fuse: expected ops of linalg, "
                      "tensor, arith, math and scf in a dispatch, found '")
        << op->getName() << "'";
    error.attachNote(dispatch.getLoc()) << "the dispatch is here";
    return WalkResult::interrupt();
  });
  return failure(walk.wasInterrupted());
}

LogicalResult ashlar::checkDispatches(ModuleOp program) {
  for (auto entry : program.getOps<func::FuncOp>()) {
    if (failed(checkEntryBody(entry, exec::DispatchOp::getOperationName())))
      return failure();
    WalkResult walk = entry.walk([](exec::DispatchOp dispatch) {
      return WalkResult(checkDispatch(dispatch));
    });
    if (walk.wasInterrupted())
      return failure();
  }
  return success();
}
