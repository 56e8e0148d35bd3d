// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RecurrentActivation.h"
#include "../OperandRules.h"
#include "onnx-ml.pb.h"

using namespace mlir;
using namespace ashlar::onnx_import;

namespace {
struct Known {
  llvm::StringLiteral name;
  /// Which parameters it takes, and what they are when not given.
  bool hasAlpha, hasBeta;
  double alpha, beta;
};
} // namespace

static constexpr Known knownActivations[] = {
    {"relu", false, false, 0, 0},        {"tanh", false, false, 0, 0},
    {"sigmoid", false, false, 0, 0},     {"affine", true, true, 1, 0},
    {"leakyrelu", true, false, 0.01, 0}, {"thresholdedrelu", true, false, 1, 0},
    {"scaledtanh", true, true, 1, 1},    {"hardsigmoid", true, true, 0.2, 0.5},
    {"elu", true, false, 1, 0},          {"softsign", false, false, 0, 0},
    {"softplus", false, false, 0, 0}};

FailureOr<SmallVector<RecurrentActivation>>
ashlar::onnx_import::readRecurrentActivations(
    NodeImporter &node, ArrayRef<llvm::StringRef> defaults,
    int64_t directions) {
  SmallVector<std::string> names;
  if (const onnx::AttributeProto *given = node.attribute("activations"))
    names.assign(given->strings().begin(), given->strings().end());
  if (names.empty())
    for (int64_t i = 0; i != directions; ++i)
      for (llvm::StringRef name : defaults)
        names.push_back(name.str());
  if (names.size() != defaults.size() * directions)
    return node.invalid("attribute 'activations' names " + Twine(names.size()) +
                        " functions; expected " +
                        Twine(defaults.size() * directions));
  // Parameters are listed for the functions that take some, in turn.
  SmallVector<double> alphas = node.floatsAttribute("activation_alpha");
  SmallVector<double> betas = node.floatsAttribute("activation_beta");
  size_t nextAlpha = 0, nextBeta = 0;
  SmallVector<RecurrentActivation> result;
  for (const std::string &name : names) {
    std::string lower = llvm::StringRef(name).lower();
    const Known *known = llvm::find_if(
        knownActivations, [&](const Known &k) { return k.name == lower; });
    if (known == std::end(knownActivations))
      return node.invalid("attribute 'activations' names '" + name +
                          "', which is no activation of this operator");
    RecurrentActivation activation{lower, known->alpha, known->beta};
    if (known->hasAlpha && nextAlpha < alphas.size())
      activation.alpha = alphas[nextAlpha++];
    if (known->hasBeta && nextBeta < betas.size())
      activation.beta = betas[nextBeta++];
    result.push_back(activation);
  }
  return result;
}

Value ashlar::onnx_import::applyRecurrentActivation(
    FloatScalars &s, const RecurrentActivation &activation, Value x) {
  llvm::StringRef name = activation.name;
  Value zero = s.constant(0), one = s.constant(1);
  Value alpha = s.constant(activation.alpha);
  Value beta = s.constant(activation.beta);
  if (name == "relu")
    return s.max(x, zero);
  if (name == "tanh")
    return s.tanh(x);
  if (name == "sigmoid")
    return s.sigmoid(x);
  if (name == "affine")
    return s.add(s.mul(alpha, x), beta);
  if (name == "leakyrelu")
    return s.select(s.less(x, zero), s.mul(alpha, x), x);
  if (name == "thresholdedrelu")
    return s.select(s.less(x, alpha), zero, x);
  if (name == "scaledtanh")
    return s.mul(alpha, s.tanh(s.mul(beta, x)));
  if (name == "hardsigmoid")
    return s.min(s.max(s.add(s.mul(alpha, x), beta), zero), one);
  if (name == "elu")
    return s.select(s.less(x, zero), s.mul(alpha, s.sub(s.exp(x), one)), x);
  if (name == "softsign")
    return s.div(x, s.add(one, s.abs(x)));
  return s.softplus(x);
}
