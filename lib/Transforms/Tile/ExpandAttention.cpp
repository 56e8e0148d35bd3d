// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "AttentionWriter.h"
#include "CutKernel.h"
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Transforms/Tile/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_EXPANDATTENTIONPASS
#include "ashlar/Transforms/Tile/Passes.h.inc"
} // namespace ashlar

static LogicalResult expand(tile::AttentionOp op) {
  SmallVector<int64_t> box;
  for (unsigned d = 0; d != op.getParallel().size(); ++d)
    box.push_back(op.getTile(tile::LevelKind::Grid, d));
  if (llvm::any_of(box, [](int64_t size) { return size != 0; })) {
    FailureOr<SmallVector<Operation *>> parts =
        cutKernel(cast<TilingInterface>(op.getOperation()), box);
    if (failed(parts))
      return failure();
    op = cast<tile::AttentionOp>(parts->front());
  }
  AttentionWriter writer(op);
  if (!op.getKeyLoop())
    writer.writeRows();
  else if (!op->hasAttr(exec::dimParametersAttrName))
    writer.writeLoop();
  else
    return op.emitError("expected a loop over keys to have sizes that are "
                        "numbers, found such as callers choose");
  return success();
}

namespace {
struct ExpandAttention
    : ashlar::impl::ExpandAttentionPassBase<ExpandAttention> {
  void runOnOperation() override {
    SmallVector<tile::AttentionOp> ops;
    getOperation().walk([&](tile::AttentionOp op) { ops.push_back(op); });
    for (tile::AttentionOp op : ops)
      // What groups hold is expanded with accumulators.
      if (!op.hasGroup() && failed(expand(op)))
        return signalPassFailure();
  }
};
} // namespace
