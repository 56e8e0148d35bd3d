// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementwise arithmetic with NumPy's broadcasting, of two operands and of any
// number of them. Integers wrap.
#include "../OperandRules.h"
#include "../ScalarBuilder.h"

using namespace mlir;
using namespace ashlar::onnx_import;

using BinaryBody =
    llvm::function_ref<Value(OpBuilder &, Location, ElementType, Value, Value)>;

/// Imports an operator of two operands of one type; `body` makes the result
/// from two scalars, knowing the type.
static LogicalResult importBinary(NodeImporter &node, BinaryBody body) {
  ElementType type = node.operandType(0);
  if (failed(expectBroadcast(node, {0, 1})))
    return failure();
  Value result = elementwise(node.b, node.tensorType(0).getElementType(),
                             {node.operand(0), node.operand(1)},
                             [&](OpBuilder &b, Location loc, ValueRange args) {
                               return body(b, loc, type, args[0], args[1]);
                             });
  node.setResult(0, result, type);
  return success();
}

static LogicalResult importAdd(NodeImporter &node) {
  return importBinary(node, [](OpBuilder &b, Location loc, ElementType, Value x,
                               Value y) { return scalarAdd(b, loc, x, y); });
}

static LogicalResult importSub(NodeImporter &node) {
  return importBinary(node,
                      [](OpBuilder &b, Location loc, ElementType type, Value x,
                         Value y) -> Value {
                        if (isFloat(type))
                          return arith::SubFOp::create(b, loc, x, y);
                        return arith::SubIOp::create(b, loc, x, y);
                      });
}

static LogicalResult importMul(NodeImporter &node) {
  return importBinary(node, [](OpBuilder &b, Location loc, ElementType, Value x,
                               Value y) { return scalarMul(b, loc, x, y); });
}

static LogicalResult importDiv(NodeImporter &node) {
  return importBinary(node,
                      [](OpBuilder &b, Location loc, ElementType type, Value x,
                         Value y) -> Value {
                        if (isFloat(type))
                          return arith::DivFOp::create(b, loc, x, y);
                        return divideIntegers(b, loc, isUnsigned(type), x, y);
                      });
}

/// Turns the remainder of a truncated quotient, which has the sign of x, into
/// that of a floored one, which has the sign of y.
static Value floorRemainder(OpBuilder &b, Location loc, ElementType type,
                            Value remainder, Value y) {
  Value zero = arith::ConstantOp::create(b, loc, zeroOf(remainder.getType()));
  Value negative = scalarLess(b, loc, type, remainder, zero);
  Value positive = scalarLess(b, loc, type, zero, remainder);
  Value yNegative = scalarLess(b, loc, type, y, zero);
  Value yPositive = scalarLess(b, loc, type, zero, y);
  Value low = arith::AndIOp::create(b, loc, negative, yPositive);
  Value high = arith::AndIOp::create(b, loc, positive, yNegative);
  Value differ = arith::OrIOp::create(b, loc, low, high);
  Value moved = scalarAdd(b, loc, remainder, y);
  return arith::SelectOp::create(b, loc, differ, moved, remainder);
}

static LogicalResult importMod(NodeImporter &node) {
  int64_t truncates = node.intAttribute("fmod", 0);
  if (truncates != 0 && truncates != 1)
    return node.invalid("expected attribute 'fmod' to be 0 or 1, found " +
                        Twine(truncates));
  if (!truncates && isFloat(node.operandType(0)) && node.opset() < 28)
    return node.invalid("expected attribute 'fmod' to be 1 for floating point "
                        "operands before opset 28, found 0");
  return importBinary(
      node,
      [&](OpBuilder &b, Location loc, ElementType type, Value x,
          Value y) -> Value {
        if (!isFloat(type)) {
          Value remainder = integerRemainder(b, loc, isUnsigned(type), x, y);
          return truncates || isUnsigned(type)
                     ? remainder
                     : floorRemainder(b, loc, type, remainder, y);
        }
        Type original = x.getType(), wide = computeType(original);
        x = resizeFloat(b, loc, x, wide);
        y = resizeFloat(b, loc, y, wide);
        Value remainder = arith::RemFOp::create(b, loc, x, y);
        if (!truncates) {
          Value floored = floorRemainder(b, loc, type, remainder, y);
          // A zero takes the sign of y.
          remainder = math::CopySignOp::create(b, loc, floored, y);
        }
        return resizeFloat(b, loc, remainder, original);
      });
}

/// Imports an operator that folds its operands, one or more, from the left.
static LogicalResult importVariadic(NodeImporter &node, BinaryBody body,
                                    bool divideByCount = false) {
  SmallVector<unsigned> indices;
  SmallVector<Value> operands;
  for (unsigned i = 0, e = node.numOperands(); i != e; ++i) {
    if (!node.hasOperand(i))
      return node.invalid("input " + Twine(i) + " is missing");
    indices.push_back(i);
    operands.push_back(node.operand(i));
  }
  if (operands.empty())
    return node.invalid("expected one operand or more, found none");
  if (failed(expectBroadcast(node, indices)))
    return failure();
  ElementType type = node.operandType(0);
  Type element = node.tensorType(0).getElementType();
  Value result = operands[0];
  if (operands.size() > 1)
    result = elementwise(
        node.b, element, operands,
        [&](OpBuilder &b, Location loc, ValueRange args) {
          Type wide = computeType(element);
          auto widen = [&](Value value) {
            return isFloat(type) ? resizeFloat(b, loc, value, wide) : value;
          };
          Value folded = widen(args[0]);
          for (Value arg : args.drop_front())
            folded = body(b, loc, type, folded, widen(arg));
          if (divideByCount) {
            Value count = scalarConstant(b, loc, wide, args.size());
            folded = arith::DivFOp::create(b, loc, folded, count);
          }
          return isFloat(type) ? resizeFloat(b, loc, folded, element) : folded;
        });
  node.setResult(0, result, type);
  return success();
}

static LogicalResult importMax(NodeImporter &node) {
  return importVariadic(node, scalarMax);
}

static LogicalResult importMin(NodeImporter &node) {
  return importVariadic(node, scalarMin);
}

static Value addScalars(OpBuilder &b, Location loc, ElementType, Value x,
                        Value y) {
  return scalarAdd(b, loc, x, y);
}

static LogicalResult importSum(NodeImporter &node) {
  return importVariadic(node, addScalars);
}

static LogicalResult importMean(NodeImporter &node) {
  return importVariadic(node, addScalars, /*divideByCount=*/true);
}

void ashlar::onnx_import::registerArithmeticOperators(
    OperatorRegistry &registry) {
  registry.add("Add", 7, importAdd);
  registry.add("Sub", 7, importSub);
  registry.add("Mul", 7, importMul);
  registry.add("Div", 7, importDiv);
  registry.add("Mod", 10, importMod);
  registry.add("Max", 6, importMax);
  registry.add("Min", 6, importMin);
  registry.add("Sum", 6, importSum);
  registry.add("Mean", 6, importMean);
}
