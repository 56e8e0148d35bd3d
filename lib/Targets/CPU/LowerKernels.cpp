// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LowerKernels.h"
#include "LowerDots.h"
#include "LowerMatrices.h"
#include "WidenHalves.h"
#include "ashlar/Transforms/Approximate/Passes.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace {
/// A gather's indices count elements of memory from where its offsets point,
/// but it lowers only from a memref whose last dimension is contiguous: one
/// with a stride there is read as a line of memory.
struct FlattenStridedGathers
    : PassWrapper<FlattenStridedGathers, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FlattenStridedGathers)
  StringRef getName() const override {
    return "ashlar-cpu-flatten-strided-gathers";
  }
  void runOnOperation() override {
    getOperation().walk([](vector::GatherOp gather) {
      auto type = dyn_cast<MemRefType>(gather.getBase().getType());
      if (type && !type.isLastDimUnitStride())
        flatten(gather, type);
    });
  }

  static void flatten(vector::GatherOp gather, MemRefType type) {
    ImplicitLocOpBuilder b(gather.getLoc(), gather);
    auto metadata =
        memref::ExtractStridedMetadataOp::create(b, gather.getBase());
    Value place = metadata.getOffset();
    for (auto [index, stride] :
         llvm::zip(gather.getOffsets(), metadata.getStrides())) {
      Value step = arith::MulIOp::create(b, index, stride);
      place = arith::AddIOp::create(b, place, step);
    }
    auto lineType =
        MemRefType::get({ShapedType::kDynamic}, type.getElementType(),
                        MemRefLayoutAttrInterface(), type.getMemorySpace());
    Value one = arith::ConstantIndexOp::create(b, 1);
    Value length = arith::AddIOp::create(b, place, one);
    Value line = memref::ReinterpretCastOp::create(
        b, lineType, metadata.getBaseBuffer(), b.getIndexAttr(0),
        ArrayRef<OpFoldResult>{length},
        ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
    gather.getBaseMutable().assign(line);
    gather.getOffsetsMutable().assign(place);
  }
};
} // namespace

void ashlar::cpu::buildLoweringPipeline(OpPassManager &pm,
                                        const LoweringOptions &options) {
  OpPassManager &function = pm.nest<func::FuncOp>();
  function.addPass(createLowerMatricesPass(options.features));
  function.addPass(memref::createFoldMemRefAliasOpsPass());
  function.addPass(std::make_unique<FlattenStridedGathers>());
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
  function.addPass(createLowerDotsPass(options.features));
  function.addPass(createWidenHalvesPass(options.convertsF16));
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
