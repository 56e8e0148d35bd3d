// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stages import and simplify: functions on tensors.
#include "StageChecks.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ashlar;

namespace {
/// What differs between the two stages.
struct Rules {
  StringRef stage;
  /// Locations are the model's names. Later a position in a file will do:
  /// somebody may have written the IR by hand.
  bool isNamed;
  /// Constants of more bytes than this are resources.
  int64_t constantBytes;
  bool isStatic;
};
} // namespace

bool ashlar::isTensorCode(Operation *op) {
  return isa<affine::AffineApplyOp, affine::AffineMinOp, affine::AffineMaxOp>(
             op) ||
         isa_and_present<arith::ArithDialect, linalg::LinalgDialect,
                         math::MathDialect, scf::SCFDialect,
                         tensor::TensorDialect>(op->getDialect());
}

static LogicalResult checkSignature(func::FuncOp function, StringRef stage) {
  auto check = [&](StringRef what, TypeRange types,
                   llvm::function_ref<Attribute(unsigned, StringRef)> get)
      -> LogicalResult {
    for (auto [i, type] : llvm::enumerate(types)) {
      if (!isa<RankedTensorType>(type))
        return function.emitError("after the stage ")
               << stage << ": " << what << " " << i << " of '"
               << function.getName() << "' is expected to be a tensor, found "
               << type;
      for (StringRef attribute : {"ashlar.name", "ashlar.type"})
        if (!isa_and_present<StringAttr>(get(i, attribute)))
          return function.emitError("after the stage ")
                 << stage << ": expected a string '" << attribute << "' on "
                 << what << " " << i << " of '" << function.getName()
                 << "', found none; the stage import gives names";
    }
    return success();
  };
  if (failed(check("argument", function.getArgumentTypes(),
                   [&](unsigned i, StringRef name) {
                     return function.getArgAttr(i, name);
                   })))
    return failure();
  return check("result", function.getResultTypes(),
               [&](unsigned i, StringRef name) {
                 return function.getResultAttr(i, name);
               });
}

static LogicalResult checkLocation(Operation *op, const Rules &rules) {
  bool hasName = false, isKnown = false;
  op->getLoc()->walk([&](Location inner) {
    hasName |= isa<NameLoc>(inner);
    isKnown |= isa<NameLoc, FileLineColRange>(inner);
    return hasName ? WalkResult::interrupt() : WalkResult::advance();
  });
  // Constants that are equal become one, of no node in particular.
  bool isGood = rules.isNamed
                    ? hasName
                    : isKnown || op->hasTrait<OpTrait::ConstantLike>();
  if (isGood)
    return success();
  return op->emitError("after the stage ")
         << rules.stage << ": expected the model's node as the location of '"
         << op->getName() << "', found " << op->getLoc();
}

static LogicalResult checkConstant(arith::ConstantOp constant,
                                   const Rules &rules) {
  auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
  // Booleans are packed in attributes, but not in resources.
  if (!dense || dense.isSplat() || dense.getElementType().isInteger(1))
    return success();
  int64_t bytes = dense.getRawData().size();
  if (bytes <= rules.constantBytes)
    return success();
  return constant.emitError("after the stage ")
         << rules.stage << ": expected a resource for a constant of more than "
         << rules.constantBytes << " bytes, found an attribute of " << bytes;
}

static LogicalResult checkOp(Operation *op, const Rules &rules) {
  if (!isTensorCode(op) && !isa<func::ReturnOp, cf::AssertOp>(op))
    return op->emitError("after the stage ")
           << rules.stage
           << ": expected ops of linalg, tensor, arith, math and scf, found '"
           << op->getName() << "'";
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    if (failed(checkConstant(constant, rules)))
      return failure();
  if (rules.isStatic && isa<func::FuncOp>(op->getParentOp()))
    for (Type type : op->getResultTypes())
      if (auto tensor = dyn_cast<RankedTensorType>(type);
          tensor && !tensor.hasStaticShape())
        return op->emitError("after the stage ")
               << rules.stage << ": expected a static shape, found " << type;
  return checkLocation(op, rules);
}

static LogicalResult checkFunctions(ModuleOp module, const Rules &rules) {
  for (Operation &op : *module.getBody()) {
    auto function = dyn_cast<func::FuncOp>(op);
    if (!function || !function.isPublic() ||
        !llvm::hasSingleElement(function.getBody()))
      return op.emitError("after the stage ")
             << rules.stage
             << ": expected a module of public func.func with one block each, "
                "found '"
             << op.getName() << "'"
             << (function ? " that is private, external or has more blocks"
                          : "");
    if (failed(checkSignature(function, rules.stage)) ||
        failed(checkLocation(function, rules)))
      return failure();
    auto check = [&](Operation *inner) -> WalkResult {
      if (failed(checkOp(inner, rules)))
        return WalkResult::interrupt();
      // The body of a named op is its definition, made by upstream.
      return isa<linalg::LinalgOp>(inner) && !isa<linalg::GenericOp>(inner)
                 ? WalkResult::skip()
                 : WalkResult::advance();
    };
    WalkResult walk = function.getBody().walk<WalkOrder::PreOrder>(check);
    if (walk.wasInterrupted())
      return failure();
  }
  return success();
}

LogicalResult ashlar::checkImported(ModuleOp module) {
  return checkFunctions(module, {"import", /*isNamed=*/true,
                                 /*constantBytes=*/1024, /*isStatic=*/false});
}

LogicalResult ashlar::checkSimplified(ModuleOp module) {
  // As many elements as are folded, of eight bytes each.
  return checkFunctions(module, {"simplify", /*isNamed=*/false,
                                 /*constantBytes=*/4096 * 8,
                                 /*isStatic=*/true});
}
