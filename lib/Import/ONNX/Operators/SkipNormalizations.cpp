// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// com.microsoft: layer normalizations of a sum, which is a result as well.
#include "../OperandRules.h"
#include "../ReductionBuilder.h"

using namespace mlir;
using namespace ashlar::onnx_import;

/// input + skip + bias, rounded once to the operands' type.
static Value addSkip(NodeImporter &node, unsigned bias) {
  SmallVector<Value> terms{node.operand(0), node.operand(1)};
  if (node.hasOperand(bias))
    terms.push_back(node.operand(bias));
  return floatElementwise(node.b, terms, node.tensorType(0).getElementType(),
                          [](FloatScalars &s, ValueRange args) {
                            Value sum = s.add(args[0], args[1]);
                            return args.size() > 2 ? s.add(sum, args[2]) : sum;
                          });
}

/// Operands: input, skip, gamma, then beta unless it is simplified (a root mean
/// square), then a bias.
template <bool simplified> static LogicalResult importSkip(NodeImporter &node) {
  constexpr unsigned beta = simplified ? 5 : 3, bias = simplified ? 3 : 4;
  if (failed(expectOperands(node, 3, simplified ? 4 : 5)) ||
      failed(expectFloat(node, 0)) || failed(expectRankAtLeast(node, 0, 2)) ||
      failed(expectBroadcastTo(node, 1, node.shape(0))))
    return failure();
  for (unsigned i = 1; i < node.numOperands(); ++i)
    if (node.hasOperand(i) && failed(expectSameType(node, i)))
      return failure();
  for (unsigned i = 2; i < node.numOperands(); ++i)
    if (node.hasOperand(i) &&
        failed(expectShape(node, i, {node.shape(0).back()})))
      return failure();
  for (unsigned i : {1, 2})
    if (node.hasResult(i))
      return node.unsupported("with its statistics as results");
  int64_t last = node.rank(0) - 1;
  Type element = node.tensorType(0).getElementType();
  Value sum = addSkip(node, bias);
  Moments moments;
  if (simplified)
    moments.variance = {
        meanOver(node.b, sum, {last},
                 [](FloatScalars &s, Value x) { return s.mul(x, x); }),
        otherAxes(last + 1, {last})};
  else
    moments = momentsOver(node.b, sum, {last});
  double epsilon = node.floatAttribute("epsilon", 1e-12f);
  SmallVector<Aligned> others{moments.variance, {node.operand(2), {last}}};
  if (!simplified)
    others.push_back(moments.mean);
  if (node.hasOperand(beta))
    others.push_back({node.operand(beta), {last}});
  Value result = alignedElementwise(
      node.b, sum, others, computeType(element), element,
      [&](FloatScalars &s, ValueRange args) {
        Value deviation = s.sqrt(s.add(args[1], s.constant(epsilon)));
        Value x = simplified ? args[0] : s.sub(args[0], args[3]);
        Value y = s.mul(s.div(x, deviation), args[2]);
        return args.size() > 4 ? s.add(y, args[4]) : y;
      });
  node.setResult(0, result, node.operandType(0));
  node.setResult(3, sum, node.operandType(0));
  return success();
}

void ashlar::onnx_import::registerSkipNormalizationsOperators(
    OperatorRegistry &registry) {
  constexpr StringLiteral domain = "com.microsoft";
  registry.add("SkipLayerNormalization", 1, importSkip<false>, domain);
  registry.add("SkipSimplifiedLayerNormalization", 1, importSkip<true>, domain);
}
