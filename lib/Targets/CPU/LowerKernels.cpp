// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LowerKernels.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace {
/// exp, tanh and erf of f32 as polynomials, so that they stay vectors.
/// Upstream's log takes denormal numbers for the smallest normal one, so libm's
/// is called.
struct ApproximateMath
    : PassWrapper<ApproximateMath, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ApproximateMath)
  StringRef getName() const override { return "ashlar-cpu-approximate-math"; }
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    static constexpr StringLiteral names[] = {"math.exp", "math.tanh",
                                              "math.erf"};
    populateMathPolynomialApproximationPatterns(patterns, [](StringRef name) {
      return llvm::is_contained(names, name);
    });
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

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

void ashlar::cpu::buildLoweringPipeline(OpPassManager &pm, bool approximate) {
  OpPassManager &function = pm.nest<func::FuncOp>();
  function.addPass(memref::createFoldMemRefAliasOpsPass());
  function.addPass(std::make_unique<FlattenStridedGathers>());
  function.addPass(memref::createExpandStridedMetadataPass());
  function.addPass(createLowerAffinePass());
  function.addPass(createCanonicalizerPass());
  function.addPass(createCSEPass());
  function.addPass(createLoopInvariantCodeMotionPass());
  if (approximate)
    function.addPass(std::make_unique<ApproximateMath>());
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
