// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LowerKernel.h"
#include "StreamOps.h"
#include "ashlar/Dialects/Systolic/IR/SystolicOps.h"
#include "ashlar/Targets/Systolic/Passes.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_VERIFYSTREAMSPASS
#include "ashlar/Targets/Systolic/Passes.h.inc"
} // namespace ashlar

namespace {
struct VerifyStreamsPass
    : ashlar::impl::VerifyStreamsPassBase<VerifyStreamsPass> {
  using VerifyStreamsPassBase::VerifyStreamsPassBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    auto preset = systolic::presetNamed(machine, function);
    if (failed(preset))
      return signalPassFailure();
    auto kernel = systolic::readOps(function);
    if (failed(kernel))
      return signalPassFailure();
    std::string why;
    systolic::countIssued(kernel->commands, kernel->issued, why);
    if (why.empty())
      why = systolic::checkStream(function, *kernel, *preset);
    if (!why.empty()) {
      function.emitError(why);
      return signalPassFailure();
    }
    markAllAnalysesPreserved();
  }
};
} // namespace
