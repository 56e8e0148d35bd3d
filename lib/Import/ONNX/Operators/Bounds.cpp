// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions that are linear in pieces, on floats and integers: Relu, PRelu,
// Clip, Shrink.
#include "../OperandRules.h"
#include "../ScalarBuilder.h"

using namespace mlir;
using namespace ashlar::onnx_import;

static LogicalResult importRelu(NodeImporter &node) {
  ElementType type = node.operandType(0);
  Type element = node.tensorType(0).getElementType();
  Value result = elementwise(node.b, element, {node.operand(0)},
                             [&](OpBuilder &b, Location loc, ValueRange args) {
                               Value zero = arith::ConstantOp::create(
                                   b, loc, zeroOf(element));
                               return scalarMax(b, loc, type, args[0], zero);
                             });
  node.setResult(0, result, type);
  return success();
}

static LogicalResult importPRelu(NodeImporter &node) {
  if (failed(expectBroadcastTo(node, 1, node.shape(0))))
    return failure();
  ElementType type = node.operandType(0);
  Type element = node.tensorType(0).getElementType();
  Value result = elementwise(
      node.b, element, {node.operand(0), node.operand(1)},
      [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
        Value zero = arith::ConstantOp::create(b, loc, zeroOf(element));
        Value scaled = scalarMul(b, loc, args[0], args[1]);
        Value negative = scalarLess(b, loc, type, args[0], zero);
        return arith::SelectOp::create(b, loc, negative, scaled, args[0]);
      });
  node.setResult(0, result, type);
  return success();
}

/// The bounds as attributes. Their defaults bound, too: infinity becomes the
/// largest number of f32.
static LogicalResult importClip6(NodeImporter &node) {
  double highest = std::numeric_limits<float>::max();
  double low = node.floatAttribute("min", -highest);
  double high = node.floatAttribute("max", highest);
  Type element = node.tensorType(0).getElementType();
  Value result = floatElementwise(
      node.b, {node.operand(0)}, element,
      [&](FloatScalars &s, ValueRange args) {
        return s.min(s.max(args[0], s.constant(low)), s.constant(high));
      });
  node.setResult(0, result, node.operandType(0));
  return success();
}

/// The bounds as operands, each of them optional.
static LogicalResult importClip(NodeImporter &node) {
  ElementType type = node.operandType(0);
  Type element = node.tensorType(0).getElementType();
  SmallVector<Value> inputs = {node.operand(0)};
  TypedAttr bounds[2];
  for (unsigned i : {1, 2}) {
    if (!node.hasOperand(i))
      continue;
    if (failed(expectOneElement(node, i)))
      return failure();
    bounds[i - 1] = constantScalar(node, i);
    if (!bounds[i - 1])
      inputs.push_back(reshape(node.b, node.operand(i), {}));
  }
  Value result =
      elementwise(node.b, element, inputs,
                  [&](OpBuilder &b, Location loc, ValueRange args) {
                    Value x = args[0];
                    unsigned next = 1;
                    auto bound = [&](unsigned i) -> Value {
                      if (bounds[i])
                        return arith::ConstantOp::create(b, loc, bounds[i]);
                      return args[next++];
                    };
                    if (node.hasOperand(1))
                      x = scalarMax(b, loc, type, x, bound(0));
                    if (node.hasOperand(2))
                      x = scalarMin(b, loc, type, x, bound(1));
                    return x;
                  });
  node.setResult(0, result, type);
  return success();
}

static LogicalResult importShrink(NodeImporter &node) {
  double bias = node.floatAttribute("bias", 0);
  double lambda = node.floatAttribute("lambd", 0.5);
  ElementType type = node.operandType(0);
  // Integers are shrunk as floats: the threshold is one.
  ElementType wide = isFloat(type) ? computeType(type) : ElementType::F64;
  Value result = elementwise(
      node.b, node.tensorType(0).getElementType(), {node.operand(0)},
      [&](OpBuilder &b, Location loc, ValueRange args) {
        Value x = castScalar(b, loc, args[0], type, wide);
        FloatScalars s(b, loc, x.getType());
        Value below = s.less(x, s.constant(-lambda));
        Value above = s.greater(x, s.constant(lambda));
        Value high = s.select(above, s.sub(x, s.constant(bias)), s.constant(0));
        Value shrunk = s.select(below, s.add(x, s.constant(bias)), high);
        return castScalar(b, loc, shrunk, wide, type);
      });
  node.setResult(0, result, type);
  return success();
}

void ashlar::onnx_import::registerBoundsOperators(OperatorRegistry &registry) {
  registry.add("Relu", 6, importRelu);
  registry.add("PRelu", 7, importPRelu);
  registry.add("Clip", 6, importClip6);
  registry.add("Clip", 11, importClip);
  registry.add("Shrink", 9, importShrink);
}
