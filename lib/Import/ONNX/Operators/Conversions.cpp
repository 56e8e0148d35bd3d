// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operators that pass their operand on, in the same or another type.
#include "../OperandRules.h"
#include "../ScalarBuilder.h"
#include "../TensorBuilder.h"

using namespace mlir;
using namespace ashlar::onnx_import;

/// The type that attribute `to` asks for; fails, having said so, when it is
/// not one that tensors have here.
static FailureOr<ElementType> targetType(NodeImporter &node) {
  auto to = static_cast<ElementType>(node.intAttribute("to", 0));
  if (elementTypeName(to) == "unknown" || to == ElementType::Undefined)
    return node.invalid("expected attribute to to name a type, found " +
                        Twine(node.intAttribute("to", 0)));
  if (!convertElementType(node.b.getContext(), to))
    return node.unsupported("to " + elementTypeName(to));
  return to;
}

static LogicalResult importCast(NodeImporter &node) {
  FailureOr<ElementType> to = targetType(node);
  if (failed(to))
    return failure();
  node.setResult(
      0, castTensor(node.b, node.operand(0), node.operandType(0), *to), *to);
  return success();
}

static LogicalResult importCastLike(NodeImporter &node) {
  ElementType to = node.operandType(1);
  node.setResult(
      0, castTensor(node.b, node.operand(0), node.operandType(0), to), to);
  return success();
}

static LogicalResult importBitCast(NodeImporter &node) {
  FailureOr<ElementType> to = targetType(node);
  if (failed(to))
    return failure();
  Value x = node.operand(0);
  Type from = node.tensorType(0).getElementType();
  Type type = convertElementType(node.b.getContext(), *to);
  bool isBool = from.isInteger(1) || type.isInteger(1);
  if (from != type && isBool)
    return node.unsupported("between bool and another type");
  if (from.getIntOrFloatBitWidth() != type.getIntOrFloatBitWidth())
    return node.invalid("expected a type as wide as " +
                        elementTypeName(node.operandType(0)) + ", found " +
                        elementTypeName(*to));
  if (from != type)
    x = elementwise(node.b, type, {x},
                    [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                      return arith::BitcastOp::create(b, loc, type, args[0]);
                    });
  node.setResult(0, x, *to);
  return success();
}

static LogicalResult importIdentity(NodeImporter &node) {
  node.setResult(0, node.operand(0), node.operandType(0));
  return success();
}

/// Inference passes everything. Training does as well where it drops nothing.
static LogicalResult importDropout(NodeImporter &node) {
  if (node.opset() >= 12 && node.hasOperand(2)) {
    auto training = dyn_cast_or_null<IntegerAttr>(constantScalar(node, 2));
    if (!training)
      return node.needsConstant(2, "training_mode");
    bool drops = true;
    if (node.hasOperand(1))
      if (auto ratio = dyn_cast_or_null<FloatAttr>(constantScalar(node, 1)))
        drops = ratio.getValueAsDouble() != 0;
    if (!training.getValue().isZero() && drops)
      return node.unsupported("training mode");
  }
  node.setResult(0, node.operand(0), node.operandType(0));
  if (!node.hasResult(1))
    return success();
  // Before opset 10 the mask had the type of the data.
  Builder &b = node.b;
  bool isOld = node.opset() < 10;
  Type type = isOld ? node.tensorType(0).getElementType() : b.getI1Type();
  TypedAttr one = isOld ? TypedAttr(b.getFloatAttr(type, 1))
                        : TypedAttr(b.getIntegerAttr(type, 1));
  node.setResult(1, splat(node.b, node.shape(0), one),
                 isOld ? node.operandType(0) : ElementType::Bool);
  return success();
}

void ashlar::onnx_import::registerConversionsOperators(
    OperatorRegistry &registry) {
  registry.add("Cast", 6, importCast);
  registry.add("CastLike", 15, importCastLike);
  registry.add("BitCast", 26, importBitCast);
  registry.add("Identity", 1, importIdentity);
  registry.add("Dropout", 7, importDropout);
}
