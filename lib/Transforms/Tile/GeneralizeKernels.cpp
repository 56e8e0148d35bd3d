// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One form for all structured ops of a kernel, so that what comes after has
// one case.
#include "ashlar/Transforms/Tile/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace ashlar {
#define GEN_PASS_DEF_GENERALIZEKERNELSPASS
#include "ashlar/Transforms/Tile/Passes.h.inc"
} // namespace ashlar

namespace {
struct GeneralizeKernels
    : ashlar::impl::GeneralizeKernelsPassBase<GeneralizeKernels> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<Operation *> others;
    getOperation().walk([&](Operation *inner) {
      if (isa<memref::CopyOp, linalg::LinalgOp>(inner) &&
          !isa<linalg::GenericOp>(inner))
        others.push_back(inner);
    });
    for (Operation *inner : others) {
      rewriter.setInsertionPoint(inner);
      if (auto copy = dyn_cast<memref::CopyOp>(inner)) {
        // What was computed in place is left with a copy onto itself.
        if (copy.getSource() == copy.getTarget()) {
          rewriter.eraseOp(copy);
          continue;
        }
        linalg::makeMemRefCopyOp(rewriter, copy.getLoc(), copy.getSource(),
                                 copy.getTarget());
        rewriter.eraseOp(copy);
        continue;
      }
      if (failed(linalg::generalizeNamedOp(rewriter,
                                           cast<linalg::LinalgOp>(inner)))) {
        inner->emitError("has no generic form");
        return signalPassFailure();
      }
    }
  }
};
} // namespace
