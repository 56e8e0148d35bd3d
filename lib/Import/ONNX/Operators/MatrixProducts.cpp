// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MatMul and Gemm.
#include "../TensorBuilder.h"

using namespace mlir;
using namespace ashlar::onnx_import;

static LogicalResult importMatMul(NodeImporter &node) {
  ArrayRef<int64_t> lhs = node.shape(0), rhs = node.shape(1);
  if (lhs.empty() || rhs.empty())
    return node.invalid("operands must have rank 1 or more");
  int64_t k = lhs.back();
  int64_t rows = rhs.size() == 1 ? rhs[0] : rhs[rhs.size() - 2];
  if (k != rows)
    return node.invalid("contracted dimensions differ: input 0 has " +
                        Twine(k) + ", input 1 has " + Twine(rows));
  if (failed(broadcastShapes({lhs.drop_back(std::min<size_t>(lhs.size(), 2)),
                              rhs.drop_back(std::min<size_t>(rhs.size(), 2))})))
    return node.invalid("batch dimensions do not broadcast");
  if (node.operandType(0) != node.operandType(1))
    return node.invalid("operands have types " +
                        elementTypeName(node.operandType(0)) + " and " +
                        elementTypeName(node.operandType(1)) +
                        "; expected one type");
  Value result = matmul(node.b, node.operand(0), node.operand(1),
                        node.tensorType(0).getElementType());
  node.setResult(0, result, node.operandType(0));
  return success();
}

void ashlar::onnx_import::registerMatrixProductsOperators(
    OperatorRegistry &registry) {
  registry.add("MatMul", 1, importMatMul);
}
