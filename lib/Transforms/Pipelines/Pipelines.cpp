// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which passes a stage is made of; no other list has them, but for the end of
// `tile`, which belongs to the target.
#include "ashlar/Transforms/Pipelines/Pipelines.h"
#include "ashlar/Cost/StreamTime.h"
#include "ashlar/Transforms/Fuse/Passes.h"
#include "ashlar/Transforms/Place/Passes.h"
#include "ashlar/Transforms/Precision/Passes.h"
#include "ashlar/Transforms/Schedule/Passes.h"
#include "ashlar/Transforms/Simplify/Passes.h"
#include "ashlar/Transforms/Tile/Passes.h"
#include "ashlar/Transforms/Verify/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace ashlar;

/// The end of every stage: its sentence is true.
static void verifyStage(OpPassManager &pm, const char *stage) {
  VerifyStagePassOptions options;
  options.stage = stage;
  pm.addPass(createVerifyStagePass(options));
}

const char *ashlar::stepName(PipelineStep step) {
  static constexpr const char *names[numSteps] = {
      "ashlar-normalize-generics", "ashlar-assign-layouts",
      "ashlar-fuse-elementwise",   "ashlar-form-contracts",
      "ashlar-absorb-padding",     "ashlar-form-winograd",
      "ashlar-merge-contracts",    "ashlar-form-dispatches",
      "ashlar-merge-reductions",   "ashlar-tile-kernels",
      "ashlar-expand-contracts",   "ashlar-vectorize-generics",
      "ashlar-vectorize-steps",    "the target's lowering"};
  return names[unsigned(step)];
}

void ashlar::buildImportPipeline(OpPassManager &pm) {
  verifyStage(pm, "import");
}

void ashlar::buildStatesPipeline(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(createFormStatesPass());
}

void ashlar::buildSimplifyPipeline(OpPassManager &pm) {
  OpPassManager &function = pm.nest<func::FuncOp>();
  function.addPass(createFoldConstantsPass());
  function.addPass(createFoldChannelScalesPass());
  function.addPass(createCanonicalizerPass());
  function.addPass(createCSEPass());
  verifyStage(pm, "simplify");
}

void ashlar::buildPlacePipeline(OpPassManager &pm,
                                ArrayRef<std::string> targets,
                                ArrayRef<unsigned> standsIn) {
  CloneProgramsPassOptions options;
  options.targets.assign(targets.begin(), targets.end());
  options.standsIn.assign(standsIn.begin(), standsIn.end());
  pm.addPass(createCloneProgramsPass(options));
  verifyStage(pm, "place");
}

void ashlar::buildPrecisionPipeline(OpPassManager &pm,
                                    const PrecisionOptions &options,
                                    const MachineModel &machine) {
  if (options.wideAccumulators)
    pm.addNestedPass<func::FuncOp>(createWidenAccumulatorsPass());
  if (options.multipliesBytes) {
    pm.addNestedPass<func::FuncOp>(createFormIntegerContractionsPass(
        options.bytesFor ? *options.bytesFor : machine));
    // Products of the same bytes share what is moved for them.
    pm.addNestedPass<func::FuncOp>(createCSEPass());
  }
  pm.addNestedPass<func::FuncOp>(createDecodeFloat8Pass());
  if (options.lowers()) {
    pm.addNestedPass<func::FuncOp>(createNormalizeGenericsPass());
    LowerPrecisionOptions lowering;
    lowering.low = options.low;
    lowering.plan = options.plan;
    lowering.simulate = options.simulate;
    lowering.observe = options.observe;
    lowering.decisions = options.decisions;
    lowering.machine = machine;
    lowering.lowElsewhere = options.lowElsewhere;
    pm.addPass(createLowerPrecisionPass(lowering));
    // Constants and sums that nobody reads any more.
    pm.addNestedPass<func::FuncOp>(createCSEPass());
  }
  verifyStage(pm, "precision");
}

/// Beside the scores of an attention lie their exponentials, sums of values and
/// the slots of rings.
static int64_t sharedScoreBytes(const MachineModel &machine) {
  return machine.nearest().bytesOfPart() / 8;
}

