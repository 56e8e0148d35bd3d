// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LowerKernels.h"
#include "ashlar/Targets/CPU/Passes.h"
#include "ashlar/Transforms/Approximate/Passes.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void ashlar::cpu::buildLoweringPipeline(OpPassManager &pm,
                                        const LoweringOptions &options) {
  OpPassManager &function = pm.nest<func::FuncOp>();
  LowerMatricesPassOptions matrices;
  matrices.features.assign(options.features.begin(), options.features.end());
  LowerDotsPassOptions dots;
  dots.features = matrices.features;
  function.addPass(createLowerMatricesPass(matrices));
  function.addPass(memref::createFoldMemRefAliasOpsPass());
  function.addPass(createFlattenStridedGathersPass());
  function.addPass(memref::createExpandStridedMetadataPass());
  function.addPass(createLowerAffinePass());
  function.addPass(createCanonicalizerPass());
  function.addPass(createCSEPass());
  function.addPass(createLoopInvariantCodeMotionPass());
  if (options.approximate) {
    ApproximateMathPassOptions approximation;
    approximation.fma = options.fma;
    function.addPass(createApproximateMathPass(approximation));
  }
  function.addPass(createLowerDotsPass(dots));
  function.addPass(createWidenHalvesPass({options.convertsF16}));
  function.addPass(createSCFToControlFlowPass());
  ConvertMathToLLVMPassOptions mathOptions;
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  function.addPass(createConvertMathToLLVMPass(mathOptions));
  pm.addPass(createConvertMathToLibmPass());
  pm.nest<func::FuncOp>().addPass(arith::createArithExpandOpsPass(expand));
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertIndexToLLVMPass());
  pm.addPass(createUBToLLVMConversionPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  ConvertFuncToLLVMPassOptions functions;
  functions.useBarePtrCallConv = true;
  pm.addPass(createConvertFuncToLLVMPass(functions));
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createCanonicalizerPass());
}
