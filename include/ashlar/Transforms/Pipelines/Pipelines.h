// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stages' own passes. Driver/Passes.h registers a whole stage as
// --ashlar-STAGE-pipeline; what holds after it stands beside it and is checked
// by its last pass, ashlar-verify-stage. `import` makes the first IR, so that
// its pipeline is nothing but the check; `emit` belongs to the targets.
#ifndef ASHLAR_TRANSFORMS_PIPELINES_PIPELINES_H
#define ASHLAR_TRANSFORMS_PIPELINES_PIPELINES_H

#include "ashlar/Machine/MachineModel.h"
#include "ashlar/Transforms/Fuse/Passes.h"
#include "ashlar/Transforms/Pipelines/FuseLevel.h"
#include "ashlar/Transforms/Pipelines/PipelineSteps.h"
#include "ashlar/Transforms/Precision/PrecisionPlan.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <memory>
#include <optional>
#include <string>

namespace ashlar {

class FirstChoices;
class RefusedStrategies;
class StrategyTuning;

/// What the target says to the stage `tile`.
struct TileOptions {
  bool vectorize = true; ///< no: kernels stay whole, as plain loops are
  /// How many of the steps are taken.
  unsigned steps = numSteps;
  MachineModel machine = MachineModel::generic();
  /// Convolutions are sums of products only, without transforms.
  bool exactConvolution = false;
  /// Each call chooses some sizes: nothing is cut into boxes that must divide
  /// them.
  bool openSizes = false;
  std::shared_ptr<FirstChoices> choices; ///< of other sizes; may be null
  /// Nobody reads the elements of weights that passes make.
  bool sizesOnly = false;
  /// What one worker of a kernel should take of scratch at most, where that can
  /// be had by smaller boxes; 0: as much as is fast.
  int64_t scratchBytes = 0;
  FuseLevel fuse = FuseLevel::All;
  /// Further devices of the program.
  std::vector<CompanionDevice> companions;
  bool hostStandsIn = false; ///< it computes only what they cannot
  /// Measured choices, and who lists what was considered; may be null.
  std::shared_ptr<StrategyTuning> tuning;
  /// What an earlier try of the program has found out; may be null.
  std::shared_ptr<RefusedStrategies> refused;

  bool takes(PipelineStep step) const { return unsigned(step) < steps; }
};

/// What the target says to the stage `precision`.
struct PrecisionOptions {
  bool wideAccumulators = false; ///< f32 is added up in f64
  bool multipliesBytes = true;   ///< what was dequantized, as it was before
  /// The further device whose signs and groups products of bytes get; none: the
  /// program's own.
  std::optional<MachineModel> bytesFor;
  /// Types whose products further devices compute.
  std::vector<NumberType> lowElsewhere;
  /// What values and products are rounded to where rules allow it.
  NumberType low = NumberType::F32;
  const PrecisionPlan *plan = nullptr; ///< decides instead of the rules
  bool simulate = false; ///< an input says where to round; types stay
  bool observe = false;  ///< outputs say what f16 cannot hold; types stay
  PrecisionDecisions *decisions = nullptr; ///< receives what was decided

  bool lowers() const { return low != NumberType::F32 || plan; }
};

/// One function per entry point, on tensors; every op has the name of the
/// model's node.
void buildImportPipeline(mlir::OpPassManager &pm);
/// Inputs and outputs that --state names have one place.
void buildStatesPipeline(mlir::OpPassManager &pm);
/// Shape arithmetic is folded, batch norms are part of convolutions, no op is
/// dead.
void buildSimplifyPipeline(mlir::OpPassManager &pm);
/// Every target has a program of its own. `targets`: "NAME:PRESET", with "+"
/// and the same of each further device. What runs where is settled in `fuse`:
/// it takes the types and what follows the sums. `standsIn`: the numbers of
/// programs whose first device nobody asked for.
void buildPlacePipeline(mlir::OpPassManager &pm,
                        llvm::ArrayRef<std::string> targets,
                        llvm::ArrayRef<unsigned> standsIn = {});
/// The type of every operand, accumulator and result is explicit, chosen for
/// `machine`.
void buildPrecisionPipeline(mlir::OpPassManager &pm,
                            const PrecisionOptions &options,
                            const MachineModel &machine);
/// Every op that moves or computes data is inside an exec.dispatch; with
/// `fuse`, every contraction has a strategy for the machine of `options`, or is
/// another device's; every transfer between devices is an op.
void buildFusePipeline(mlir::OpPassManager &pm, bool fuse,
                       const TileOptions &options);
/// Every kernel is a function of loops for one machine model, its scratch an
/// argument of known size. `buildKernels` adds the target's own passes over
/// functions on memrefs.
void buildTilePipeline(
    mlir::OpPassManager &pm, const TileOptions &options,
    llvm::function_ref<void(mlir::OpPassManager &)> buildKernels);
/// Every entry is an exec.program; its memory contract is exact. Cheap values
/// are computed again where the arena would need more than `arenaBytes`
/// otherwise; 0: never. What `joiningDevices` run in succession is one kernel,
/// whose values may lie in `chipBytes` of theirs.
void buildSchedulePipeline(mlir::OpPassManager &pm, int64_t arenaBytes = 0,
                           llvm::ArrayRef<int64_t> joiningDevices = {},
                           int64_t chipBytes = 0);

} // namespace ashlar

#endif // ASHLAR_TRANSFORMS_PIPELINES_PIPELINES_H
