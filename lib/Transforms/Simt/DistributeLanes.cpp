// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Threads.h"
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Transforms/Simt/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_DISTRIBUTELANESPASS
#include "ashlar/Transforms/Simt/Passes.h.inc"
} // namespace ashlar

/// How many groups hold accumulators together; 0: nothing is shared.
static int64_t countGroups(func::FuncOp kernel) {
  int64_t groups = 0;
  bool isShared =
      kernel.walk([](tile::AllocOp) { return WalkResult::interrupt(); })
          .wasInterrupted();
  kernel.walk([&](Operation *op) {
    for (Type type : op->getResultTypes()) {
      auto acc = dyn_cast<tile::AccType>(type);
      if (!acc || (acc.getGroups().empty() && !isShared))
        continue;
      int64_t own = 1;
      for (tile::LevelAttr level : acc.getGroups())
        for (auto [size, part] : llvm::zip(acc.getShape(), level.getParallel()))
          own *= part == 0 ? 1 : llvm::divideCeil(size, part);
      groups = std::max(groups, own);
    }
  });
  return groups;
}

/// The one loop over parts, or the only part, beside which nothing touches
/// memory: what does would be done by every thread, in no order.
static LogicalResult checkAlone(func::FuncOp kernel) {
  auto isPart = [](Operation *op) {
    return op
        ->walk([](Operation *inner) {
          return isa<tile::TileDialect>(inner->getDialect())
                     ? WalkResult::interrupt()
                     : WalkResult::advance();
        })
        .wasInterrupted();
  };
  bool hasParts = !kernel.getOps<scf::ForallOp>().empty();
  for (Operation &op : kernel.getBody().front().without_terminator())
    if (!isMemoryEffectFree(&op) &&
        (hasParts ? !isa<scf::ForallOp>(op) : !isPart(&op)))
      return op.emitOpError("expected nothing beside the parts of a kernel "
                            "whose threads compute each together");
  auto found = kernel.walk([](memref::AllocOp op) {
    op.emitOpError("expected no memory of its own in a kernel whose threads "
                   "compute each part together");
    return WalkResult::interrupt();
  });
  return failure(found.wasInterrupted());
}

namespace {
struct DistributeLanes
    : ashlar::impl::DistributeLanesPassBase<DistributeLanes> {
  using DistributeLanesPassBase::DistributeLanesPassBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto kernel : getOperation().getOps<exec::KernelOp>()) {
      auto body = kernel.getBodyAttr()
                      ? symbols.lookup<func::FuncOp>(*kernel.getBody())
                      : func::FuncOp();
      int64_t groups = body ? countGroups(body) : 0;
      if (groups == 0)
        continue;
      if (failed(checkAlone(body)))
        return signalPassFailure();
      OpBuilder b(body.getBody());
      Value number =
          gpu::ThreadIdOp::create(b, body.getLoc(), gpu::Dimension::x);
      simt::Threads threads{lanes, lanes * groups, number};
      if (failed(simt::shareRings(body, threads)) ||
          failed(simt::distributeAccumulators(body, threads)))
        return signalPassFailure();
      kernel.setBlock(ArrayRef<int64_t>{threads.count});
    }
  }
};
} // namespace
