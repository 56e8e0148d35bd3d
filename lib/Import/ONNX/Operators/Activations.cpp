// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Activation functions of one float.
#include "../OperandRules.h"
#include "../ScalarBuilder.h"

using namespace mlir;
using namespace ashlar::onnx_import;

static LogicalResult importFloat(NodeImporter &node, FloatBody body) {
  Type type = node.tensorType(0).getElementType();
  node.setResult(0, floatElementwise(node.b, {node.operand(0)}, type, body),
                 node.operandType(0));
  return success();
}

static LogicalResult importLeakyRelu(NodeImporter &node) {
  double alpha = node.floatAttribute("alpha", 0.01f);
  return importFloat(node, [&](FloatScalars &s, ValueRange args) {
    Value scaled = s.mul(args[0], s.constant(alpha));
    return s.select(s.less(args[0], s.constant(0)), scaled, args[0]);
  });
}

static LogicalResult importElu(NodeImporter &node) {
  double alpha = node.floatAttribute("alpha", 1);
  return importFloat(node, [&](FloatScalars &s, ValueRange args) {
    Value x = args[0];
    Value curve = s.mul(s.constant(alpha), s.make<math::ExpM1Op>(x));
    return s.select(s.less(x, s.constant(0)), curve, x);
  });
}

static LogicalResult importSelu(NodeImporter &node) {
  // The defaults are those of the operator's definition.
  double alpha = node.floatAttribute("alpha", 1.67326319217681884765625);
  double gamma = node.floatAttribute("gamma", 1.05070102214813232421875);
  return importFloat(node, [&](FloatScalars &s, ValueRange args) {
    Value x = args[0];
    Value curve = s.mul(s.constant(alpha), s.make<math::ExpM1Op>(x));
    Value chosen = s.select(s.greater(x, s.constant(0)), x, curve);
    return s.mul(s.constant(gamma), chosen);
  });
}

static LogicalResult importCelu(NodeImporter &node) {
  double alpha = node.floatAttribute("alpha", 1);
  return importFloat(node, [&](FloatScalars &s, ValueRange args) {
    Value x = args[0], zero = s.constant(0);
    Value inner = s.make<math::ExpM1Op>(s.div(x, s.constant(alpha)));
    Value curve = s.mul(s.constant(alpha), inner);
    return s.add(s.max(x, zero), s.min(curve, zero));
  });
}

static LogicalResult importThresholdedRelu(NodeImporter &node) {
  double alpha = node.floatAttribute("alpha", 1);
  return importFloat(node, [&](FloatScalars &s, ValueRange args) {
    return s.select(s.greater(args[0], s.constant(alpha)), args[0],
                    s.constant(0));
  });
}

static LogicalResult importSigmoid(NodeImporter &node) {
  return importFloat(node, [](FloatScalars &s, ValueRange args) {
    return s.sigmoid(args[0]);
  });
}

/// max(0, min(1, alpha * x + beta))
static Value hardSigmoid(FloatScalars &s, Value x, double alpha, double beta) {
  Value line = s.add(s.mul(x, s.constant(alpha)), s.constant(beta));
  return s.max(s.min(line, s.constant(1)), s.constant(0));
}

static LogicalResult importHardSigmoid(NodeImporter &node) {
  double alpha = node.floatAttribute("alpha", 0.2f);
  double beta = node.floatAttribute("beta", 0.5);
  return importFloat(node, [&](FloatScalars &s, ValueRange args) {
    return hardSigmoid(s, args[0], alpha, beta);
  });
}

static LogicalResult importHardSwish(NodeImporter &node) {
  return importFloat(node, [](FloatScalars &s, ValueRange args) {
    return s.mul(args[0], hardSigmoid(s, args[0], 1.0 / 6, 0.5));
  });
}

static LogicalResult importSoftplus(NodeImporter &node) {
  return importFloat(node, [](FloatScalars &s, ValueRange args) {
    return s.softplus(args[0]);
  });
}

static LogicalResult importSoftsign(NodeImporter &node) {
  return importFloat(node, [](FloatScalars &s, ValueRange args) {
    return s.div(args[0], s.add(s.constant(1), s.abs(args[0])));
  });
}

static LogicalResult importGelu(NodeImporter &node) {
  std::string form = node.stringAttribute("approximate", "none");
  if (form != "none" && form != "tanh")
    return node.invalid("expected attribute 'approximate' to be none or tanh, "
                        "found '" +
                        form + "'");
  return importFloat(node, [&](FloatScalars &s, ValueRange args) {
    return form == "none" ? s.gelu(args[0]) : s.tanhGelu(args[0]);
  });
}

static LogicalResult importMish(NodeImporter &node) {
  return importFloat(node, [](FloatScalars &s, ValueRange args) {
    return s.mul(args[0], s.tanh(s.softplus(args[0])));
  });
}

static LogicalResult importSwish(NodeImporter &node) {
  double alpha = node.floatAttribute("alpha", 1);
  return importFloat(node, [&](FloatScalars &s, ValueRange args) {
    Value gate = alpha == 1 ? args[0] : s.mul(args[0], s.constant(alpha));
    return s.mul(args[0], s.sigmoid(gate));
  });
}

/// Swish of one operand times the other.
static LogicalResult importSwiGLU(NodeImporter &node) {
  if (failed(expectShape(node, 1, node.shape(0))))
    return failure();
  double alpha = node.floatAttribute("alpha", 1);
  Type element = node.tensorType(0).getElementType();
  Value result = floatElementwise(
      node.b, {node.operand(0), node.operand(1)}, element,
      [&](FloatScalars &s, ValueRange args) {
        Value gate = alpha == 1 ? args[0] : s.mul(args[0], s.constant(alpha));
        // Each step in the operands' own type, as it is defined.
        auto round = [&](Value x) { return roundTo(s.b, s.loc, x, element); };
        Value swish = round(s.mul(args[0], round(s.sigmoid(round(gate)))));
        return s.mul(swish, args[1]);
      });
  node.setResult(0, result, node.operandType(0));
  return success();
}

void ashlar::onnx_import::registerActivationsOperators(
    OperatorRegistry &registry) {
  registry.add("LeakyRelu", 6, importLeakyRelu);
  registry.add("Elu", 6, importElu);
  registry.add("Selu", 6, importSelu);
  registry.add("Celu", 12, importCelu);
  registry.add("ThresholdedRelu", 10, importThresholdedRelu);
  registry.add("Sigmoid", 6, importSigmoid);
  registry.add("HardSigmoid", 6, importHardSigmoid);
  registry.add("HardSwish", 14, importHardSwish);
  registry.add("Softplus", 1, importSoftplus);
  registry.add("Softsign", 1, importSoftsign);
  registry.add("Gelu", 20, importGelu);
  registry.add("Mish", 18, importMish);
  registry.add("Swish", 24, importSwish);
  registry.add("SwiGLU", 28, importSwiGLU);
}
