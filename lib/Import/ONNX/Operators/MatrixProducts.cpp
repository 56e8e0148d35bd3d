// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MatMul and Gemm. Products of f16 and bf16 are summed in f32 and rounded once.
#include "../MatrixRules.h"
#include "../OperandRules.h"
#include "../ScalarBuilder.h"

using namespace mlir;
using namespace ashlar::onnx_import;

static LogicalResult importMatMul(NodeImporter &node) {
  if (failed(expectMatrixProduct(node, 0, 1)))
    return failure();
  ElementType type = node.operandType(0), wide = computeType(type);
  Value product = matmul(node.b, node.operand(0), node.operand(1),
                         convertElementType(node.b.getContext(), wide));
  node.setResult(0, castTensor(node.b, product, wide, type), type);
  return success();
}

/// alpha * scalar, in the scalar's type; integers are scaled as f64.
static Value scale(OpBuilder &b, Location loc, Value scalar, double factor,
                   ElementType type) {
  if (factor == 1)
    return scalar;
  ElementType wide = isFloat(type) ? type : ElementType::F64;
  Value value = castScalar(b, loc, scalar, type, wide);
  Value constant = scalarConstant(b, loc, value.getType(), factor);
  Value scaled = arith::MulFOp::create(b, loc, value, constant);
  return castScalar(b, loc, scaled, wide, type);
}

static LogicalResult importGemm(NodeImporter &node) {
  for (unsigned i : {0, 1})
    if (node.rank(i) != 2)
      return node.invalid("expected input " + Twine(i) +
                          " of rank 2, found shape " +
                          spellShape(node.shape(i)));
  bool transA = node.intAttribute("transA", 0);
  bool transB = node.intAttribute("transB", 0);
  int64_t k = node.shape(0)[transA ? 0 : 1];
  int64_t rows = node.shape(1)[transB ? 1 : 0];
  if (k != rows)
    return node.invalid("expected one contracted size, found " + Twine(k) +
                        " in input 0 and " + Twine(rows) + " in input 1");
  int64_t shape[] = {node.shape(0)[transA ? 1 : 0],
                     node.shape(1)[transB ? 0 : 1]};
  ElementType type = node.operandType(0), wide = computeType(type);
  Type compute = convertElementType(node.b.getContext(), wide);
  if (failed(expectSize(node, shape, compute)) ||
      (node.hasOperand(2) && failed(expectBroadcastTo(node, 2, shape))))
    return failure();

  AffineExpr m, n, reduced;
  bindDims(node.b.getContext(), m, n, reduced);
  auto map = [&](AffineExpr first, AffineExpr second) {
    return AffineMap::get(3, 0, {first, second}, node.b.getContext());
  };
  AffineMap maps[] = {transA ? map(reduced, m) : map(m, reduced),
                      transB ? map(n, reduced) : map(reduced, n), map(m, n)};
  Value zero = arith::ConstantOp::create(node.b, zeroOf(compute));
  Value product = contract(node.b, node.operand(0), node.operand(1),
                           fill(node.b, shape, zero), maps);

  double alpha = node.floatAttribute("alpha", 1);
  double beta = node.floatAttribute("beta", 1);
  bool adds = node.hasOperand(2) && beta != 0;
  SmallVector<Value> terms = {product};
  if (adds)
    terms.push_back(node.operand(2));
  if (!adds && alpha == 1) {
    node.setResult(0, castTensor(node.b, product, wide, type), type);
    return success();
  }
  Value result =
      elementwise(node.b, node.tensorType(0).getElementType(), terms,
                  [&](OpBuilder &b, Location loc, ValueRange args) {
                    Value sum = scale(b, loc, args[0], alpha, wide);
                    if (adds) {
                      Value c = castScalar(b, loc, args[1], type, wide);
                      sum =
                          scalarAdd(b, loc, sum, scale(b, loc, c, beta, wide));
                    }
                    return castScalar(b, loc, sum, wide, type);
                  });
  node.setResult(0, result, type);
  return success();
}

void ashlar::onnx_import::registerMatrixProductsOperators(
    OperatorRegistry &registry) {
  registry.add("MatMul", 1, importMatMul);
  registry.add("Gemm", 7, importGemm);
}
