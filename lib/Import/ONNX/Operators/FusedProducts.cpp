// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// com.microsoft: FusedMatMul, MatMulNBits, and QLinearAdd and QLinearMul.
#include "../MatrixRules.h"
#include "../OperandRules.h"
#include "../Quantization.h"
#include "../ScalarBuilder.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ashlar::onnx_import;

/// alpha * product, in the type of operand 0.
static LogicalResult setScaled(NodeImporter &node, Value product, double alpha,
                               Value bias = {}) {
  Type element = node.tensorType(0).getElementType();
  SmallVector<Value> terms{product};
  if (bias)
    terms.push_back(bias);
  Value result = floatElementwise(
      node.b, terms, element, [&](FloatScalars &s, ValueRange args) {
        Value x = alpha == 1 ? args[0] : s.mul(args[0], s.constant(alpha));
        return args.size() > 1 ? s.add(x, args[1]) : x;
      });
  node.setResult(0, result, node.operandType(0));
  return success();
}

static LogicalResult importFusedMatMul(NodeImporter &node) {
  if (failed(expectOperands(node, 2, 2)) || failed(expectFloat(node, 0)) ||
      failed(expectSameType(node, 1)))
    return failure();
  for (StringRef name : {"transBatchA", "transBatchB"})
    if (node.intAttribute(name, 0))
      return node.unsupported("with " + name);
  Value operands[2];
  for (unsigned i : {0, 1}) {
    operands[i] = node.operand(i);
    if (!node.intAttribute(i == 0 ? "transA" : "transB", 0))
      continue;
    if (failed(expectRankAtLeast(node, i, 2)))
      return failure();
    SmallVector<int64_t> order =
        llvm::to_vector(llvm::seq<int64_t>(0, node.rank(i)));
    std::swap(order[order.size() - 1], order[order.size() - 2]);
    operands[i] = transpose(node.b, operands[i], order);
  }
  auto shape = [&](unsigned i) {
    return cast<RankedTensorType>(operands[i].getType()).getShape();
  };
  for (unsigned i : {0, 1})
    if (failed(expectRankAtLeast(node, i, 1)))
      return failure();
  if (failed(expectMatrixProduct(node, 0, 1, shape(0), shape(1))))
    return failure();
  Type wide = computeType(node.tensorType(0).getElementType());
  return setScaled(node, matmul(node.b, operands[0], operands[1], wide),
                   node.floatAttribute("alpha", 1));
}

/// Rows of a weight in blocks of `bits` bits each, with a scale and a zero
/// point for each block.
static LogicalResult importMatMulNBits(NodeImporter &node) {
  ImplicitLocOpBuilder &b = node.b;
  if (failed(expectOperands(node, 3, 6)) || failed(expectFloat(node, 0)) ||
      failed(expectRankAtLeast(node, 0, 1)) || failed(expectSameType(node, 2)))
    return failure();
  if (node.hasOperand(4))
    return node.unsupported("with g_idx");
  int64_t columns = node.intAttribute("K", 0), rows = node.intAttribute("N", 0);
  int64_t bits = node.intAttribute("bits", 4);
  int64_t block = node.intAttribute("block_size", 0);
  if (bits != 2 && bits != 4 && bits != 8)
    return node.unsupported("of " + Twine(bits) + " bits");
  if (block < 16 || block > 4096 || !llvm::isPowerOf2_64(block) ||
      columns < 1 || rows < 1 || node.shape(0).back() != columns)
    return node.invalid("expected K of the first operand's last size, N of 1 "
                        "or more and a block_size that is a power of two from "
                        "16, found " +
                        Twine(columns) + ", " + Twine(rows) + " and " +
                        Twine(block));
  int64_t blocks = llvm::divideCeil(columns, block), bytes = block * bits / 8;
  int64_t perByte = 8 / bits;
  int64_t zeroBytes = llvm::divideCeil(blocks, perByte);
  auto holds = [&](unsigned i, int64_t count, ElementType type) {
    if (node.operandType(i) == type &&
        node.tensorType(i).getNumElements() == count)
      return success();
    return LogicalResult(node.invalid(
        "expected input " + Twine(i) + " to hold " + Twine(count) + " of " +
        elementTypeName(type) + ", found " + spellShape(node.shape(i)) +
        " of " + elementTypeName(node.operandType(i))));
  };
  if (failed(expectSize(node, {rows, blocks, bytes})) ||
      failed(holds(1, rows * blocks * bytes, ElementType::U8)) ||
      failed(holds(2, rows * blocks, node.operandType(0))) ||
      (node.hasOperand(5) && failed(expectShape(node, 5, {rows}))))
    return failure();
  bool packedZeros = node.operandType(3) == ElementType::U8;
  if (node.hasOperand(3) &&
      failed(packedZeros ? holds(3, rows * zeroBytes, ElementType::U8)
                         : holds(3, rows * blocks, node.operandType(0))))
    return failure();
  Type element = node.tensorType(0).getElementType();
  Type compute = computeType(element);
  Value quantized = reshape(b, node.operand(1), {rows, blocks * bytes});
  Value scales = reshape(b, node.operand(2), {rows, blocks}), zeros;
  if (node.hasOperand(3))
    zeros =
        reshape(b, node.operand(3), {rows, packedZeros ? zeroBytes : blocks});
  Value weight = generate(
      b, {rows, columns}, compute,
      [&](OpBuilder &b, Location loc, ValueRange at) {
        FloatScalars s(b, loc, compute);
        auto index = [&](int64_t value) -> Value {
          return arith::ConstantIndexOp::create(b, loc, value);
        };
        auto field = [&](Value packed, Value place) -> Value {
          Value byte = tensor::ExtractOp::create(
              b, loc, packed,
              ValueRange{at[0], s.make<arith::DivUIOp>(place, index(perByte))});
          Type i32 = b.getI32Type();
          Value word = arith::ExtUIOp::create(b, loc, i32, byte);
          Value part = s.make<arith::RemUIOp>(place, index(perByte));
          Value shift = s.make<arith::MulIOp>(part, index(bits));
          shift = arith::IndexCastOp::create(b, loc, i32, shift);
          word = s.make<arith::ShRUIOp>(word, shift);
          Value mask = scalarIntConstant(b, loc, i32, (1 << bits) - 1);
          word = s.make<arith::AndIOp>(word, mask);
          return arith::UIToFPOp::create(b, loc, compute, word);
        };
        Value number = s.make<arith::DivUIOp>(at[1], index(block));
        Value zero = s.constant(double(1 << (bits - 1)));
        if (zeros)
          zero =
              packedZeros
                  ? field(zeros, number)
                  : resizeFloat(b, loc,
                                tensor::ExtractOp::create(
                                    b, loc, zeros, ValueRange{at[0], number}),
                                compute);
        Value scale = tensor::ExtractOp::create(b, loc, scales,
                                                ValueRange{at[0], number});
        // Blocks follow each other without a gap.
        return s.mul(s.sub(field(quantized, at[1]), zero),
                     resizeFloat(b, loc, scale, compute));
      });
  Value x = castTensor(b, node.operand(0), node.operandType(0),
                       computeType(node.operandType(0)));
  SmallVector<int64_t> shape(node.shape(0));
  shape.back() = rows;
  if (failed(expectSize(node, shape)))
    return failure();
  Value product = matmul(b, x, transpose(b, weight, {1, 0}), compute);
  return setScaled(node, product, 1, node.operand(5));
}

