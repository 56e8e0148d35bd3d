// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Transforms/Simt/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace ashlar {
#define GEN_PASS_DEF_SHAREVARIABLESPASS
#include "ashlar/Transforms/Simt/Passes.h.inc"
} // namespace ashlar

namespace {
struct ShareVariables : ashlar::impl::ShareVariablesPassBase<ShareVariables> {
  void runOnOperation() override {
    SmallVector<memref::AllocOp> slots;
    getOperation().walk([&](memref::AllocOp slot) {
      if (slot.getType().getMemorySpace())
        slots.push_back(slot);
    });
    OpBuilder top = OpBuilder::atBlockBegin(getOperation().getBody());
    for (auto [number, slot] : llvm::enumerate(slots)) {
      std::string name = "shared" + std::to_string(number);
      memref::GlobalOp::create(top, slot.getLoc(), name,
                               top.getStringAttr("private"), slot.getType(),
                               top.getUnitAttr(), /*constant=*/false,
                               /*alignment=*/
                               top.getI64IntegerAttr(std::max<int64_t>(
                                   slot.getAlignment().value_or(1), 64)));
      OpBuilder b(slot);
      slot.replaceAllUsesWith(
          memref::GetGlobalOp::create(b, slot.getLoc(), slot.getType(), name)
              .getResult());
      slot.erase();
    }
  }
};
} // namespace
