// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// com.microsoft: Gelu, BiasGelu, FastGelu and QuickGelu, which ONNX Runtime's
// optimizer makes of the nodes that spell them out.
#include "../OperandRules.h"
#include "../ScalarBuilder.h"

using namespace mlir;
using namespace ashlar::onnx_import;

namespace {
enum class Form { Erf, Tanh, Quick };
} // namespace

/// Operand 1, where it is there, is a vector that is added along the last axis.
template <Form form>
static LogicalResult importFused(NodeImporter &node, unsigned required) {
  if (failed(expectOperands(node, required, 2)) || failed(expectFloat(node, 0)))
    return failure();
  if (node.hasOperand(1)) {
    if (failed(expectRankAtLeast(node, 0, 1)) ||
        failed(expectSameType(node, 1)) ||
        failed(expectShape(node, 1, {node.shape(0).back()})))
      return failure();
  }
  double alpha = node.floatAttribute("alpha", 1.702);
  Type element = node.tensorType(0).getElementType();
  SmallVector<Value> inputs{node.operand(0)};
  if (node.hasOperand(1))
    inputs.push_back(node.operand(1));
  Value result = floatElementwise(
      node.b, inputs, element, [&](FloatScalars &s, ValueRange args) {
        Value x = args.size() > 1 ? s.add(args[0], args[1]) : args[0];
        return form == Form::Erf ? s.gelu(x)
               : form == Form::Tanh
                   ? s.tanhGelu(x)
                   : s.mul(x, s.sigmoid(s.mul(x, s.constant(alpha))));
      });
  node.setResult(0, result, node.operandType(0));
  return success();
}

template <Form form, unsigned required>
static LogicalResult importActivation(NodeImporter &node) {
  return importFused<form>(node, required);
}

void ashlar::onnx_import::registerFusedActivationsOperators(
    OperatorRegistry &registry) {
  constexpr StringLiteral domain = "com.microsoft";
  registry.add("Gelu", 1, importActivation<Form::Erf, 1>, domain);
  registry.add("BiasGelu", 1, importActivation<Form::Erf, 2>, domain);
  registry.add("FastGelu", 1, importActivation<Form::Tanh, 1>, domain);
  registry.add("QuickGelu", 1, importActivation<Form::Quick, 1>, domain);
}
