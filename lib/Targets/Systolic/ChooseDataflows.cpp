// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The choice of a stream by itself, as strategies of its contractions.
#include "LowerKernel.h"
#include "ashlar/Targets/Systolic/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_CHOOSEDATAFLOWSPASS
#include "ashlar/Targets/Systolic/Passes.h.inc"
} // namespace ashlar

namespace {
struct ChooseDataflowsPass
    : ashlar::impl::ChooseDataflowsPassBase<ChooseDataflowsPass> {
  using ChooseDataflowsPassBase::ChooseDataflowsPassBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    auto preset = systolic::presetNamed(machine, function);
    if (failed(preset))
      return signalPassFailure();
    if (!function.getOps<tile::ContractOp>().empty() &&
        failed(systolic::chooseStrategies(function, *preset)))
      signalPassFailure();
  }
};
} // namespace
