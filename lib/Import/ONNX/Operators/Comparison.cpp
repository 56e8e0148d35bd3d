// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Comparisons of two operands and the choice by a condition.
#include "../OperandRules.h"
#include "../ScalarBuilder.h"

using namespace mlir;
using namespace ashlar::onnx_import;

namespace {
/// One comparison for each kind of number.
struct Predicates {
  arith::CmpFPredicate ofFloats;
  arith::CmpIPredicate ofSigned, ofUnsigned;
};
constexpr Predicates equal = {arith::CmpFPredicate::OEQ,
                              arith::CmpIPredicate::eq,
                              arith::CmpIPredicate::eq};
constexpr Predicates less = {arith::CmpFPredicate::OLT,
                             arith::CmpIPredicate::slt,
                             arith::CmpIPredicate::ult};
constexpr Predicates lessOrEqual = {arith::CmpFPredicate::OLE,
                                    arith::CmpIPredicate::sle,
                                    arith::CmpIPredicate::ule};
constexpr Predicates greater = {arith::CmpFPredicate::OGT,
                                arith::CmpIPredicate::sgt,
                                arith::CmpIPredicate::ugt};
constexpr Predicates greaterOrEqual = {arith::CmpFPredicate::OGE,
                                       arith::CmpIPredicate::sge,
                                       arith::CmpIPredicate::uge};
} // namespace

template <const Predicates &predicates>
static LogicalResult importComparison(NodeImporter &node) {
  if (failed(expectBroadcast(node, {0, 1})))
    return failure();
  ElementType type = node.operandType(0);
  Value result = elementwise(
      node.b, node.b.getI1Type(), {node.operand(0), node.operand(1)},
      [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
        if (isFloat(type))
          return arith::CmpFOp::create(b, loc, predicates.ofFloats, args[0],
                                       args[1]);
        bool asUnsigned = isUnsigned(type) || type == ElementType::Bool;
        return arith::CmpIOp::create(
            b, loc, asUnsigned ? predicates.ofUnsigned : predicates.ofSigned,
            args[0], args[1]);
      });
  node.setResult(0, result, ElementType::Bool);
  return success();
}

static LogicalResult importWhere(NodeImporter &node) {
  if (failed(expectBroadcast(node, {0, 1, 2})))
    return failure();
  Value result = elementwise(
      node.b, node.tensorType(1).getElementType(),
      {node.operand(0), node.operand(1), node.operand(2)},
      [](OpBuilder &b, Location loc, ValueRange args) -> Value {
        return arith::SelectOp::create(b, loc, args[0], args[1], args[2]);
      });
  node.setResult(0, result, node.operandType(1));
  return success();
}

void ashlar::onnx_import::registerComparisonOperators(
    OperatorRegistry &registry) {
  registry.add("Equal", 7, importComparison<equal>);
  registry.add("Less", 7, importComparison<less>);
  registry.add("LessOrEqual", 12, importComparison<lessOrEqual>);
  registry.add("Greater", 7, importComparison<greater>);
  registry.add("GreaterOrEqual", 12, importComparison<greaterOrEqual>);
  registry.add("Where", 9, importWhere);
}
