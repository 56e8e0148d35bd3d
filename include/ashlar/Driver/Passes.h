// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stages as ashlar-opt runs them, on any IR: --ashlar-STAGE-pipeline.
#ifndef ASHLAR_DRIVER_PASSES_H
#define ASHLAR_DRIVER_PASSES_H

#include "ashlar/Support/Refusal.h"
#include "mlir/Pass/Pass.h"

#include <string>

namespace ashlar {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "ashlar/Driver/Passes.h.inc"

/// What is wrong with the options of a stage, whatever the IR.
Refusal checkStageOptions(const RunStagePassOptions &options);

/// --ashlar-import-pipeline and so on, with the options that each stage has.
void registerStagePipelines();
} // namespace ashlar

#endif // ASHLAR_DRIVER_PASSES_H
