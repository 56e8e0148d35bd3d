// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementwise arithmetic of two operands, with NumPy's broadcasting.
#include "../TensorBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace ashlar::onnx_import;

/// Imports an operator of two operands of one type; `body` makes the result
/// from two scalars, knowing the type.
static LogicalResult
importBinary(NodeImporter &node,
             llvm::function_ref<Value(OpBuilder &, Location, ElementType,
                                      Value, Value)>
                 body) {
  ElementType type = node.operandType(0);
  if (node.operandType(1) != type)
    return node.invalid("operands have types " + elementTypeName(type) +
                        " and " + elementTypeName(node.operandType(1)) +
                        "; expected one type");
  if (failed(broadcastShapes({node.shape(0), node.shape(1)})))
    return node.invalid("operand shapes do not broadcast");
  Value result =
      elementwise(node.b, node.tensorType(0).getElementType(),
                  {node.operand(0), node.operand(1)},
                  [&](OpBuilder &b, Location loc, ValueRange args) {
                    return body(b, loc, type, args[0], args[1]);
                  });
  node.setResult(0, result, type);
  return success();
}

static LogicalResult importAdd(NodeImporter &node) {
  return importBinary(node, [](OpBuilder &b, Location loc, ElementType type,
                               Value x, Value y) -> Value {
    if (isFloat(type))
      return arith::AddFOp::create(b, loc, x, y);
    return arith::AddIOp::create(b, loc, x, y);
  });
}

static LogicalResult importSub(NodeImporter &node) {
  return importBinary(node, [](OpBuilder &b, Location loc, ElementType type,
                               Value x, Value y) -> Value {
    if (isFloat(type))
      return arith::SubFOp::create(b, loc, x, y);
    return arith::SubIOp::create(b, loc, x, y);
  });
}

static LogicalResult importMul(NodeImporter &node) {
  return importBinary(node, [](OpBuilder &b, Location loc, ElementType type,
                               Value x, Value y) -> Value {
    if (isFloat(type))
      return arith::MulFOp::create(b, loc, x, y);
    return arith::MulIOp::create(b, loc, x, y);
  });
}

void ashlar::onnx_import::registerArithmeticOperators(
    OperatorRegistry &registry) {
  registry.add("Add", 7, importAdd);
  registry.add("Sub", 7, importSub);
  registry.add("Mul", 7, importMul);
}
