// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Roles.h"
#include "Threads.h"
#include "ashlar/Analysis/RingBytes.h"
#include "ashlar/Planner/Planner.h"
#include "ashlar/Support/NoteAt.h"
#include "ashlar/Transforms/Simt/Passes.h"
#include "ashlar/Transforms/Tile/MemoryUses.h"
#include "ashlar/Transforms/Tile/Threads.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_PACKWORKGROUPMEMORYPASS
#include "ashlar/Transforms/Simt/Passes.h.inc"
} // namespace ashlar

static bool isWorkgroups(memref::AllocOp op) {
  auto space = dyn_cast_or_null<IntegerAttr>(op.getType().getMemorySpace());
  return space && space.getInt() == simt::workgroupSpace;
}

/// Whether all threads have just met.
static bool isBehindBarrier(Operation *op) {
  do
    op = op->getPrevNode();
  while (op && (isMemoryEffectFree(op) || isa<memref::AllocOp>(op)));
  return isa_and_nonnull<gpu::BarrierOp, tile::ThreadMeetOp>(op);
}

namespace {
struct PackWorkgroupMemory
    : ashlar::impl::PackWorkgroupMemoryPassBase<PackWorkgroupMemory> {
  using PackWorkgroupMemoryPassBase::PackWorkgroupMemoryPassBase;

  void runOnOperation() override {
    MemoryUses uses(getOperation());
    SmallVector<MemoryUse> packed;
    std::vector<planner::Buffer> buffers;
    int64_t alignment = sharedAlignment;
    for (MemoryUse use : uses.all())
      if (isWorkgroups(use.op)) {
        packed.push_back(use);
        int64_t own = std::max<int64_t>(use.op.getAlignment().value_or(1),
                                        sharedAlignment);
        alignment = std::max(alignment, own);
        buffers.push_back({use.lower, use.upper,
                           int64_t(llvm::alignTo(use.bytes, sharedAlignment)),
                           own});
      }
    planner::Plan plan = planner::planGreedily(buffers);
    if (bytes != 0 && plan.peak > bytes) {
      noteAt(getOperation().emitError("expected at most ")
                 << bytes.getValue() << " bytes of a workgroup's memory, found "
                 << plan.peak << " in " << packed.size() << " buffers",
             llvm::max_element(packed,
                               [](const MemoryUse &a, const MemoryUse &b) {
                                 return a.bytes < b.bytes;
                               })
                 ->op.getLoc(),
             "the largest is here");
      return signalPassFailure();
    }
    // One alone is where it is.
    if (packed.size() < 2)
      return;
    auto isShared = [&](size_t i) {
      return llvm::any_of(llvm::seq(packed.size()), [&](size_t j) {
        return i != j && buffers[i].bytes != 0 && buffers[j].bytes != 0 &&
               plan.offsets[i] < plan.offsets[j] + buffers[j].bytes &&
               plan.offsets[j] < plan.offsets[i] + buffers[i].bytes;
      });
    };
    auto space = packed.front().op.getType().getMemorySpace();
    OpBuilder b(getOperation().getBody());
    Value memory = memref::AllocOp::create(
        b, getOperation().getLoc(),
        MemRefType::get({plan.peak}, b.getI8Type(), MemRefLayoutAttrInterface(),
                        space),
        alignment > sharedAlignment ? b.getI64IntegerAttr(alignment)
                                    : IntegerAttr());
    for (auto [i, use] : llvm::enumerate(packed)) {
      Location at = use.op.getLoc();
      b.setInsertionPoint(use.op);
      // Others may still read what lies here.
      if (isShared(i) && !isBehindBarrier(use.op))
        simt::meet(b, at);
      Value from = arith::ConstantIndexOp::create(b, at, plan.offsets[i]);
      use.op.replaceAllUsesWith(memref::ViewOp::create(b, at, use.op.getType(),
                                                       memory, from,
                                                       ValueRange())
                                    .getResult());
      use.op.erase();
    }
  }
};
} // namespace
