// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// com.microsoft: operators on 8-bit values, as the nodes of ai.onnx between
// DequantizeLinear and QuantizeLinear that they stand for.
#include "../Composition.h"
#include "../OperandRules.h"

using namespace mlir;
using namespace ashlar::onnx_import;

/// Operand `at` is a value, the next two are its scale and zero point.
static Composition::Name dequantize(Composition &c, unsigned at) {
  return c.add("DequantizeLinear",
               {c.operand(at), c.operand(at + 1), c.operand(at + 2)});
}

/// Operand `scale` and the next one say how.
static Composition::Name quantize(Composition &c, Composition::Name x,
                                  unsigned scale) {
  return c.add("QuantizeLinear", {x, c.operand(scale), c.operand(scale + 1)});
}

/// One scale and one zero point for a whole tensor.
static LogicalResult expectPerTensor(NodeImporter &node, unsigned scale) {
  return success(succeeded(expectOneElement(node, scale)) &&
                 (!node.hasOperand(scale + 1) ||
                  succeeded(expectOneElement(node, scale + 1))));
}

/// X, its scale and zero point, the result's; `op` with attributes of the node
/// between. Channels may be last.
static LogicalResult importPerTensor(NodeImporter &node, StringRef op) {
  if (failed(expectOperands(node, 4, 5)) || !node.hasOperand(1) ||
      failed(expectPerTensor(node, 1)) || failed(expectPerTensor(node, 3)))
    return failure();
  Composition c(node);
  auto x = dequantize(c, 0);
  bool isLast = node.intAttribute("channels_last", 0) != 0;
  int64_t rank = node.rank(0);
  SmallVector<int64_t> toFirst = {0, rank - 1}, toLast = {0};
  for (int64_t i = 1; i < rank - 1; ++i)
    toFirst.push_back(i);
  for (int64_t i = 2; i < rank; ++i)
    toLast.push_back(i);
  toLast.push_back(1);
  if (isLast && failed(expectRankAtLeast(node, 0, 3)))
    return failure();
  x = c.addLike(op, {isLast ? c.transpose(x, toFirst) : x});
  return c.import({quantize(c, isLast ? c.transpose(x, toLast) : x, 3)});
}

static LogicalResult importQLinearConcat(NodeImporter &node) {
  unsigned count = node.numOperands();
  if (count < 5 || (count - 2) % 3 != 0)
    return node.invalid("has " + Twine(count) +
                        " inputs; expected the result's scale and zero point, "
                        "and three for each part");
  if (failed(expectPerTensor(node, 0)))
    return failure();
  Composition c(node);
  SmallVector<Composition::Name> parts;
  for (unsigned at = 2; at != count; at += 3) {
    if (failed(expectPerTensor(node, at + 1)))
      return failure();
    parts.push_back(dequantize(c, at));
  }
  return c.import({quantize(c, c.addLike("Concat", parts), 0)});
}

static LogicalResult importAsItself(NodeImporter &node) {
  if (failed(expectOperands(node, 2, 3)))
    return failure();
  Composition c(node);
  return c.import(
      {c.addLike(node.opType(), {c.operand(0), c.operand(1), c.operand(2)})});
}

/// Operands: A, B, their scales, their zero points, a bias.
static LogicalResult importMatMulIntegerToFloat(NodeImporter &node) {
  if (failed(expectOperands(node, 4, 7)))
    return failure();
  Composition c(node);
  auto product = c.add("MatMulInteger", {c.operand(0), c.operand(1),
                                         c.operand(4), c.operand(5)});
  auto scale = c.add("Mul", {c.operand(2), c.operand(3)});
  auto result = c.add("Mul", {c.cast(product, node.operandType(2)), scale});
  if (node.hasOperand(6))
    result = c.add("Add", {result, c.operand(6)});
  return c.import({result});
}

/// Operands: A, which is quantized here, B, its scale and zero point, a bias.
static LogicalResult importDynamicQuantizeMatMul(NodeImporter &node) {
  if (failed(expectOperands(node, 3, 5)))
    return failure();
  Composition c(node);
  auto a = c.addNode("DynamicQuantizeLinear", {c.operand(0)}, {}, 3);
  auto product =
      c.add("MatMulInteger", {a[0], c.operand(1), a[2], c.operand(3)});
  auto scale = c.add("Mul", {a[1], c.operand(2)});
  auto result = c.add("Mul", {c.cast(product, ElementType::F32), scale});
  if (node.hasOperand(4))
    result = c.add("Add", {result, c.operand(4)});
  return c.import({result});
}

/// Operands: A, its scale and zero point, B with its own, C in i32, and the
/// result's scale and zero point, without which it stays float.
static LogicalResult importQGemm(NodeImporter &node) {
  if (failed(expectOperands(node, 6, 9)) || failed(expectRank(node, 0, 2)) ||
      failed(expectRank(node, 3, 2)) || failed(expectPerTensor(node, 1)) ||
      (node.hasOperand(7) && failed(expectPerTensor(node, 7))))
    return failure();
  Composition c(node);
  auto matrix = [&](unsigned at, StringRef flips) {
    return node.intAttribute(flips, 0) ? c.transpose(c.operand(at), {1, 0})
                                       : c.operand(at);
  };
  auto sum = c.add("MatMulInteger", {matrix(0, "transA"), matrix(3, "transB"),
                                     c.operand(2), c.operand(5)});
  if (node.hasOperand(6))
    sum = c.add("Add", {sum, c.operand(6)});
  auto scale = c.add("Mul", {c.operand(1), c.operand(4)});
  if (double alpha = node.floatAttribute("alpha", 1); alpha != 1)
    scale = c.add("Mul", {scale, c.number(alpha)});
  if (node.hasOperand(7))
    scale = c.add("Div", {scale, c.operand(7)});
  auto result = c.add("Mul", {c.cast(sum, ElementType::F32), scale});
  if (node.hasOperand(7))
    result = c.add("QuantizeLinear", {result, c.number(1), c.operand(8)});
  return c.import({result});
}

void ashlar::onnx_import::registerFusedQuantizedOperators(
    OperatorRegistry &registry) {
  constexpr StringLiteral domain = "com.microsoft";
  for (auto [op, inner] : {std::pair("QLinearAveragePool", "AveragePool"),
                           {"QLinearGlobalAveragePool", "GlobalAveragePool"},
                           {"QLinearLeakyRelu", "LeakyRelu"},
                           {"QLinearSigmoid", "Sigmoid"},
                           {"QLinearSoftmax", "Softmax"}})
    registry.add(
        op, 1,
        [inner = StringRef(inner)](NodeImporter &node) {
          return importPerTensor(node, inner);
        },
        domain);
  registry.add("QGemm", 1, importQGemm, domain);
  registry.add("QLinearConcat", 1, importQLinearConcat, domain);
  registry.add("QuantizeLinear", 1, importAsItself, domain);
  registry.add("DequantizeLinear", 1, importAsItself, domain);
  registry.add("MatMulIntegerToFloat", 1, importMatMulIntegerToFloat, domain);
  registry.add("DynamicQuantizeMatMul", 1, importDynamicQuantizeMatMul, domain);
}
