// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the check of a stage and runs it on the module, or from the stage
// precision on, on each program that the module holds.
#include "StageChecks.h"
#include "ashlar/Transforms/Verify/Passes.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_VERIFYSTAGEPASS
#include "ashlar/Transforms/Verify/Passes.h.inc"
} // namespace ashlar

namespace {
using Check = LogicalResult (*)(ModuleOp);

struct VerifyStage : ashlar::impl::VerifyStagePassBase<VerifyStage> {
  using VerifyStagePassBase::VerifyStagePassBase;

  void runOnOperation() override {
    Check ofModule = llvm::StringSwitch<Check>(stage)
                         .Case("import", checkImported)
                         .Case("simplify", checkSimplified)
                         .Case("place", checkPrograms)
                         .Default(nullptr);
    Check ofProgram = llvm::StringSwitch<Check>(stage)
                          .Case("precision", checkElementTypes)
                          .Case("fuse", checkDispatches)
                          .Case("tile", checkKernels)
                          .Case("schedule", checkCommands)
                          .Default(nullptr);
    if (!ofModule && !ofProgram) {
      emitError(getOperation().getLoc())
          << "'" << stage
          << "' is no stage that can be verified; expected import, simplify, "
             "place, precision, fuse, tile or schedule";
      return signalPassFailure();
    }
    markAllAnalysesPreserved();
    SmallVector<ModuleOp> modules;
    if (ofProgram)
      llvm::append_range(modules, getOperation().getOps<ModuleOp>());
    if (modules.empty())
      modules.push_back(getOperation());
    Check check = ofModule ? ofModule : ofProgram;
    for (ModuleOp module : modules)
      if (failed(check(module)))
        return signalPassFailure();
  }
};
} // namespace
