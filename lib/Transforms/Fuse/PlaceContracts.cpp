// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contractions go to the first companion that can compute them, with all that
// follows their sums. Only now are types and epilogues known.
#include "ashlar/Analysis/SumBounds.h"
#include "ashlar/Support/Remarks.h"
#include "ashlar/Transforms/Fuse/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_PLACECONTRACTSPASS
#include "ashlar/Transforms/Fuse/Passes.h.inc"
} // namespace ashlar

namespace {
struct PlaceContracts : ashlar::impl::PlaceContractsPassBase<PlaceContracts> {
  using PlaceContractsPassBase::PlaceContractsPassBase;
  PlaceContracts(std::vector<CompanionDevice> companions)
      : companions(std::move(companions)) {}

  LogicalResult initialize(MLIRContext *context) override {
    return readCompanionOption(context, deviceNames, companions);
  }
  void runOnOperation() override {
    ConstantEvaluator constants;
    ElementRanges ranges(constants);
    getOperation().walk([&](tile::ContractOp op) { place(op, ranges); });
  }

private:
  void place(tile::ContractOp op, ElementRanges &ranges) {
    std::string reasons;
    for (auto [i, companion] : llvm::enumerate(companions)) {
      std::string why = isa<func::FuncOp>(op->getParentOp())
                            ? companion.whyNot(op)
                            : "it is part of a condition or loop";
      if (why.empty()) {
        op.setDevice(i + 1);
        int64_t bits = companion.arraySumBits;
        if (bits && boundSums(op, ranges).fit(bits))
          op->setAttr(sumBitsAttrName, Builder(op).getI64IntegerAttr(bits));
        remark::passed(op.getLoc(), about(op, "Placed", "place"))
            << "runs on " << remark::metric("Target", companion.name);
        return;
      }
      reasons += (reasons.empty() ? "" : "; ") + companion.name + ": " + why;
    }
    remark::missed(op.getLoc(), about(op, "Placed", "place"))
        << "stays on the host: " << remark::metric("Reason", reasons);
  }

  std::vector<CompanionDevice> companions;
};
} // namespace

std::unique_ptr<Pass>
ashlar::createPlaceContractsPass(std::vector<CompanionDevice> companions) {
  return std::make_unique<PlaceContracts>(std::move(companions));
}
