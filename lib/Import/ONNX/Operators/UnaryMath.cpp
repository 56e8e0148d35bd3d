// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementwise functions of one number: rounding, roots, exponentials,
// trigonometry.
#include "../ScalarBuilder.h"

using namespace mlir;
using namespace ashlar::onnx_import;

/// Imports a function of floats.
static LogicalResult importFloat(NodeImporter &node, FloatBody body) {
  Type type = node.tensorType(0).getElementType();
  if (!isa<FloatType>(type))
    return node.unsupported("on " + elementTypeName(node.operandType(0)));
  node.setResult(0, floatElementwise(node.b, {node.operand(0)}, type, body),
                 node.operandType(0));
  return success();
}

/// Imports the operator whose scalar form is one op of the math dialect.
template <typename Op> static LogicalResult importOp(NodeImporter &node) {
  return importFloat(node, [](FloatScalars &s, ValueRange args) -> Value {
    return s.make<Op>(args[0]);
  });
}

/// Imports a function of integers; what is unsigned passes unchanged.
static LogicalResult importInteger(NodeImporter &node, ScalarBody body) {
  Value x = node.operand(0);
  if (!isUnsigned(node.operandType(0)))
    x = elementwise(node.b, node.tensorType(0).getElementType(), {x}, body);
  node.setResult(0, x, node.operandType(0));
  return success();
}

static LogicalResult importAbs(NodeImporter &node) {
  if (isFloat(node.operandType(0)))
    return importOp<math::AbsFOp>(node);
  return importInteger(node, [](OpBuilder &b, Location loc, ValueRange args) {
    Value zero = scalarIntConstant(b, loc, args[0].getType(), 0);
    Value negated = arith::SubIOp::create(b, loc, zero, args[0]);
    return arith::MaxSIOp::create(b, loc, args[0], negated).getResult();
  });
}

static LogicalResult importNeg(NodeImporter &node) {
  if (isFloat(node.operandType(0)))
    return importOp<arith::NegFOp>(node);
  return importInteger(node, [](OpBuilder &b, Location loc, ValueRange args) {
    Value zero = scalarIntConstant(b, loc, args[0].getType(), 0);
    return arith::SubIOp::create(b, loc, zero, args[0]).getResult();
  });
}

static LogicalResult importSign(NodeImporter &node) {
  ElementType type = node.operandType(0);
  if (isFloat(type))
    return importFloat(node, [](FloatScalars &s, ValueRange args) {
      Value x = args[0], zero = s.constant(0);
      // Zero and NaN are their own sign.
      Value below = s.select(s.less(x, zero), s.constant(-1), x);
      return s.select(s.greater(x, zero), s.constant(1), below);
    });
  Value result = elementwise(
      node.b, node.tensorType(0).getElementType(), {node.operand(0)},
      [&](OpBuilder &b, Location loc, ValueRange args) {
        Value x = args[0];
        auto constant = [&](int64_t value) {
          return scalarIntConstant(b, loc, x.getType(), value);
        };
        Value positive = scalarLess(b, loc, type, constant(0), x);
        Value negative = scalarLess(b, loc, type, x, constant(0));
        Value sign = arith::SelectOp::create(b, loc, negative, constant(-1),
                                             constant(0));
        return arith::SelectOp::create(b, loc, positive, constant(1), sign)
            .getResult();
      });
  node.setResult(0, result, type);
  return success();
}

static LogicalResult importReciprocal(NodeImporter &node) {
  return importFloat(node, [](FloatScalars &s, ValueRange args) {
    return s.div(s.constant(1), args[0]);
  });
}

void ashlar::onnx_import::registerUnaryMathOperators(
    OperatorRegistry &registry) {
  registry.add("Abs", 6, importAbs);
  registry.add("Neg", 6, importNeg);
  registry.add("Sign", 9, importSign);
  registry.add("Reciprocal", 6, importReciprocal);
  registry.add("Ceil", 6, importOp<math::CeilOp>);
  registry.add("Floor", 6, importOp<math::FloorOp>);
  registry.add("Round", 11, importOp<math::RoundEvenOp>);
  registry.add("Sqrt", 6, importOp<math::SqrtOp>);
  registry.add("Exp", 6, importOp<math::ExpOp>);
  registry.add("Log", 6, importOp<math::LogOp>);
  registry.add("Erf", 9, importOp<math::ErfOp>);
  registry.add("Sin", 7, importOp<math::SinOp>);
  registry.add("Cos", 7, importOp<math::CosOp>);
  registry.add("Tan", 7, importOp<math::TanOp>);
  registry.add("Asin", 7, importOp<math::AsinOp>);
  registry.add("Acos", 7, importOp<math::AcosOp>);
  registry.add("Atan", 7, importOp<math::AtanOp>);
  registry.add("Sinh", 9, importOp<math::SinhOp>);
  registry.add("Cosh", 9, importOp<math::CoshOp>);
  registry.add("Asinh", 9, importOp<math::AsinhOp>);
  registry.add("Acosh", 9, importOp<math::AcoshOp>);
  registry.add("Atanh", 9, importOp<math::AtanhOp>);
  registry.add("Tanh", 6, importOp<math::TanhOp>);
}