/// What one worker of a machine whose threads share accumulators has for a
/// product of an attention. Of a thread's registers, half are for what belongs
/// to the other product and to the softmax: addresses above all.
static MachineModel insideAttention(MachineModel machine) {
  machine.workers.count = 1;
  for (Scope &scope : machine.scopes)
    scope.registerBytes /= 2;
  machine.memories.front().perGroupBytes = machine.nearest().bytesOfPart() / 4;
  return machine;
}

/// Of 16 bits, that no unit of the machine multiplies; none where a companion
/// may take the product.
static SmallVector<std::string>
typesWithoutProducts(const TileOptions &options) {
  SmallVector<std::string> types;
  if (options.companions.empty())
    for (const char *type : {"f16", "bf16"})
      if (!options.machine.unit({type, type, "f32"}))
        types.push_back(type);
  return types;
}

/// From generic ops to contractions with a device and a strategy. `keepsBytes`:
/// a device without a vector unit is there.
static void addContractPasses(OpPassManager &function, bool joins, bool all,
                              bool keepsBytes, const TileOptions &options) {
  bool shared = !options.machine.scopes.empty();
  FormContractsPassOptions contracts;
  contracts.epilogues = joins;
  contracts.units =
      llvm::any_of(options.machine.units, [](const MultiplyUnit &unit) {
        return unit.fragment.has_value();
      });
  function.addPass(createFormContractsPass(contracts));
  if (all && options.takes(PipelineStep::AbsorbPadding)) {
    // What another device computes has no such engine.
    if (shared && !options.openSizes && options.companions.empty())
      function.addPass(createReadMarginsPass(options.machine, options.refused));
    function.addPass(createAbsorbPaddingPass());
  }
  if (keepsBytes)
    function.addPass(createAddBiasesToSumsPass());
  // A host that somebody asked for adds faster than it multiplies by one.
  if (keepsBytes && joins && options.hostStandsIn && !options.openSizes)
    function.addPass(createFormSumsPass(options.companions));
  if (!options.companions.empty())
    function.addPass(createPlaceOperationsPass(
        options.machine, options.companions, options.hostStandsIn,
        options.openSizes, /*absorbsRows=*/all, options.choices));
  if (all && !options.exactConvolution && !shared &&
      options.takes(PipelineStep::FormWinograd))
    function.addPass(createFormWinogradPass(
        options.machine, options.tuning, options.openSizes,
        options.scratchBytes, options.choices, options.sizesOnly));
  if (all && options.takes(PipelineStep::MergeContracts))
    function.addPass(
        createMergeContractsPass(options.machine, options.openSizes));
  function.addPass(createChooseStrategiesPass(
      options.machine, options.tuning, options.openSizes, options.scratchBytes,
      options.choices, options.companions, options.refused));
  function.addPass(createCSEPass());
}

void ashlar::buildFusePipeline(OpPassManager &pm, bool fuse,
                               const TileOptions &options) {
  OpPassManager &function = pm.nest<func::FuncOp>();
  // Threads that share accumulators have no form of Winograd's products yet.
  bool shared = !options.machine.scopes.empty();
  // A target that checks others takes ops as they are; all others get the same
  // kernels for contractions, whatever joins them.
  bool joins = fuse && options.fuse != FuseLevel::None;
  bool all = fuse && options.fuse == FuseLevel::All;
  FuseElementwisePassOptions elementwise;
  elementwise.keepBytes =
      llvm::any_of(options.companions, [](const CompanionDevice &device) {
        return device.endsInBytes;
      });
  if (fuse && options.takes(PipelineStep::NormalizeGenerics))
    function.addPass(createNormalizeGenericsPass());
  if (all && options.takes(PipelineStep::AssignLayouts))
    function.addPass(createAssignLayoutsPass());
  WidenFactorsPassOptions widened;
  widened.types = typesWithoutProducts(options);
  if (fuse && !shared && !widened.types.empty() &&
      options.takes(PipelineStep::FormContracts))
    function.addPass(createWidenFactorsPass(widened));
  if (joins && options.takes(PipelineStep::FuseElementwise))
    function.addPass(createFuseElementwisePass(elementwise));
  function.addPass(createCSEPass());
  if (fuse && options.takes(PipelineStep::FormContracts))
    addContractPasses(function, joins, all, elementwise.keepBytes, options);
  FormDispatchesPassOptions dispatches;
  bool groups = options.takes(PipelineStep::FuseDispatches);
  dispatches.fuse = joins && groups;
  dispatches.rowBytes = all && groups ? options.machine.nearest().bytes : 0;
  dispatches.openSizes = options.openSizes;
  if (int64_t bytes = shared ? sharedScoreBytes(options.machine)
                             : options.machine.scoreBytes();
      all && groups && bytes) {
    FormAttentionPassOptions attention;
    attention.scoreBytes = bytes;
    attention.shared = shared;
    attention.openSizes = options.openSizes;
    attention.scratchBytes = options.scratchBytes;
    function.addPass(createFormAttentionPass(attention, options.machine));
    if (shared)
      function.addPass(createChooseAttentionPass(
          options.machine, options.refused, options.openSizes));
  }
  if (all && groups && shared && !options.openSizes) {
    dispatches.fewRows = true;
    dispatches.rowBytes = mostPassedByRows(options.machine);
    function.addPass(createSplitReductionsPass(options.machine));
  }
  function.addPass(createFormDispatchesPass(dispatches, options.choices));
  if (all && options.takes(PipelineStep::MergeReductions))
    function.addPass(createMergeReductionsPass());
  if (!options.companions.empty()) {
    if (all)
      function.addPass(createAbsorbRowsPass(options.companions));
    function.addPass(createInsertTransfersPass());
  }
  verifyStage(pm, "fuse");
}

