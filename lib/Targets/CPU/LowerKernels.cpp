// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LowerKernels.h"
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Support/Remarks.h"
#include "ashlar/Targets/CPU/Passes.h"
#include "ashlar/Transforms/Approximate/Passes.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace ashlar;

static bool roundsToIntegers(func::FuncOp kernel) {
  return kernel.walk([](math::RoundEvenOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

FailureOr<cpu::LoweredKernels>
ashlar::cpu::lowerKernels(ModuleOp program, unsigned device,
                          const LoweringOptions &options,
                          llvm::function_ref<void(OpPassManager &)> passes) {
  LoweredKernels lowered;
  lowered.all = ModuleOp::create(program.getLoc());
  OpBuilder b = OpBuilder::atBlockEnd(lowered.all->getBody());
  SymbolTable symbols(program);
  for (exec::KernelOp kernel : exec::kernelsOf(program, device)) {
    auto body = symbols.lookup<func::FuncOp>(*kernel.getBody());
    auto module = ModuleOp::create(b, kernel.getLoc());
    OpBuilder inner = OpBuilder::atBlockEnd(module.getBody());
    auto clone = cast<func::FuncOp>(inner.clone(*body));
    clone.setName(kernel.getSymName());
    clone.setPublic();
    clone.removeArgAttrsAttr();
    auto product = [](std::optional<ArrayRef<int64_t>> counts) {
      return ShapedType::getNumElements(counts.value_or(ArrayRef<int64_t>()));
    };
    lowered.kernels.push_back(
        {module, kernel.getSymName().str(), nodeName(kernel.getLoc()),
         roundsToIntegers(body), product(kernel.getBlock()),
         product(kernel.getCluster()),
         kernel.getTensorMapsAttr() ? int64_t(kernel.getTensorMapsAttr().size())
                                    : 0});
  }
  PassManager pm(program.getContext());
  OpPassManager &each = pm.nest<ModuleOp>();
  if (passes)
    passes(each);
  buildLoweringPipeline(each, options);
  if (failed(pm.run(*lowered.all)))
    return failure();
  return lowered;
}

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
    approximation.library = options.library;
    function.addPass(createApproximateMathPass(approximation));
  }
  function.addPass(createLowerDotsPass(dots));
  function.addPass(createWidenHalvesPass({options.convertsF16}));
  function.addPass(createSCFToControlFlowPass());
  ConvertMathToLLVMPassOptions mathOptions;
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = !options.convertsBf16;
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
