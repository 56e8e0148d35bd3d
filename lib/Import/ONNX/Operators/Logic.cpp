// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Logic on booleans and on the bits of integers, and the classes of floats.
#include "../OperandRules.h"
#include "../ScalarBuilder.h"

using namespace mlir;
using namespace ashlar::onnx_import;

/// The logical and the bitwise form are one: bool is an integer of one bit.
template <typename Op> static LogicalResult importBinary(NodeImporter &node) {
  if (failed(expectBroadcast(node, {0, 1})))
    return failure();
  Value result =
      elementwise(node.b, node.tensorType(0).getElementType(),
                  {node.operand(0), node.operand(1)},
                  [](OpBuilder &b, Location loc, ValueRange args) -> Value {
                    return Op::create(b, loc, args[0], args[1]);
                  });
  node.setResult(0, result, node.operandType(0));
  return success();
}

static LogicalResult importNot(NodeImporter &node) {
  Value result = elementwise(
      node.b, node.tensorType(0).getElementType(), {node.operand(0)},
      [](OpBuilder &b, Location loc, ValueRange args) -> Value {
        Value ones = scalarIntConstant(b, loc, args[0].getType(), -1);
        return arith::XOrIOp::create(b, loc, args[0], ones);
      });
  node.setResult(0, result, node.operandType(0));
  return success();
}

static LogicalResult importBitShift(NodeImporter &node) {
  std::string direction = node.stringAttribute("direction", "");
  if (direction != "LEFT" && direction != "RIGHT")
    return node.invalid("expected attribute 'direction' to be LEFT or RIGHT, "
                        "found '" +
                        direction + "'");
  if (failed(expectBroadcast(node, {0, 1})))
    return failure();
  ElementType type = node.operandType(0);
  Value result = elementwise(
      node.b, node.tensorType(0).getElementType(),
      {node.operand(0), node.operand(1)},
      [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
        Value x = args[0], y = args[1];
        unsigned width = x.getType().getIntOrFloatBitWidth();
        auto constant = [&](int64_t value) {
          return scalarIntConstant(b, loc, x.getType(), value);
        };
        // Bits shifted beyond the width are gone; a shift that far is poison.
        // A negative amount counts as one beyond the width.
        Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                             y, constant(width));
        if (direction == "RIGHT" && !isUnsigned(type)) {
          Value amount =
              arith::SelectOp::create(b, loc, inside, y, constant(width - 1));
          return arith::ShRSIOp::create(b, loc, x, amount);
        }
        Value amount = arith::SelectOp::create(b, loc, inside, y, constant(0));
        Value shifted =
            direction == "LEFT"
                ? arith::ShLIOp::create(b, loc, x, amount).getResult()
                : arith::ShRUIOp::create(b, loc, x, amount).getResult();
        return arith::SelectOp::create(b, loc, inside, shifted, constant(0));
      });
  node.setResult(0, result, type);
  return success();
}

/// Imports a question about one float.
static LogicalResult importQuestion(NodeImporter &node, FloatBody body) {
  Value result = elementwise(node.b, node.b.getI1Type(), {node.operand(0)},
                             [&](OpBuilder &b, Location loc, ValueRange args) {
                               FloatScalars scalars(b, loc, args[0].getType());
                               return body(scalars, args);
                             });
  node.setResult(0, result, ElementType::Bool);
  return success();
}

static LogicalResult importIsNaN(NodeImporter &node) {
  return importQuestion(
      node, [](FloatScalars &s, ValueRange args) { return s.isNaN(args[0]); });
}

static LogicalResult importIsInf(NodeImporter &node) {
  bool negative = node.intAttribute("detect_negative", 1);
  bool positive = node.intAttribute("detect_positive", 1);
  return importQuestion(node, [&](FloatScalars &s, ValueRange args) -> Value {
    Value x = negative && positive ? s.abs(args[0]) : args[0];
    if (!negative && !positive)
      return scalarIntConstant(s.b, s.loc, s.b.getI1Type(), 0);
    return s.compare(FloatScalars::Predicate::OEQ, x,
                     s.infinity(/*negative=*/!positive));
  });
}

void ashlar::onnx_import::registerLogicOperators(OperatorRegistry &registry) {
  registry.add("And", 7, importBinary<arith::AndIOp>);
  registry.add("Or", 7, importBinary<arith::OrIOp>);
  registry.add("Xor", 7, importBinary<arith::XOrIOp>);
  registry.add("BitwiseAnd", 18, importBinary<arith::AndIOp>);
  registry.add("BitwiseOr", 18, importBinary<arith::OrIOp>);
  registry.add("BitwiseXor", 18, importBinary<arith::XOrIOp>);
  registry.add("Not", 1, importNot);
  registry.add("BitwiseNot", 18, importNot);
  registry.add("BitShift", 11, importBitShift);
  registry.add("IsNaN", 9, importIsNaN);
  registry.add("IsInf", 10, importIsInf);
}
