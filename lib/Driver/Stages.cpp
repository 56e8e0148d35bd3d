// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What each stage of a compile does, but for the last (EmitStage.cpp). Which
// passes a stage has stands in Transforms/Pipelines.
#include "CheckWrittenFiles.h"
#include "Companions.h"
#include "Compilation.h"
#include "FoldLargeConstants.h"
#include "ImportModel.h"
#include "States.h"
#include "TargetOptions.h"
#include "ashlar/Transforms/Pipelines/Pipelines.h"
#include "ashlar/Transforms/Simplify/Passes.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace ashlar;

LogicalResult Compilation::import() {
  module =
      importModel(options, *context, result.unsupported, dataFiles, metadata);
  if (!module)
    // A model can be wrong and beyond us at once: wrong counts more.
    result.status = errors == 0 && !result.unsupported.empty()
                        ? CompileStatus::Unsupported
                        : CompileStatus::Refused;
  if (module && !checkWrittenFiles(options, dataFiles,
                                   "a file with the model's weights", log))
    return refuse();
  if (!module || failed(verify(*module)) ||
      failed(runPipeline(*module, buildImportPipeline)))
    return failure();
  if (hooks.afterImport)
    hooks.afterImport(*module);
  return success();
}

LogicalResult Compilation::foldConstants() {
  bool refused = false;
  for (auto function : module->getOps<func::FuncOp>())
    if (failed(foldLargeConstants(function, options.threads, refused)))
      return refused ? refuse() : failure();
  module->walk([](Operation *op) { op->removeDiscardableAttr(sizedAttrName); });
  return success();
}

LogicalResult Compilation::simplify() {
  if (hooks.beforeSimplify)
    hooks.beforeSimplify(*module);
  // Without states, a remark says which there could be.
  bool looksForStates = !options.states.empty() || remarksFile.isWanted();
  if (!markStates(*module, options, log) ||
      (looksForStates && failed(runPipeline(*module, buildStatesPipeline))))
    return refuse();
  if (failed(runPipeline(*module, buildSimplifyPipeline)) ||
      failed(foldConstants()))
    return failure();
  if (options.randomWeights &&
      failed(runPipeline(*module, [&](OpPassManager &pm) {
        pm.addPass(createRandomizeWeightsPass({*options.randomWeights}));
      })))
    return failure();
  if (hooks.afterSimplify)
    hooks.afterSimplify(*module);
  return success();
}

LogicalResult Compilation::place() {
  return runPipeline(*module, [&](OpPassManager &pm) {
    buildPlacePipeline(pm, targetNames, standIns(targets));
  });
}

LogicalResult Compilation::choosePrecision() {
  auto build = [&](OpPassManager &pm, Target &target) {
    PrecisionOptions own = precision.optionsFor(target);
    addCompanions(target, own);
    buildPrecisionPipeline(pm, own, target.machine());
  };
  return runPrograms(build, [&](ModuleOp) {
    return precision.checkNodes() ? success() : refuse();
  });
}

/// What `fuse` and `tile` are both told.
TileOptions Compilation::tilingFor(const Target &target) const {
  TileOptions tiling = tileOptionsOf(target);
  tiling.steps = hooks.steps;
  tiling.openSizes = !options.sizes.empty();
  tiling.scratchBytes = saving.scratchOf(numberOf(target));
  return tiling;
}

LogicalResult Compilation::fuse() {
  auto build = [&](OpPassManager &pm, Target &target) {
    TileOptions tiling = tilingFor(target);
    tiling.exactConvolution =
        options.exactConvolution || saving.exactConvolution;
    tiling.choices = hooks.choices;
    tiling.sizesOnly = hooks.sizesOnly;
    tiling.fuse = options.fuse;
    tiling.tuning = tunings[numberOf(target)];
    tiling.refused = tries.refusedOf(numberOf(target));
    addCompanions(target, tiling);
    buildFusePipeline(pm, target.capabilities().fuses, tiling);
  };
  return runPrograms(build, [&](ModuleOp fused) {
    fused->walk(
        [](Operation *op) { op->removeDiscardableAttr(apartAttrName); });
    return hooks.afterFuse ? hooks.afterFuse(fused) : success();
  });
}

LogicalResult Compilation::tile() {
  auto build = [&](OpPassManager &pm, Target &target) {
    buildTilePipeline(pm, tilingFor(target), [&](OpPassManager &all) {
      if (hooks.beforeKernels)
        hooks.beforeKernels(all);
      buildKernelPipelines(all, target, {hooks.steps});
    });
  };
  return runPrograms(build, hooks.afterTile);
}

LogicalResult Compilation::schedule() {
  return runPrograms([&](OpPassManager &pm, Target &target) {
    JoiningDevices joining;
    if (options.fuse == FuseLevel::All)
      joining = joiningDevices(target);
    buildSchedulePipeline(pm, saving.arenaOf(numberOf(target)), joining.devices,
                          joining.chipBytes);
  });
}
