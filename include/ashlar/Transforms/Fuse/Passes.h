// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_TRANSFORMS_FUSE_PASSES_H
#define ASHLAR_TRANSFORMS_FUSE_PASSES_H

#include "ashlar/Machine/MachineModel.h"
#include "ashlar/Transforms/Fuse/Companions.h"
#include "mlir/Pass/Pass.h"

namespace ashlar {
#define GEN_PASS_DECL
#include "ashlar/Transforms/Fuse/Passes.h.inc"
class FirstChoices;
class RefusedStrategies;
class StrategyTuning;
/// What is best for `machine`; without it, for MachineModel::generic(). Tuning
/// may be null. With `openSizes`, nothing depends on what divides a size; what
/// `choices` knows is kept to, otherwise noted; it may be null. What a worker
/// keeps for itself is held to `scratchBytes` where that is not 0. Those of
/// `companions` that lower their own kernels have strategies for their
/// machines. What `refused` has is not taken again; it may be null.
std::unique_ptr<mlir::Pass> createChooseStrategiesPass(
    const MachineModel &machine, std::shared_ptr<StrategyTuning> tuning,
    bool openSizes, int64_t scratchBytes, std::shared_ptr<FirstChoices> choices,
    std::vector<CompanionDevice> companions = {},
    std::shared_ptr<RefusedStrategies> refused = nullptr);
std::unique_ptr<mlir::Pass>
createChooseAttentionPass(const MachineModel &machine,
                          std::shared_ptr<RefusedStrategies> refused = nullptr,
                          bool openSizes = false);
/// Threads of `machine` hold what callers choose the sizes of, or nobody.
std::unique_ptr<mlir::Pass>
createFormAttentionPass(FormAttentionPassOptions options,
                        const MachineModel &machine);
/// What `refused` has is not taken; it may be null.
std::unique_ptr<mlir::Pass>
createReadMarginsPass(const MachineModel &machine,
                      std::shared_ptr<RefusedStrategies> refused = nullptr);
std::unique_ptr<mlir::Pass>
createFormWinogradPass(const MachineModel &machine,
                       std::shared_ptr<StrategyTuning> tuning, bool openSizes,
                       int64_t scratchBytes,
                       std::shared_ptr<FirstChoices> choices, bool sizesOnly);
/// `choices` may be null.
std::unique_ptr<mlir::Pass>
createFormDispatchesPass(FormDispatchesPassOptions options,
                         std::shared_ptr<FirstChoices> choices);
/// Does nothing where `machine` has no threads that take turns.
std::unique_ptr<mlir::Pass>
createSplitReductionsPass(const MachineModel &machine);
std::unique_ptr<mlir::Pass>
createMergeContractsPass(const MachineModel &machine, bool openSizes);
/// Companions in the order of their numbers, from 1 on. `hostStandsIn`: what
/// one of them can compute does not stay. `absorbsRows`: AbsorbRows comes
/// later. `choices` may be null.
std::unique_ptr<mlir::Pass>
createPlaceOperationsPass(const MachineModel &host,
                          std::vector<CompanionDevice> companions,
                          bool hostStandsIn, bool openSizes, bool absorbsRows,
                          std::shared_ptr<FirstChoices> choices);
/// Companions in the order of their numbers, from 1 on.
std::unique_ptr<mlir::Pass>
createFormSumsPass(std::vector<CompanionDevice> companions);
std::unique_ptr<mlir::Pass>
createAbsorbRowsPass(std::vector<CompanionDevice> companions);

#define GEN_PASS_REGISTRATION
#include "ashlar/Transforms/Fuse/Passes.h.inc"
} // namespace ashlar

#endif // ASHLAR_TRANSFORMS_FUSE_PASSES_H
