// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Transforms/Tile/ConvertAccumulators.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"

using namespace mlir;

LogicalResult ashlar::checkOfOneWorker(Operation *root) {
  auto result = root->walk([](Operation *op) {
    auto isShared = [](Type type) {
      auto acc = dyn_cast<tile::AccType>(type);
      return acc && !acc.getGroups().empty();
    };
    auto drain = dyn_cast<tile::DrainOp>(op);
    if (!isa<tile::LoadOp, tile::MapOp, tile::ReduceOp>(op) &&
        (!drain || !drain.getClipped()) &&
        llvm::none_of(op->getResultTypes(), isShared))
      return WalkResult::advance();
    op->emitOpError("expected sums of one worker that all exist and stay in "
                    "its registers; a strategy without 'group', 'masked' and "
                    "'partials' makes such");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult ashlar::convertAccumulators(Operation *root,
                                          TypeConverter &converter,
                                          RewritePatternSet patterns) {
  ConversionTarget target(*root->getContext());
  target.addDynamicallyLegalOp<tile::InitOp, tile::LoadOp, tile::AddOp,
                               tile::MapOp, tile::ReduceOp, tile::SettleOp,
                               tile::StepOp, tile::DrainOp>(
      [&](Operation *op) { return converter.isLegal(op); });
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                       target);
  return applyPartialConversion(root, target, std::move(patterns));
}
