// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// com.microsoft: FusedConv, FusedGemm and EmbedLayerNormalization, as the nodes
// that ONNX Runtime's optimizer made them of.
#include "../Composition.h"
#include "../OperandRules.h"

using namespace mlir;
using namespace ashlar::onnx_import;

namespace {
/// An activation and the names that its parameters have in ai.onnx, with
/// ONNX Runtime's defaults.
struct Activation {
  StringLiteral op;
  SmallVector<std::pair<StringLiteral, double>, 2> parameters;
};
} // namespace

static FailureOr<Composition::Name> activate(NodeImporter &node, Composition &c,
                                             Composition::Name x,
                                             ArrayRef<double> given) {
  static const Activation known[] = {
      {"Relu", {}},
      {"Tanh", {}},
      {"Sigmoid", {}},
      {"Softplus", {}},
      {"Softsign", {}},
      {"Elu", {{"alpha", 1}}},
      {"LeakyRelu", {{"alpha", 0.01}}},
      {"ThresholdedRelu", {{"alpha", 1}}},
      {"HardSigmoid", {{"alpha", 0.2}, {"beta", 0.5}}}};
  std::string op = node.stringAttribute("activation", "");
  if (op.empty())
    return x;
  if (op == "Clip") {
    if (given.size() != 2)
      return node.invalid("expected two parameters of Clip, found " +
                          Twine(given.size()));
    return c.add("Clip", {x, c.number(given[0]), c.number(given[1])});
  }
  for (const Activation &activation : known) {
    if (activation.op != op)
      continue;
    Composition::Attributes attributes;
    for (auto [i, parameter] : llvm::enumerate(activation.parameters))
      attributes.emplace_back(parameter.first,
                              i < given.size() ? given[i] : parameter.second);
    return c.add(op, {x}, attributes);
  }
  return node.unsupported("with activation " + op);
}

/// Conv, a summand and an activation.
static LogicalResult importFusedConv(NodeImporter &node) {
  if (failed(expectOperands(node, 2, 4)))
    return failure();
  Composition c(node);
  auto x = c.addLike("Conv", {c.operand(0), c.operand(1), c.operand(2)});
  if (node.hasOperand(3))
    x = c.add("Add", {x, c.operand(3)});
  auto result = activate(node, c, x, node.floatsAttribute("activation_params"));
  return failed(result) ? failure() : c.import({*result});
}

static LogicalResult importFusedGemm(NodeImporter &node) {
  if (failed(expectOperands(node, 2, 3)))
    return failure();
  SmallVector<double> parameters;
  for (StringRef name :
       {"activation_alpha", "activation_beta", "activation_gamma"})
    if (node.hasAttribute(name))
      parameters.push_back(node.floatAttribute(name, 0));
  Composition c(node);
  auto x = c.addLike("Gemm", {c.operand(0), c.operand(1), c.operand(2)});
  auto result = activate(node, c, x, parameters);
  return failed(result) ? failure() : c.import({*result});
}

/// Operands: words' and segments' numbers, the tables of words, positions and
/// segments, gamma, beta, a mask, the positions' numbers.
static LogicalResult importEmbedLayerNormalization(NodeImporter &node) {
  for (unsigned i : {0, 2, 3, 5, 6})
    if (!node.hasOperand(i))
      return node.invalid("input " + Twine(i) + " is missing");
  if (failed(expectRank(node, 0, 2)))
    return failure();
  if (node.hasOperand(1) != node.hasOperand(4))
    return node.invalid("expected segments' numbers and their table, or "
                        "neither");
  Composition c(node);
  auto positions = c.operand(8);
  if (positions.empty())
    positions = c.add("Range", {c.integer(0, ElementType::I64),
                                c.integer(node.shape(0)[1], ElementType::I64),
                                c.integer(1, ElementType::I64)});
  auto sum = c.add("Add", {c.add("Gather", {c.operand(2), c.operand(0)}),
                           c.add("Gather", {c.operand(3), positions})});
  if (node.hasOperand(1))
    sum = c.add("Add", {sum, c.add("Gather", {c.operand(4), c.operand(1)})});
  auto result =
      c.add("LayerNormalization", {sum, c.operand(5), c.operand(6)},
            {{"axis", -1}, {"epsilon", node.floatAttribute("epsilon", 1e-12)}});
  // How many words each row has.
  Composition::Name counts;
  if (node.hasOperand(7)) {
    auto isWord =
        c.add("Equal", {c.operand(7), c.integer(1, ElementType::I32)});
    counts = c.add("ReduceSum", {c.cast(isWord, ElementType::I32), c.ints({1})},
                   {{"keepdims", 0}});
  } else {
    counts = c.add(
        "Expand", {c.integer(0, ElementType::I32), c.ints({node.shape(0)[0]})});
  }
  return c.import({result, counts, sum});
}

void ashlar::onnx_import::registerFusedLayersOperators(
    OperatorRegistry &registry) {
  constexpr StringLiteral domain = "com.microsoft";
  registry.add("FusedConv", 1, importFusedConv, domain);
  registry.add("FusedGemm", 1, importFusedGemm, domain);
  registry.add("EmbedLayerNormalization", 1, importEmbedLayerNormalization,
               domain);
}
