// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Targets/CUDA/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace ashlar {
#define GEN_PASS_DEF_THREADSTONVVMPASS
#include "ashlar/Targets/CUDA/Passes.h.inc"
} // namespace ashlar

namespace {
struct ThreadsToNVVM : ashlar::impl::ThreadsToNVVMPassBase<ThreadsToNVVM> {
  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      OpBuilder b(op);
      Location at = op->getLoc();
      if (isa<gpu::ThreadIdOp>(op)) {
        Value id = NVVM::ThreadIdXOp::create(b, at, b.getI32Type());
        op->getResult(0).replaceAllUsesWith(
            arith::IndexCastOp::create(b, at, b.getIndexType(), id));
      } else if (isa<gpu::BarrierOp>(op)) {
        NVVM::Barrier0Op::create(b, at);
      } else {
        return;
      }
      op->erase();
    });
  }
};
} // namespace
