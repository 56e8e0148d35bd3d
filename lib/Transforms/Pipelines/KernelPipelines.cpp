// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Transforms/Pipelines/KernelPipelines.h"
#include "ashlar/Machine/StoreEngine.h"
#include "ashlar/Transforms/Lanes/Passes.h"
#include "ashlar/Transforms/Precision/Passes.h"
#include "ashlar/Transforms/Simt/Passes.h"
#include "ashlar/Transforms/Tile/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace ashlar;

static void addCleanLoops(OpPassManager &bodies) {
  bodies.addPass(createConvertLinalgToLoopsPass());
  // Of what no unit multiplied.
  bodies.addPass(createDecodeFloat8Pass({/*everywhere=*/true}));
  bodies.addPass(createCanonicalizerPass());
  bodies.addPass(createCSEPass());
}

/// What follows runs on kernels of groups.
static OpPassManager &formGroups(OpPassManager &program) {
  program.addPass(createFormGroupsPass());
  OpPassManager &bodies = program.nest<func::FuncOp>();
  bodies.addPass(createGeneralizeKernelsPass());
  return bodies;
}

/// Of kernels of which nothing else would stay, in front of the expansion of
/// contractions; others are a thread's.
static void formAccumulators(OpPassManager &bodies,
                             const LanesOptions &options) {
  bodies.addPass(createGeneralizeKernelsPass());
  TileGenericsPassOptions generics;
  // Of elements of four bytes, a thread has two pieces.
  generics.elements = options.threads * options.groups *
                      (options.piece ? options.piece / 2 : 4);
  generics.whole = true;
  generics.memory = options.shared;
  bodies.addPass(createTileGenericsPass(generics));
  bodies.addPass(createTileToLoopsPass({/*unplanned=*/true}));
}

LanesOptions ashlar::lanesOf(const MachineModel &machine, unsigned steps) {
  LanesOptions lanes = {machine.vectors.bytes, machine.vectors.count, steps};
  if (int64_t threads = machine.countOf("lane")) {
    lanes.threads = threads;
    lanes.groups = machine.countOf("group");
    lanes.shared = machine.nearest().bytesOfPart();
    for (const CopyEngine &engine : machine.copyEngines) {
      if (&engine == storeEngineOf(machine))
        lanes.stores = engine.name;
      else if (engine.boxes)
        lanes.roleEngines.push_back(engine.name);
      else if (engine.asynchronous) {
        lanes.engines.push_back(engine.name);
        lanes.copyWords |= engine.minimumBytes == 4;
      }
    }
    if (!lanes.engines.empty())
      lanes.otherwise = lanes.engines.front();
    int64_t count = 1;
    for (const Scope &scope : llvm::reverse(machine.scopes)) {
      if (scope.kind == "group")
        lanes.scopes.push_back(scope.name + "=" + std::to_string(count));
      count *= std::max<int64_t>(scope.count, 1);
    }
  }
  return lanes;
}

void ashlar::buildLanesPipeline(OpPassManager &program,
                                const LanesOptions &options) {
  OpPassManager &whole = program.nest<func::FuncOp>();
  whole.addPass(createExpandWinogradPass({options.vectorBytes}));
  if (options.takes(PipelineStep::ExpandContracts)) {
    if (options.threads) {
      formAccumulators(whole, options);
      whole.addPass(createExpandHeldAttentionPass());
    }
    whole.addPass(createExpandContractsPass());
    if (options.threads) {
      OpPassManager &bodies = program.nest<func::FuncOp>();
      if (!options.roleEngines.empty()) {
        HoistRolesPassOptions roles;
        roles.engines.assign(options.roleEngines.begin(),
                             options.roleEngines.end());
        roles.otherwise = options.otherwise;
        bodies.addPass(createHoistRolesPass(roles));
        bodies.addPass(createScheduleStepsPass({/*inFlight=*/0}));
      }
      bodies.addPass(createFormClustersPass());
      PipelineCopiesPassOptions ahead;
      ahead.engines.assign(options.engines.begin(), options.engines.end());
      if (!options.engines.empty())
        bodies.addPass(createPipelineCopiesPass(ahead));
      DistributeLanesPassOptions lanes = {
          options.threads,   options.groups, options.shuffles, options.piece,
          options.copyWords, options.stores, options.shared};
      lanes.scopes.assign(options.scopes.begin(), options.scopes.end());
      program.addPass(createDistributeLanesPass(lanes));
      program.nest<func::FuncOp>().addPass(
          createPackWorkgroupMemoryPass({options.shared}));
    } else {
      whole.addPass(createFormClustersPass());
    }
    program.nest<func::FuncOp>().addPass(createExpandCopiesPass());
  }
  if (!options.takes(PipelineStep::VectorizeSteps))
    program.nest<func::FuncOp>().addPass(createTileToLoopsPass());
  OpPassManager &bodies = formGroups(program);
  if (!options.roleEngines.empty())
    bodies.addPass(createKeepRingsPass());
  if (options.takes(PipelineStep::VectorizeGenerics)) {
    VectorizeGenericsPassOptions vectors;
    vectors.vectorBytes = options.vectorBytes;
    vectors.registers = options.registers;
    bodies.addPass(createVectorizeGenericsPass(vectors));
  }
  if (options.takes(PipelineStep::VectorizeSteps)) {
    bodies.addPass(createFormMatricesPass({options.vectorBytes}));
    bodies.addPass(createVectorizeStepsPass({options.vectorBytes}));
  }
  addCleanLoops(bodies);
  if (options.threads)
    program.addPass(createSpreadPartsPass({options.threads * options.groups}));
}

void ashlar::buildLoopsPipeline(OpPassManager &program) {
  addCleanLoops(formGroups(program));
}
