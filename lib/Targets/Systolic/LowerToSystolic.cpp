// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a kernel of contractions to a stream, as ops.
#include "LowerKernel.h"
#include "StreamOps.h"
#include "ashlar/Dialects/Systolic/IR/SystolicOps.h"
#include "ashlar/Targets/Systolic/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_LOWERTOSYSTOLICPASS
#include "ashlar/Targets/Systolic/Passes.h.inc"
} // namespace ashlar

namespace {
struct LowerToSystolicPass
    : ashlar::impl::LowerToSystolicPassBase<LowerToSystolicPass> {
  using LowerToSystolicPassBase::LowerToSystolicPassBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    auto preset = systolic::presetNamed(machine, function);
    if (failed(preset))
      return signalPassFailure();
    auto contracts = llvm::to_vector(function.getOps<tile::ContractOp>());
    if (contracts.empty())
      return;
    auto kernel = systolic::lowerKernel(function, function.getSymName(),
                                        function.getNumArguments(), *preset);
    if (failed(kernel))
      return signalPassFailure();
    OpBuilder b(contracts.front());
    systolic::writeOps(b, contracts.front().getLoc(), *kernel,
                       function.getArguments());
    for (tile::ContractOp contract : contracts)
      contract.erase();
    // What said where a part of an argument lies.
    for (Operation &op :
         llvm::make_early_inc_range(llvm::reverse(function.getBody().front())))
      if (isOpTriviallyDead(&op))
        op.erase();
  }
};
} // namespace
