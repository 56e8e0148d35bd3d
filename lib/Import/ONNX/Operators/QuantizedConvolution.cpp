// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ConvInteger and QLinearConv: products of 8-bit integers summed in 32 bits.
// With x and w the stored values and a, b their zero points,
//   sum (x - a)(w - b) = sum (x - a) w - b sum (x - a),
// so a is subtracted first where it is not zero, and b from the weight.
#include "../OperandRules.h"
#include "../Quantization.h"
#include "../TensorBuilder.h"
#include "Convolution.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace ashlar::onnx_import;

static LogicalResult expectByte(NodeImporter &node, unsigned i) {
  ElementType type = node.operandType(i);
  if (type == ElementType::U8 || type == ElementType::I8)
    return success();
  return node.invalid("input " + Twine(i) + " has type " +
                      elementTypeName(type) + "; expected uint8 or int8");
}

/// Operand i is one value, or one for each of `channels` where that is allowed.
static LogicalResult expectParameter(NodeImporter &node, unsigned i,
                                     int64_t channels) {
  if (!node.hasOperand(i) || node.tensorType(i).getNumElements() == 1)
    return success();
  if (channels == 0)
    return expectShape(node, i, {});
  return expectShape(node, i, {channels});
}

/// Whether a zero point is absent or known to be zero.
static bool isZero(NodeImporter &node, unsigned i) {
  if (!node.hasOperand(i))
    return true;
  DenseElementsAttr constant = node.constantOperand(i);
  return constant && llvm::all_of(constant.getValues<APInt>(),
                                  [](const APInt &v) { return v.isZero(); });
}

/// A parameter shaped to broadcast: along dimension 0 of `rank` dimensions.
static Value leading(ImplicitLocOpBuilder &b, Value parameter, int64_t rank) {
  int64_t count = cast<RankedTensorType>(parameter.getType()).getNumElements();
  if (count == 1)
    return reshape(b, parameter, {});
  SmallVector<int64_t> shape(rank, 1);
  shape[0] = count;
  return reshape(b, parameter, shape);
}

/// Stored values less their zero point, in 32 bits.
static Value subtractZeroPoint(NodeImporter &node, unsigned values,
                               unsigned zeroPoint, int64_t rank) {
  ImplicitLocOpBuilder &b = node.b;
  ElementType type = node.operandType(values);
  return elementwise(
      b, b.getI32Type(),
      {node.operand(values), leading(b, node.operand(zeroPoint), rank)},
      [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
        Value x = castScalar(b, loc, args[0], type, ElementType::I32);
        Value zero = castScalar(b, loc, args[1], type, ElementType::I32);
        return arith::SubIOp::create(b, loc, x, zero);
      });
}

/// Convolves operands x and w with their zero points, in 32 bits.
static FailureOr<Value> convolveBytes(NodeImporter &node, unsigned x,
                                      unsigned w, unsigned xZero,
                                      unsigned wZero, ConvolutionShape &shape) {
  if (failed(expectByte(node, x)) || failed(expectByte(node, w)))
    return failure();
  FailureOr<ConvolutionShape> read = readConvolution(node, w);
  if (failed(read))
    return failure();
  shape = *read;
  int64_t channels = node.shape(w)[0];
  if (failed(expectParameter(node, xZero, 0)) ||
      failed(expectParameter(node, wZero, channels)))
    return failure();
  for (auto [values, zero] : {std::pair(x, xZero), std::pair(w, wZero)})
    if (node.hasOperand(zero) &&
        node.operandType(zero) != node.operandType(values))
      return node.invalid("zero point (input " + Twine(zero) + ") has type " +
                          elementTypeName(node.operandType(zero)) +
                          "; expected " +
                          elementTypeName(node.operandType(values)));
  ImplicitLocOpBuilder &b = node.b;
  Value input = node.operand(x), weight = node.operand(w);
  if (!isZero(node, xZero))
    input = subtractZeroPoint(node, x, xZero, 1);
  if (!isZero(node, wZero))
    weight = subtractZeroPoint(node, w, wZero, node.rank(w));
  // What has been widened is signed.
  auto isNatural = [&](Value value, unsigned i) {
    return getElementTypeOrSelf(value).isInteger(8) &&
           isUnsigned(node.operandType(i));
  };
  Value zero =
      arith::ConstantOp::create(b, zeroOf(getElementTypeOrSelf(input)));
  return convolve(b, shape.window.pad(b, input, zero), weight, shape,
                  b.getI32Type(), isNatural(input, x), isNatural(weight, w));
}

static LogicalResult importConvInteger(NodeImporter &node) {
  if (failed(expectOperands(node, 2, 4)))
    return failure();
  ConvolutionShape shape;
  FailureOr<Value> sum = convolveBytes(node, 0, 1, 2, 3, shape);
  if (failed(sum))
    return failure();
  node.setResult(0, reshape(node.b, *sum, shape.result), ElementType::I32);
  return success();
}

/// x, its scale and zero point, w, its scale and zero point, the result's
/// scale and zero point, bias.
static LogicalResult importQLinearConv(NodeImporter &node) {
  if (failed(expectOperands(node, 8, 9)))
    return failure();
  int64_t channels = node.rank(3) > 0 ? node.shape(3)[0] : 0;
  for (unsigned i : {1, 4, 6}) {
    if (node.operandType(i) != ElementType::F32)
      return node.invalid("scale (input " + Twine(i) + ") has type " +
                          elementTypeName(node.operandType(i)) +
                          "; expected float");
    if (failed(expectParameter(node, i, i == 4 ? channels : 0)))
      return failure();
  }
  if (failed(expectParameter(node, 7, 0)) || failed(expectByte(node, 7)))
    return failure();
  ConvolutionShape shape;
  FailureOr<Value> sum = convolveBytes(node, 0, 3, 2, 5, shape);
  if (failed(sum))
    return failure();
  ImplicitLocOpBuilder &b = node.b;
  int64_t rank = cast<RankedTensorType>(sum->getType()).getRank() - 1;
  auto scalar = [&](unsigned i) { return reshape(b, node.operand(i), {}); };
  SmallVector<Value> inputs{*sum, scalar(1), leading(b, node.operand(4), rank),
                            scalar(6), scalar(7)};
  if (node.hasOperand(8)) {
    if (node.operandType(8) != ElementType::I32)
      return node.invalid("bias (input 8) has type " +
                          elementTypeName(node.operandType(8)) +
                          "; expected int32");
    if (failed(expectShape(node, 8, {channels})))
      return failure();
    inputs.push_back(channelwise(b, node.operand(8), rank - 1));
  }
  ElementType type = node.operandType(7);
  Value result = elementwise(
      b, b.getI8Type(), inputs,
      [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
        Value total = args[0];
        if (args.size() == 6)
          total = arith::AddIOp::create(b, loc, total, args[5]);
        Value x = arith::SIToFPOp::create(b, loc, b.getF32Type(), total);
        Value scale = arith::MulFOp::create(b, loc, args[1], args[2]);
        scale = arith::DivFOp::create(b, loc, scale, args[3]);
        x = arith::MulFOp::create(b, loc, x, scale);
        return roundToQuantized(b, loc, x, args[4], type);
      });
  node.setResult(0, reshape(b, result, shape.result), type);
  return success();
}

void ashlar::onnx_import::registerQuantizedConvolutionOperators(
    OperatorRegistry &registry) {
  registry.add("ConvInteger", 10, importConvInteger);
  registry.add("QLinearConv", 10, importQLinearConv);
}
