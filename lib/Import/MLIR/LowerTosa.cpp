// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "EntryImporter.h"
#include "mlir/Conversion/TosaToArith/TosaToArith.h"
#include "mlir/Conversion/TosaToLinalg/TosaToLinalg.h"
#include "mlir/Conversion/TosaToSCF/TosaToSCF.h"
#include "mlir/Conversion/TosaToTensor/TosaToTensor.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Dialect/Tosa/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace ashlar::mlir_import;

static Operation *findTosa(ModuleOp module) {
  Operation *found = nullptr;
  module.walk([&](Operation *op) {
    if (!isa<tosa::TosaDialect>(op->getDialect()))
      return WalkResult::advance();
    found = op;
    return WalkResult::interrupt();
  });
  return found;
}

LogicalResult ashlar::mlir_import::lowerTosa(ModuleOp module) {
  if (!findTosa(module))
    return success();
  // Upstream's conversions meet constants as arith ops.
  PassManager pm(module.getContext());
  pm.addNestedPass<func::FuncOp>(
      tosa::createTosaConvertIntegerTypeToSignless());
  // First, since the conversion to linalg knows no scatter.
  pm.addNestedPass<func::FuncOp>(createTosaToSCFPass());
  tosa::addTosaToLinalgPasses(pm, TosaToLinalgOptions(),
                              TosaToLinalgNamedOptions(), std::nullopt);
  OpPassManager &functions = pm.nest<func::FuncOp>();
  functions.addPass(createTosaToTensorPass());
  TosaToArithPassOptions arithOptions;
  arithOptions.includeApplyRescale = true;
  functions.addPass(createTosaToArithPass(arithOptions));
  functions.addPass(createCanonicalizerPass());
  functions.addPass(createCSEPass());
  if (failed(pm.run(module)))
    return failure();
  if (Operation *left = findTosa(module))
    return left->emitError()
           << "'" << left->getName() << "' has no conversion to linalg here";
  return success();
}
