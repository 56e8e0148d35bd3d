// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/InitAll.h"
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Dialects/Systolic/IR/SystolicOps.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "ashlar/Interpret/Interpret.h"
#include "ashlar/Targets/CPU/Passes.h"
#include "ashlar/Targets/CPU/Targets.h"
#include "ashlar/Targets/CUDA/Passes.h"
#include "ashlar/Targets/CUDA/Targets.h"
#include "ashlar/Targets/LevelZero/Targets.h"
#include "ashlar/Targets/OpenCL/Passes.h"
#include "ashlar/Targets/OpenCL/Targets.h"
#include "ashlar/Targets/ROCm/Passes.h"
#include "ashlar/Targets/ROCm/Targets.h"
#include "ashlar/Targets/Reference/Targets.h"
#include "ashlar/Targets/Systolic/Passes.h"
#include "ashlar/Targets/Systolic/Targets.h"
#include "ashlar/Transforms/Approximate/Passes.h"
#include "ashlar/Transforms/Fuse/Passes.h"
#include "ashlar/Transforms/Lanes/Passes.h"
#include "ashlar/Transforms/Place/Passes.h"
#include "ashlar/Transforms/Precision/Passes.h"
#include "ashlar/Transforms/Schedule/Passes.h"
#include "ashlar/Transforms/Simplify/Passes.h"
#include "ashlar/Transforms/Simt/Passes.h"
#include "ashlar/Transforms/Tile/Passes.h"
#include "ashlar/Transforms/Verify/Passes.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"

void ashlar::registerAllDialects(mlir::DialectRegistry &registry) {
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllToLLVMIRTranslations(registry);
  registry.insert<exec::ExecDialect, systolicir::SystolicDialect,
                  tile::TileDialect>();
  tile::registerBufferization(registry);
  tile::registerTiling(registry);
}

void ashlar::registerAllPasses() {
  mlir::registerAllPasses();
  registerApproximatePasses();
  registerCPUPasses();
  registerCUDAPasses();
  registerFusePasses();
  registerInterpretPasses();
  registerLanesPasses();
  registerOpenCLPasses();
  registerPlacePasses();
  registerSchedulePasses();
  registerPrecisionPasses();
  registerROCmPasses();
  registerSimplifyPasses();
  registerSimtPasses();
  registerSystolicPasses();
  registerTilePasses();
  registerVerifyPasses();
}

const std::vector<ashlar::TargetInfo> &ashlar::allTargets() {
  static const std::vector<TargetInfo> targets = {
<<<<<<< HEAD
      cpu::cpuTargetInfo(),       cuda::cudaTargetInfo(),
      opencl::openclTargetInfo(), reference::referenceTargetInfo(),
      rocm::rocmTargetInfo(),     systolic::systolicTargetInfo()};
=======
      cpu::cpuTargetInfo(),
      cuda::cudaTargetInfo(),
      levelzero::levelZeroTargetInfo(),
      opencl::openclTargetInfo(),
      reference::referenceTargetInfo(),
      systolic::systolicTargetInfo()};
>>>>>>> in-zero
  return targets;
}
