// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Det of small matrices, by expansion along the first row.
#include "../OperandRules.h"
#include "../ScalarBuilder.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ashlar::onnx_import;

/// The largest matrix; the expansion has factorial length.
static constexpr int64_t maximumSize = 4;

/// The determinant of the rows from `row` on and the given columns.
static Value expand(FloatScalars &s, ArrayRef<SmallVector<Value>> matrix,
                    size_t row, ArrayRef<size_t> columns) {
  Value sum;
  for (size_t i = 0; i != columns.size(); ++i) {
    SmallVector<size_t> others(columns);
    others.erase(others.begin() + i);
    Value term = matrix[row][columns[i]];
    if (!others.empty())
      term = s.mul(term, expand(s, matrix, row + 1, others));
    if (!sum)
      sum = term;
    else
      sum = i % 2 ? s.sub(sum, term) : s.add(sum, term);
  }
  return sum;
}

static LogicalResult importDet(NodeImporter &node) {
  if (failed(expectRankAtLeast(node, 0, 2)))
    return failure();
  ArrayRef<int64_t> shape = node.shape(0);
  int64_t size = shape.back();
  if (shape[shape.size() - 2] != size)
    return node.invalid("expected square matrices, found shape " +
                        spellShape(shape));
  if (size == 0 || size > maximumSize)
    return node.unsupported("of matrices of size " + Twine(size) +
                            "; sizes 1 to " + Twine(maximumSize) + " are");
  Value x = node.operand(0);
  Type element = node.tensorType(0).getElementType();
  Value result = generate(
      node.b, shape.drop_back(2), element,
      [&](OpBuilder &b, Location loc, ValueRange at) {
        FloatScalars s(b, loc, computeType(element));
        SmallVector<SmallVector<Value>> matrix(size);
        SmallVector<size_t> columns;
        for (int64_t i = 0; i != size; ++i) {
          columns.push_back(i);
          for (int64_t j = 0; j != size; ++j) {
            SmallVector<Value> from(at);
            from.push_back(arith::ConstantIndexOp::create(b, loc, i));
            from.push_back(arith::ConstantIndexOp::create(b, loc, j));
            Value value = tensor::ExtractOp::create(b, loc, x, from);
            matrix[i].push_back(resizeFloat(b, loc, value, s.type));
          }
        }
        return resizeFloat(b, loc, expand(s, matrix, 0, columns), element);
      });
  node.setResult(0, result, node.operandType(0));
  return success();
}

void ashlar::onnx_import::registerDeterminantOperators(
    OperatorRegistry &registry) {
  registry.add("Det", 11, importDet);
}
