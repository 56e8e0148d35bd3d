// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operators that pass their operand on, in the same or another type.
#include "../OperandRules.h"
#include "../ScalarBuilder.h"
#include "../TensorBuilder.h"
#include "RandomNumbers.h"

using namespace mlir;
using namespace ashlar::onnx_import;

/// The type that attribute `to` asks for; fails, having said so, when it is
/// not one that tensors have here.
static FailureOr<ElementType> targetType(NodeImporter &node) {
  auto to = static_cast<ElementType>(node.intAttribute("to", 0));
  if (elementTypeName(to) == "unknown" || to == ElementType::Undefined)
    return node.invalid("expected attribute 'to' to name a type, found " +
                        Twine(node.intAttribute("to", 0)));
  if (!convertElementType(node.b.getContext(), to))
    return node.unsupported("to " + elementTypeName(to));
  return to;
}

/// What attributes say of floats that the target does not hold.
static FailureOr<CastRules> castRules(NodeImporter &node) {
  CastRules rules;
  rules.saturate = node.intAttribute("saturate", 1) != 0;
  std::string rounding = node.stringAttribute("round_mode", "up");
  if (rounding == "down")
    rules.scaleRounding = CastRules::Down;
  else if (rounding == "nearest")
    rules.scaleRounding = CastRules::Nearest;
  else if (rounding != "up")
    return node.invalid("attribute 'round_mode' is '" + rounding +
                        "'; expected 'up', 'down' or 'nearest'");
  return rules;
}

static LogicalResult importCast(NodeImporter &node) {
  FailureOr<ElementType> to = targetType(node);
  if (failed(to))
    return failure();
  FailureOr<CastRules> rules = castRules(node);
  if (failed(rules))
    return failure();
  node.setResult(
      0, castTensor(node.b, node.operand(0), node.operandType(0), *to, *rules),
      *to);
  return success();
}

static LogicalResult importCastLike(NodeImporter &node) {
  ElementType to = node.operandType(1);
  FailureOr<CastRules> rules = castRules(node);
  if (failed(rules))
    return failure();
  node.setResult(
      0, castTensor(node.b, node.operand(0), node.operandType(0), to, *rules),
      to);
  return success();
}

/// The width of an element as ONNX counts it: bool has a byte.
static unsigned bitsOf(MLIRContext *context, ElementType type) {
  if (unsigned packed = packedBits(type))
    return packed;
  return type == ElementType::Bool
             ? 8
             : convertElementType(context, type).getIntOrFloatBitWidth();
}

/// The same low bits as elements of another small type.
static Value wrapBits(ImplicitLocOpBuilder &b, Value x, ElementType to) {
  return elementwise(
      b, b.getI8Type(), {x}, [&](OpBuilder &b, Location loc, ValueRange args) {
        Value word = arith::ExtUIOp::create(b, loc, b.getI32Type(), args[0]);
        return wrapSmallInteger(b, loc, word,
                                isSmallInteger(to) ? to : ElementType::U4);
      });
}

static LogicalResult importBitCast(NodeImporter &node) {
  FailureOr<ElementType> to = targetType(node);
  if (failed(to))
    return failure();
  Value x = node.operand(0);
  Type from = node.tensorType(0).getElementType();
  Type type = convertElementType(node.b.getContext(), *to);
  ElementType given = node.operandType(0);
  if (bitsOf(node.b.getContext(), given) != bitsOf(node.b.getContext(), *to))
    return node.invalid("expected a type as wide as " +
                        elementTypeName(node.operandType(0)) + ", found " +
                        elementTypeName(*to));
  if (packedBits(given) == 4 && (isSmallInteger(given) || isSmallInteger(*to)))
    // Only the sign tells the integers of four bits and the codes apart.
    x = wrapBits(node.b, x, *to);
  else if (packedBits(given) == 2)
    x = wrapBits(node.b, x, *to);
  else if (type.isInteger(1))
    x = castTensor(node.b, x, ElementType::U8, ElementType::Bool);
  else if (from.isInteger(1))
    x = castTensor(node.b, x, ElementType::Bool, ElementType::U8);
  else if (from != type)
    x = elementwise(node.b, type, {x},
                    [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                      return arith::BitcastOp::create(b, loc, type, args[0]);
                    });
  node.setResult(0, x, *to);
  return success();
}

static LogicalResult importIdentity(NodeImporter &node) {
  node.setImported(0, node.importedOperand(0));
  return success();
}

/// The mask of what Dropout keeps. Before opset 10 it had the type of the data.
static void setMask(NodeImporter &node, Value kept) {
  bool isOld = node.opset() < 10;
  ElementType type = isOld ? node.operandType(0) : ElementType::Bool;
  if (node.hasResult(1))
    node.setResult(1, castTensor(node.b, kept, ElementType::Bool, type), type);
}

/// Whether the node drops anything: inference does not, nor does a share of 0.
static FailureOr<bool> dropsOut(NodeImporter &node) {
  if (node.opset() < 12 || !node.hasOperand(2))
    return false;
  auto training = dyn_cast_or_null<IntegerAttr>(constantScalar(node, 2));
  if (!training)
    return node.needsConstant(2, "training_mode");
  if (training.getValue().isZero())
    return false;
  if (!node.hasOperand(1))
    return true;
  auto ratio = dyn_cast_or_null<FloatAttr>(constantScalar(node, 1));
  return !ratio || ratio.getValueAsDouble() != 0;
}

static LogicalResult importDropout(NodeImporter &node) {
  ImplicitLocOpBuilder &b = node.b;
  FailureOr<bool> drops = dropsOut(node);
  if (failed(drops))
    return failure();
  ElementType type = node.operandType(0);
  if (!*drops) {
    node.setResult(0, node.operand(0), type);
    setMask(node, splat(b, node.shape(0), b.getBoolAttr(true)));
    return success();
  }
  if (!isFloat(type))
    return node.unsupported("training mode of " + elementTypeName(type));
  if (node.hasOperand(1) && failed(expectOneElement(node, 1)))
    return failure();
  ElementType ratioType =
      node.hasOperand(1) ? node.operandType(1) : ElementType::F32;
  Value ratio = node.hasOperand(1) ? reshape(b, node.operand(1), {})
                                   : splat(b, {}, b.getF32FloatAttr(0.5));
  Value kept = drawKept(node, node.shape(0), ratio, ratioType);
  Type element = node.tensorType(0).getElementType();
  Value result = elementwise(
      b, element, {node.operand(0), kept, ratio},
      [&](OpBuilder &b, Location loc, ValueRange args) {
        FloatScalars s(b, loc, computeType(element));
        Value x = resizeFloat(b, loc, args[0], s.type);
        Value share =
            s.sub(s.constant(1), resizeFloat(b, loc, args[2], s.type));
        Value scaled = s.select(args[1], s.div(x, share), s.constant(0));
        return resizeFloat(b, loc, scaled, element);
      });
  node.setResult(0, result, type);
  setMask(node, kept);
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
