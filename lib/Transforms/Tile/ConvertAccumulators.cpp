// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Transforms/Tile/ConvertAccumulators.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"

using namespace mlir;

LogicalResult ashlar::convertAccumulators(Operation *root,
                                          TypeConverter &converter,
                                          RewritePatternSet patterns) {
  ConversionTarget target(*root->getContext());
  target.addDynamicallyLegalOp<tile::InitOp, tile::AddOp, tile::StepOp,
                               tile::DrainOp>(
      [&](Operation *op) { return converter.isLegal(op); });
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                       target);
  return applyPartialConversion(root, target, std::move(patterns));
}
