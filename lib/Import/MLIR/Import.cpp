// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Import/MLIR/Import.h"
#include "EntryImporter.h"
#include "ashlar/Support/InputFile.h"
#include "ashlar/Support/ModelNodes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::mlir_import;

/// Calls of private functions disappear, and with them the functions.
static LogicalResult inlineCalls(ModuleOp module, func::FuncOp entry) {
  PassManager pm(module.getContext());
  pm.addPass(createInlinerPass());
  pm.addPass(createSymbolDCEPass());
  if (failed(pm.run(module)))
    return failure();
  WalkResult calls = entry.walk([](func::CallOp call) {
    InFlightDiagnostic error = call.emitError();
    error << "calls '" << call.getCallee()
          << "', which calls itself; expected functions that can be inlined";
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
        call, call.getCalleeAttr());
    if (callee)
      error.attachNote(callee.getLoc()) << "the function is here";
    return WalkResult::interrupt();
  });
  return success(!calls.wasInterrupted());
}

LogicalResult ashlar::importModule(ModuleOp module,
                                   const MLIRImportOptions &options) {
  ModelOps ops = listModelOps(module);
  FailureOr<func::FuncOp> entry = checkModule(module);
  if (failed(entry) || failed(inlineCalls(module, *entry)) ||
      failed(nameSignature(*entry)) || failed(fixShapes(*entry, options)) ||
      failed(lowerTosa(module)) || failed(checkStatic(*entry)) ||
      failed(decomposeOps(module)))
    return failure();
  rotateLoops(module);
  if (failed(moveConstantsToResources(*entry)))
    return failure();
  nameLocations(module, ops);
  module->setAttr(modelNodesAttrName,
                  ArrayAttr::get(module.getContext(), ops.nodes.getArrayRef()));
  return success();
}

OwningOpRef<ModuleOp> ashlar::importMLIR(StringRef path,
                                         const MLIRImportOptions &options,
                                         MLIRContext *context) {
  // The parser loads what the file names; we make ops of these besides.
  context
      ->loadDialect<affine::AffineDialect, arith::ArithDialect,
                    func::FuncDialect, linalg::LinalgDialect, math::MathDialect,
                    scf::SCFDialect, tensor::TensorDialect>();
  auto buffer = readInputFile(path, /*isText=*/true);
  if (!buffer) {
    emitError(NameLoc::get(StringAttr::get(context, path)))
        << "cannot be read: " << llvm::toString(buffer.takeError());
    return nullptr;
  }
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(*buffer), llvm::SMLoc());
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(sources, ParserConfig(context));
  if (!module || failed(importModule(*module, options)))
    return nullptr;
  return module;
}