/// One element from two quantized ones, by what `combine` does to their values.
template <Value (FloatScalars::*combine)(Value, Value)>
static LogicalResult importQLinear(NodeImporter &node) {
  if (failed(expectOperands(node, 7, 8)) || failed(expectSameType(node, 3)))
    return failure();
  ElementType type = node.operandType(0);
  if (type != ElementType::U8 && type != ElementType::I8)
    return node.invalid("expected uint8 or int8, found " +
                        elementTypeName(type));
  for (unsigned scale : {1, 4, 6}) {
    if (node.operandType(scale) != ElementType::F32)
      return node.invalid("expected scales of float");
    if (node.hasOperand(scale + 1) && failed(expectSameType(node, scale + 1)))
      return failure();
    if (failed(expectOneElement(node, scale)) ||
        failed(expectOneElement(node, scale + 1)))
      return failure();
  }
  if (failed(expectBroadcast(node, {0, 3})))
    return failure();
  ImplicitLocOpBuilder &b = node.b;
  Value zero = splat(b, {}, zeroOf(b.getI8Type()));
  SmallVector<Value> inputs{node.operand(0), node.operand(3)};
  for (unsigned scale : {1, 4, 6}) {
    inputs.push_back(reshape(b, node.operand(scale), {}));
    inputs.push_back(node.hasOperand(scale + 1)
                         ? reshape(b, node.operand(scale + 1), {})
                         : zero);
  }
  Value result = elementwise(
      b, b.getI8Type(), inputs,
      [&](OpBuilder &b, Location loc, ValueRange args) {
        FloatScalars s(b, loc, b.getF32Type());
        auto number = [&](Value code) {
          return castScalar(b, loc, code, type, ElementType::F32);
        };
        auto value = [&](Value code, unsigned at) {
          return s.mul(s.sub(number(code), number(args[at + 1])), args[at]);
        };
        Value made = (s.*combine)(value(args[0], 2), value(args[1], 4));
        return roundToQuantized(b, loc, s.div(made, args[6]), args[7], type);
      });
  node.setResult(0, result, type);
  return success();
}

void ashlar::onnx_import::registerFusedProductsOperators(
    OperatorRegistry &registry) {
  constexpr StringLiteral domain = "com.microsoft";
  registry.add("FusedMatMul", 1, importFusedMatMul, domain);
  registry.add("MatMulNBits", 1, importMatMulNBits, domain);
  registry.add("QLinearAdd", 1, importQLinear<&FloatScalars::add>, domain);
  registry.add("QLinearMul", 1, importQLinear<&FloatScalars::mul>, domain);
}