void ashlar::buildTilePipeline(
    OpPassManager &pm, const TileOptions &options,
    llvm::function_ref<void(OpPassManager &)> buildKernels) {
  pm.addPass(createOutlineKernelsPass());
  OpPassManager &kernel = pm.nest<func::FuncOp>();
  bool tiles = options.vectorize && options.takes(PipelineStep::TileKernels);
  kernel.addPass(createExpandAttentionPass());
  if (!options.machine.scopes.empty())
    kernel.addPass(createChooseStrategiesPass(
        insideAttention(options.machine), /*tuning=*/nullptr, options.openSizes,
        /*scratchBytes=*/0, /*choices=*/nullptr));
  if (tiles) {
    TileKernelsPassOptions tiling;
    tiling.cacheBytes = options.machine.nearest().bytes;
    tiling.scratchBytes = options.scratchBytes;
    // Several workgroups are at work on one processor at a time.
    if (options.machine.countOf("lane") != 0) {
      constexpr int64_t groupsOfWorker = 8;
      tiling.cacheBytes = options.machine.nearest().bytesOfPart();
      tiling.boxes = options.machine.workers.count * groupsOfWorker;
    }
    kernel.addPass(createTileKernelsPass(tiling));
    kernel.addPass(createCanonicalizerPass());
    kernel.addPass(createCSEPass());
  }
  kernel.addPass(createBufferizeKernelsPass());
  // In this order, copies from a place to itself go.
  kernel.addPass(createCSEPass());
  kernel.addPass(createCanonicalizerPass());
  if (tiles) {
    ShareCopiesPassOptions copies;
    copies.boxBytes = options.machine.nearest().bytes;
    // A workgroup moves some kilobytes at a time.
    if (options.machine.countOf("lane") != 0) {
      copies.boxBytes = 4096;
      copies.many = true;
    }
    kernel.addPass(createShareCopiesPass(copies));
    ShareLoopsPassOptions loops;
    // Each thread has what is one iteration's. Processors would copy rows in
    // pieces: 1.7 ms for 2048 rows of 1024, not 0.5 ms.
    bool hasLanes = options.machine.countOf("lane") != 0;
    loops.boxes = hasLanes ? 1 << 20 : 1;
    loops.work = 1;
    kernel.addPass(createShareLoopsPass(loops));
  }
  buildKernels(pm);
  verifyStage(pm, "tile");
}

void ashlar::buildSchedulePipeline(OpPassManager &pm, int64_t arenaBytes,
                                   ArrayRef<int64_t> joiningDevices,
                                   int64_t chipBytes) {
  ReorderOperationsPassOptions order;
  order.arenaBytes = arenaBytes;
  pm.addPass(createReorderOperationsPass(order));
  if (!joiningDevices.empty()) {
    JoinKernelsPassOptions joining;
    joining.devices.assign(joiningDevices.begin(), joiningDevices.end());
    joining.chipBytes = chipBytes;
    pm.addPass(createJoinKernelsPass(joining));
  }
  pm.addPass(createScheduleProgramPass());
  verifyStage(pm, "schedule");
}
