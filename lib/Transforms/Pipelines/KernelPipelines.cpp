// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Transforms/Pipelines/KernelPipelines.h"
#include "ashlar/Transforms/Lanes/Passes.h"
#include "ashlar/Transforms/Tile/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace ashlar;

static void addCleanLoops(OpPassManager &kernels) {
  kernels.addPass(createConvertLinalgToLoopsPass());
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createCSEPass());
}

void ashlar::buildLanesPipeline(OpPassManager &kernels,
                                const LanesOptions &options) {
  kernels.addPass(createExpandWinogradPass({options.vectorBytes}));
  if (options.takes(PipelineStep::ExpandContracts)) {
    kernels.addPass(createExpandContractsPass());
    kernels.addPass(createExpandCopiesPass());
  }
  if (!options.takes(PipelineStep::VectorizeSteps))
    kernels.addPass(createTileToLoopsPass());
  kernels.addPass(createFormGroupsPass());
  kernels.addPass(createGeneralizeKernelsPass());
  if (options.takes(PipelineStep::VectorizeGenerics)) {
    VectorizeGenericsPassOptions vectors;
    vectors.vectorBytes = options.vectorBytes;
    vectors.registers = options.registers;
    kernels.addPass(createVectorizeGenericsPass(vectors));
  }
  if (options.takes(PipelineStep::VectorizeSteps)) {
    kernels.addPass(createFormMatricesPass({options.vectorBytes}));
    kernels.addPass(createVectorizeStepsPass({options.vectorBytes}));
  }
  addCleanLoops(kernels);
}

void ashlar::buildLoopsPipeline(OpPassManager &kernels) {
  kernels.addPass(createFormGroupsPass());
  kernels.addPass(createGeneralizeKernelsPass());
  addCleanLoops(kernels);
}
