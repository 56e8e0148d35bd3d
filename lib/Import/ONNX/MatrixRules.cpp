// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "MatrixRules.h"
#include "OperandRules.h"
#include "TensorBuilder.h"

using namespace mlir;
using namespace ashlar::onnx_import;

FailureOr<MatrixProduct>
ashlar::onnx_import::expectMatrixProduct(NodeImporter &node, unsigned lhs,
                                         unsigned rhs) {
  if (failed(expectRankAtLeast(node, lhs, 1)) ||
      failed(expectRankAtLeast(node, rhs, 1)))
    return failure();
  return expectMatrixProduct(node, lhs, rhs, node.shape(lhs), node.shape(rhs));
}

FailureOr<MatrixProduct>
ashlar::onnx_import::expectMatrixProduct(NodeImporter &node, unsigned lhs,
                                         unsigned rhs, ArrayRef<int64_t> x,
                                         ArrayRef<int64_t> y) {
  bool xIsVector = x.size() == 1, yIsVector = y.size() == 1;
  MatrixProduct product;
  product.k = x.back();
  product.m = xIsVector ? 1 : x[x.size() - 2];
  product.n = yIsVector ? 1 : y.back();
  int64_t rows = yIsVector ? y[0] : y[y.size() - 2];
  if (product.k != rows)
    return node.invalid("expected one contracted size, found " +
                        Twine(product.k) + " in input " + Twine(lhs) + " and " +
                        Twine(rows) + " in input " + Twine(rhs));
  FailureOr<SmallVector<int64_t>> batch = broadcastShapes(
      {x.drop_back(xIsVector ? 1 : 2), y.drop_back(yIsVector ? 1 : 2)});
  if (failed(batch))
    return node.invalid("expected batch sizes that broadcast, found " +
                        spellShape(x) + " and " + spellShape(y));
  product.batch = *batch;
  product.shape = *batch;
  if (!xIsVector)
    product.shape.push_back(product.m);
  if (!yIsVector)
    product.shape.push_back(product.n);
  if (failed(expectSize(node, product.shape)))
    return failure();
  return product;
}
