// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dynamic arguments become static, and so does what follows from them: TOSA by
// its own shape inference, everything else by folding casts into the ops.
#include "EntryImporter.h"
#include "ashlar/Analysis/ByteSize.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Dialect/Tosa/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::mlir_import;

static std::string spellShape(ArrayRef<int64_t> shape, StringRef unknown) {
  std::string text;
  for (int64_t dim : shape)
    text += (text.empty() ? "" : "x") +
            (ShapedType::isDynamic(dim) ? unknown.str() : std::to_string(dim));
  return text;
}

static StringRef nameOf(BlockArgument argument, func::FuncOp entry) {
  return entry
      .getArgAttrOfType<StringAttr>(argument.getArgNumber(), "ashlar.name")
      .getValue();
}

/// The static type of an argument.
static FailureOr<RankedTensorType> fixedType(func::FuncOp entry,
                                             BlockArgument argument,
                                             const MLIRImportOptions &options) {
  auto type = cast<RankedTensorType>(argument.getType());
  StringRef name = nameOf(argument, entry);
  auto error = [&]() {
    return emitError(argument.getLoc()) << "argument '" << name << "': ";
  };
  SmallVector<int64_t> shape(type.getShape());
  auto fixed = options.shapes.find(name.str());
  if (fixed != options.shapes.end()) {
    if (fixed->second.size() != shape.size())
      return error() << "--shape gives " << fixed->second.size()
                     << " dimensions, but it has " << shape.size() << " ("
                     << spellShape(shape, "?") << ")";
    for (auto [i, dim] : llvm::enumerate(fixed->second))
      if (!ShapedType::isDynamic(shape[i]) && shape[i] != dim)
        return error() << "--shape gives " << dim << " for dimension " << i
                       << ", but the model fixes it to " << shape[i];
    shape = fixed->second;
  }
  if (llvm::any_of(shape, ShapedType::isDynamic))
    return error() << "has a dynamic shape (" << spellShape(shape, "?")
                   << "); fix it with --shape=" << name << "="
                   << spellShape(shape, "1") << ", putting your own sizes in";
  if (!checkedByteSize(type.getElementType(), shape))
    return error() << "has more elements than memory can address";
  return type.clone(shape);
}

/// Gives an argument a new type. TOSA infers shapes from it; other ops see the
/// old type through a cast.
static void retype(BlockArgument argument, RankedTensorType type) {
  Type before = argument.getType();
  argument.setType(type);
  OpBuilder b(argument.getContext());
  b.setInsertionPointToStart(argument.getOwner());
  auto old = tensor::CastOp::create(b, argument.getLoc(), before, argument);
  argument.replaceUsesWithIf(old, [&](OpOperand &use) {
    return use.getOwner() != old &&
           !isa<tosa::TosaDialect>(use.getOwner()->getDialect());
  });
  if (old.use_empty())
    old.erase();
}

/// The function gives what its return has come to.
static void updateResults(func::FuncOp entry) {
  Operation *exit = entry.front().getTerminator();
  for (OpOperand &operand : exit->getOpOperands())
    // A cast that only forgets sizes.
    while (auto cast = operand.get().getDefiningOp<tensor::CastOp>()) {
      auto source = dyn_cast<RankedTensorType>(cast.getSource().getType());
      if (!source || !source.hasStaticShape())
        break;
      operand.set(cast.getSource());
      if (cast->use_empty())
        cast->erase();
    }
  entry.setType(FunctionType::get(entry.getContext(),
                                  entry.front().getArgumentTypes(),
                                  exit->getOperandTypes()));
}

LogicalResult ashlar::mlir_import::fixShapes(func::FuncOp entry,
                                             const MLIRImportOptions &options) {
  llvm::StringSet<> names;
  bool failed = false, changed = false;
  for (BlockArgument argument : entry.getArguments()) {
    names.insert(nameOf(argument, entry));
    FailureOr<RankedTensorType> type = fixedType(entry, argument, options);
    failed |= mlir::failed(type);
    if (mlir::failed(type) || *type == argument.getType())
      continue;
    retype(argument, *type);
    changed = true;
  }
  for (auto &[name, shape] : options.shapes)
    if (!names.contains(name)) {
      InFlightDiagnostic diagnostic = entry.emitError();
      diagnostic << "--shape names '" << name << "', which '" << entry.getName()
                 << "' has no argument for; it has";
      for (BlockArgument argument : entry.getArguments())
        diagnostic << " '" << nameOf(argument, entry) << "'";
      failed = true;
    }
  if (failed)
    return failure();
  bool isDynamic =
      entry
          .walk([](Operation *op) {
            return llvm::any_of(op->getResultTypes(),
                                [](Type type) {
                                  auto shaped = dyn_cast<ShapedType>(type);
                                  return shaped && !shaped.hasStaticShape();
                                })
                       ? WalkResult::interrupt()
                       : WalkResult::advance();
          })
          .wasInterrupted();
  if (!changed && !isDynamic)
    return success();
  entry.setType(FunctionType::get(entry.getContext(),
                                  entry.front().getArgumentTypes(),
                                  entry.getResultTypes()));
  PassManager pm(entry.getContext());
  OpPassManager &functions = pm.nest<func::FuncOp>();
  functions.addPass(tosa::createTosaInferShapesPass());
  functions.addPass(createCanonicalizerPass());
  functions.addPass(createCSEPass());
  functions.addPass(memref::createResolveShapedTypeResultDimsPass());
  functions.addPass(createCanonicalizerPass());
  if (mlir::failed(pm.run(entry->getParentOfType<ModuleOp>())))
    return failure();
  updateResults(entry);
  return success();
}

LogicalResult ashlar::mlir_import::checkStatic(func::FuncOp entry) {
  updateResults(entry);
  LogicalResult result = success();
  entry.walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (auto shaped = dyn_cast<ShapedType>(type);
          shaped && !shaped.hasStaticShape()) {
        result = op->emitError()
                 << "'" << op->getName() << "' gives " << type
                 << ", whose sizes depend on data; expected sizes that follow "
                    "from those of the arguments";
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return result;
}
