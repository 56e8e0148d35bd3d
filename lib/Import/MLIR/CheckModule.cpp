// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "EntryImporter.h"
#include "ashlar/Support/NoteAt.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"

using namespace mlir;
using namespace ashlar::mlir_import;

/// f16 to f64, bf16, i1, i8 to i64, with or without a sign.
static bool isElementType(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return llvm::is_contained({1u, 8u, 16u, 32u, 64u}, integer.getWidth());
  return isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(type);
}

/// What ops inside a function may work on.
static bool isAccepted(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return !tensor.getEncoding() && (isElementType(tensor.getElementType()) ||
                                     tensor.getElementType().isIndex() ||
                                     // Intermediate values of quantised TOSA.
                                     tensor.getElementType().isInteger(48));
  return isElementType(type) || type.isIndex() ||
         isa<tosa::shapeType, FunctionType>(type) || type.isInteger(48);
}

static LogicalResult checkOp(Operation *op) {
  if (!isa<affine::AffineApplyOp, affine::AffineMinOp, affine::AffineMaxOp,
           func::FuncOp, func::ReturnOp, func::CallOp>(op) &&
      !isa<arith::ArithDialect, linalg::LinalgDialect, math::MathDialect,
           scf::SCFDialect, tensor::TensorDialect, tosa::TosaDialect>(
          op->getDialect()))
    return op->emitError() << "'" << op->getName()
                           << "' is not accepted; expected ops of linalg, "
                              "tensor, arith, math, scf or tosa";
  if (isa<linalg::WinogradFilterTransformOp, linalg::WinogradInputTransformOp,
          linalg::WinogradOutputTransformOp>(op))
    return op->emitError() << "'" << op->getName()
                           << "' is not accepted; expected the convolution "
                              "that it is a part of";
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (BlockArgument argument : block.getArguments())
        if (!isAccepted(argument.getType()))
          return emitError(argument.getLoc())
                 << "argument " << argument.getArgNumber() << " of '"
                 << op->getName() << "' has type " << argument.getType()
                 << "; expected ranked tensors and scalars of f16, bf16, f32, "
                    "f64, i1, i8, i16, i32 or i64";
  for (OpResult result : op->getResults())
    if (!isAccepted(result.getType()))
      return op->emitError()
             << "result " << result.getResultNumber() << " of '"
             << op->getName() << "' has type " << result.getType()
             << "; expected ranked tensors and scalars of f16, bf16, f32, f64, "
                "i1, i8, i16, i32 or i64";
  return success();
}

/// Entries take and give tensors.
static LogicalResult checkSignature(func::FuncOp entry) {
  auto check = [&](TypeRange types, StringRef what) -> LogicalResult {
    for (auto [i, type] : llvm::enumerate(types)) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      if (!tensor || !isElementType(tensor.getElementType()))
        return entry.emitError()
               << what << " " << i << " of '" << entry.getName()
               << "' has type " << type
               << "; expected a ranked tensor of f16, bf16, f32, f64, i1, i8, "
                  "i16, i32 or i64";
    }
    return success();
  };
  if (failed(check(entry.getArgumentTypes(), "argument")) ||
      failed(check(entry.getResultTypes(), "result")))
    return failure();
  if (entry.getNumResults() == 0)
    return entry.emitError()
           << "'" << entry.getName() << "' gives nothing; expected results";
  return success();
}

FailureOr<func::FuncOp> ashlar::mlir_import::checkModule(ModuleOp module) {
  SmallVector<func::FuncOp> entries;
  for (Operation &op : *module.getBody()) {
    auto function = dyn_cast<func::FuncOp>(op);
    if (!function)
      return op.emitError()
             << "'" << op.getName()
             << "' is not accepted at the top level; expected func.func";
    if (function.isExternal())
      return function.emitError() << "'" << function.getName()
                                  << "' has no body; there is nothing here "
                                     "that it could be linked to";
    if (!llvm::hasSingleElement(function.getBody()))
      return ashlar::noteAt(
          function.emitError()
              << "'" << function.getName()
              << "' has several blocks; expected control flow in scf ops",
          std::next(function.getBody().begin())->front().getLoc(),
          "the second begins here");
    if (function.isPublic())
      entries.push_back(function);
    WalkResult walk = function.walk([](Operation *op) {
      return failed(checkOp(op)) ? WalkResult::interrupt()
                                 : WalkResult::advance();
    });
    if (walk.wasInterrupted())
      return failure();
  }
  if (entries.empty()) {
    Block &body = *module.getBody();
    Location location = body.empty() ? module.getLoc() : body.front().getLoc();
    return emitError(location)
           << "there is no public func.func to be the entry point";
  }
  if (entries.size() > 1) {
    InFlightDiagnostic diagnostic =
        entries[1].emitError()
        << "'" << entries[1].getName()
        << "' is a second public function; expected one entry point, and "
           "`private` on all others";
    diagnostic.attachNote(entries[0].getLoc())
        << "the first is '" << entries[0].getName() << "'";
    return failure();
  }
  if (failed(checkSignature(entries[0])))
    return failure();
  return entries[0];
}
