// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of 8-bit matrices with zero points. The contraction works on the
// 8-bit values as they are; zero points that are not zero are made up for
// afterwards.
#include "../MatrixRules.h"
#include "../OperandRules.h"
#include "../Quantization.h"
#include "../ScalarBuilder.h"

using namespace mlir;
using namespace ashlar::onnx_import;

/// A parameter of an operand: one value, or one for each row (column) of its
/// matrix, as a vector or with the other sizes of the operand. The result
/// broadcasts to the product with both matrix sizes kept. Null when absent.
static FailureOr<Value> parameter(NodeImporter &node, unsigned i,
                                  const MatrixProduct &product, bool ofRows) {
  if (!node.hasOperand(i))
    return Value();
  SmallVector<int64_t> full(product.batch);
  full.append({product.m, product.n});
  ArrayRef<int64_t> shape = node.shape(i);
  Value value = node.operand(i);
  if (node.tensorType(i).getNumElements() == 1)
    return reshape(node.b, value, {});
  int64_t count = ofRows ? product.m : product.n;
  if (shape.size() == 1 && shape[0] == count)
    return ofRows ? reshape(node.b, value, {count, 1}) : value;
  bool spansOther =
      shape.size() < 2 || shape[shape.size() - (ofRows ? 1 : 2)] != 1;
  FailureOr<SmallVector<int64_t>> result = broadcastShapes({shape, full});
  if (spansOther || failed(result) || *result != full)
    return node.invalid("expected input " + Twine(i) + " of one element or " +
                        Twine(count) + ", one for each " +
                        (ofRows ? "row" : "column") + ", found shape " +
                        spellShape(shape));
  return value;
}

/// Whether a zero point is known to do nothing.
static bool isKnownZero(const NodeImporter &node, unsigned i) {
  if (!node.hasOperand(i))
    return true;
  DenseElementsAttr constant = node.constantOperand(i);
  return constant && llvm::all_of(constant.getValues<APInt>(),
                                  [](const APInt &n) { return n.isZero(); });
}

namespace {
/// Where the operands of one product stand in the node.
struct Places {
  unsigned lhs, lhsZero, rhs, rhsZero;
};
} // namespace

/// The product in i32, of the batch sizes, m and n.
static FailureOr<Value> integerProduct(NodeImporter &node, const Places &at,
                                       const MatrixProduct &product) {
  ImplicitLocOpBuilder &b = node.b;
  Type i32 = b.getI32Type();
  for (unsigned i : {at.lhs, at.rhs})
    if (node.tensorType(i).getElementType().getIntOrFloatBitWidth() != 8)
      return node.unsupported("on " + elementTypeName(node.operandType(i)));
  FailureOr<Value> lhsZero = parameter(node, at.lhsZero, product, true);
  FailureOr<Value> rhsZero = parameter(node, at.rhsZero, product, false);
  if (failed(lhsZero) || failed(rhsZero))
    return failure();
  Value lhs = node.operand(at.lhs), rhs = node.operand(at.rhs);
  if (node.rank(at.lhs) == 1)
    lhs = reshape(b, lhs, {1, product.k});
  if (node.rank(at.rhs) == 1)
    rhs = reshape(b, rhs, {product.k, 1});
  ElementType lhsType = node.operandType(at.lhs);
  ElementType rhsType = node.operandType(at.rhs);
  Value sum =
      matmul(b, lhs, rhs, i32, isUnsigned(lhsType), isUnsigned(rhsType));

  auto sumAlong = [&](Value matrix, int64_t fromBack, ElementType type) {
    int64_t rank = cast<RankedTensorType>(matrix.getType()).getRank();
    return sumCodes(b, matrix, rank - fromBack, /*keepDims=*/true, type);
  };
  FactorZero ofLhs = {{}, {}, lhsType}, ofRhs = {{}, {}, rhsType};
  if (!isKnownZero(node, at.lhsZero)) {
    ofLhs.zero = *lhsZero;
    ofLhs.otherSums = sumAlong(rhs, 2, rhsType);
  }
  if (!isKnownZero(node, at.rhsZero)) {
    ofRhs.zero = *rhsZero;
    ofRhs.otherSums = sumAlong(lhs, 1, lhsType);
  }
  return subtractZeros(b, sum, ofLhs, ofRhs, product.k);
}

static LogicalResult importMatMulInteger(NodeImporter &node) {
  FailureOr<MatrixProduct> product = expectMatrixProduct(node, 0, 1);
  if (failed(product))
    return failure();
  FailureOr<Value> sum = integerProduct(node, {0, 2, 1, 3}, *product);
  if (failed(sum))
    return failure();
  node.setResult(0, reshape(node.b, *sum, product->shape), ElementType::I32);
  return success();
}

static LogicalResult importQLinearMatMul(NodeImporter &node) {
  FailureOr<MatrixProduct> product = expectMatrixProduct(node, 0, 3);
  if (failed(product))
    return failure();
  FailureOr<Value> sum = integerProduct(node, {0, 2, 3, 5}, *product);
  FailureOr<Value> lhsScale = parameter(node, 1, *product, true);
  FailureOr<Value> rhsScale = parameter(node, 4, *product, false);
  FailureOr<Value> scale = parameter(node, 6, *product, true);
  FailureOr<Value> zero = parameter(node, 7, *product, true);
  if (failed(sum) || failed(lhsScale) || failed(rhsScale) || failed(scale) ||
      failed(zero))
    return failure();
  ElementType type = node.operandType(7);
  Type f32 = node.b.getF32Type();
  Value result = elementwise(
      node.b, node.tensorType(7).getElementType(),
      {*sum, *lhsScale, *rhsScale, *scale, *zero},
      [&](OpBuilder &b, Location loc, ValueRange args) {
        FloatScalars s(b, loc, f32);
        Value sum = arith::SIToFPOp::create(b, loc, f32, args[0]);
        Value both = s.mul(resizeFloat(b, loc, args[1], f32),
                           resizeFloat(b, loc, args[2], f32));
        Value factor = s.div(both, resizeFloat(b, loc, args[3], f32));
        return roundToQuantized(b, loc, s.mul(sum, factor), args[4], type);
      });
  node.setResult(0, reshape(node.b, result, product->shape), type);
  return success();
}

void ashlar::onnx_import::registerQuantizedProductsOperators(
    OperatorRegistry &registry) {
  registry.add("MatMulInteger", 10, importMatMulInteger);
  registry.add("QLinearMatMul", 10, importQLinearMatMul);
}
