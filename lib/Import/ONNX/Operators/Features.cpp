// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ai.onnx.ml: the operators whose operands and results are tensors of numbers,
// as the nodes of ai.onnx that they stand for. What scikit-learn's exporter
// writes around products and sums is mostly ArrayFeatureExtractor.
#include "../Composition.h"
#include "../OperandRules.h"
#include <cmath>

using namespace mlir;
using namespace ashlar::onnx_import;

static bool isNumber(ElementType type) {
  return isFloat(type) || isInteger(type);
}

/// One operand of numbers and at least one axis, the last one of features.
static LogicalResult expectFeatures(NodeImporter &node) {
  if (failed(expectOperands(node, 1, 1)) ||
      failed(expectRankAtLeast(node, 0, 1)))
    return failure();
  if (!isNumber(node.operandType(0)))
    return node.invalid("expected numbers, found " +
                        elementTypeName(node.operandType(0)));
  return success();
}

/// An attribute with a number for each feature, or with one for all.
static LogicalResult expectPerFeature(NodeImporter &node, StringRef name,
                                      size_t count) {
  int64_t features = node.shape(0).back();
  if (count == 1 || int64_t(count) == features)
    return success();
  return node.invalid("attribute '" + name + "' has " + Twine(count) +
                      " values; expected one, or " + Twine(features) +
                      ", one for each feature");
}

static Composition::Name asFloat(Composition &c, NodeImporter &node) {
  return c.cast(c.operand(0), ElementType::F32);
}

/// The features that operand 1 names.
static LogicalResult importArrayFeatureExtractor(NodeImporter &node) {
  if (failed(expectOperands(node, 2, 2)) ||
      failed(expectRankAtLeast(node, 0, 1)) || failed(expectIndexType(node, 1)))
    return failure();
  Composition c(node);
  auto x = c.operand(0);
  if (node.rank(0) == 1)
    x = c.reshape(x, {1, node.shape(0)[0]});
  int64_t count = node.tensorType(1).getNumElements();
  return c.import(
      {c.add("Gather", {x, c.reshape(c.operand(1), {count})}, {{"axis", -1}})});
}

static LogicalResult importBinarizer(NodeImporter &node) {
  if (failed(expectFeatures(node)))
    return failure();
  Composition c(node);
  ElementType type = node.operandType(0);
  auto threshold = c.number(node.floatAttribute("threshold", 0));
  auto isAbove =
      c.add("Greater", {isFloat(type) ? c.operand(0) : asFloat(c, node),
                        isFloat(type) ? c.cast(threshold, type) : threshold});
  return c.import({c.cast(isAbove, type)});
}

static LogicalResult importScaler(NodeImporter &node) {
  SmallVector<double> offset = node.floatsAttribute("offset");
  SmallVector<double> scale = node.floatsAttribute("scale");
  if (failed(expectFeatures(node)) ||
      failed(expectPerFeature(node, "offset", offset.size())) ||
      failed(expectPerFeature(node, "scale", scale.size())))
    return failure();
  Composition c(node);
  auto moved = c.add("Sub", {asFloat(c, node), c.floats(offset)});
  return c.import({c.add("Mul", {moved, c.floats(scale)})});
}

/// Divides rows by a norm, where that is not zero.
static LogicalResult importNormalizer(NodeImporter &node) {
  std::string norm = node.stringAttribute("norm", "MAX");
  if (failed(expectFeatures(node)) ||
      failed(expectOneOf(node, "attribute 'norm'", norm, {"MAX", "L1", "L2"})))
    return failure();
  Composition c(node);
  auto x = asFloat(c, node);
  auto size = c.add(norm == "MAX"  ? "ReduceMax"
                    : norm == "L1" ? "ReduceL1"
                                   : "ReduceL2",
                    {x, c.ints({-1})}, {{"keepdims", 1}});
  auto isZero = c.add("Equal", {size, c.number(0)});
  auto divisor = c.add("Where", {isZero, c.number(1), size});
  return c.import({c.add("Div", {x, divisor})});
}

/// What stands for a missing value is replaced, feature by feature.
static LogicalResult importImputer(NodeImporter &node) {
  if (failed(expectFeatures(node)))
    return failure();
  ElementType type = node.operandType(0);
  Composition c(node);
  Composition::Name isMissing, imputed;
  if (isFloat(type)) {
    SmallVector<double> values = node.floatsAttribute("imputed_value_floats");
    if (failed(expectPerFeature(node, "imputed_value_floats", values.size())))
      return failure();
    double missing = node.floatAttribute("replaced_value_float", 0);
    isMissing =
        std::isnan(missing)
            ? c.add("IsNaN", {c.operand(0)})
            : c.add("Equal", {c.operand(0), c.cast(c.number(missing), type)});
    imputed = c.cast(c.floats(values), type);
  } else {
    SmallVector<int64_t> values = node.intsAttribute("imputed_value_int64s");
    if (failed(expectPerFeature(node, "imputed_value_int64s", values.size())))
      return failure();
    isMissing =
        c.add("Equal",
              {c.operand(0),
               c.integer(node.intAttribute("replaced_value_int64", 0), type)});
    imputed = c.cast(c.ints(values), type);
  }
  return c.import({c.add("Where", {isMissing, imputed, c.operand(0)})});
}

/// A flag for each of the categories, which are numbers.
static LogicalResult importOneHotEncoder(NodeImporter &node) {
  if (failed(expectOperands(node, 1, 1)))
    return failure();
  SmallVector<int64_t> categories = node.intsAttribute("cats_int64s");
  if (categories.empty())
    return node.unsupported("of categories that are strings");
  if (node.intAttribute("zeros", 1) == 0)
    return node.unsupported("that fails at what is none of its categories "
                            "(attribute 'zeros' is 0)");
  if (!isNumber(node.operandType(0)))
    return node.invalid("expected numbers, found " +
                        elementTypeName(node.operandType(0)));
  Composition c(node);
  auto number = c.cast(c.operand(0), ElementType::I64);
  auto isOne = c.add("Equal", {c.add("Unsqueeze", {number, c.ints({-1})}),
                               c.ints(categories)});
  return c.import({c.cast(isOne, ElementType::F32)});
}

/// The scores of rows: X times the transposed coefficients, with intercepts.
static FailureOr<Composition::Name>
linearScores(NodeImporter &node, Composition &c, int64_t targets) {
  if (failed(expectFeatures(node)) || failed(expectRank(node, 0, 2)))
    return failure();
  SmallVector<double> weights = node.floatsAttribute("coefficients");
  SmallVector<double> bias = node.floatsAttribute("intercepts");
  int64_t features = node.shape(0)[1];
  if (targets < 1 || int64_t(weights.size()) % targets != 0 ||
      int64_t(weights.size()) / targets != features)
    return node.invalid("attribute 'coefficients' has " +
                        Twine(weights.size()) + " values; expected " +
                        Twine(targets) + " rows of " + Twine(features));
  if (!bias.empty() && int64_t(bias.size()) != targets)
    return node.invalid("attribute 'intercepts' has " + Twine(bias.size()) +
                        " values; expected " + Twine(targets));
  auto matrix = c.reshape(c.floats(weights), {targets, features});
  auto product = c.add("Gemm", {asFloat(c, node), matrix}, {{"transB", 1}});
  return bias.empty() ? product : c.add("Add", {product, c.floats(bias)});
}

static FailureOr<Composition::Name>
transformScores(NodeImporter &node, Composition &c, Composition::Name x) {
  std::string transform = node.stringAttribute("post_transform", "NONE");
  if (transform == "NONE")
    return x;
  if (transform == "SOFTMAX")
    return c.add("Softmax", {x}, {{"axis", -1}});
  if (transform == "LOGISTIC")
    return c.add("Sigmoid", {x});
  return node.unsupported("with a post_transform of '" + transform + "'");
}

static LogicalResult importLinearRegressor(NodeImporter &node) {
  Composition c(node);
  auto scores = linearScores(node, c, node.intAttribute("targets", 1));
  if (failed(scores))
    return failure();
  auto result = transformScores(node, c, *scores);
  return failed(result) ? failure() : c.import({*result});
}

/// The label of the best score, and all of them.
static LogicalResult importLinearClassifier(NodeImporter &node) {
  SmallVector<int64_t> labels = node.intsAttribute("classlabels_ints");
  if (labels.empty())
    return node.unsupported("of labels that are strings");
  int64_t classes = node.floatsAttribute("intercepts").size();
  if (classes < 2 || classes != int64_t(labels.size()))
    return node.unsupported("of " + Twine(labels.size()) + " labels and " +
                            Twine(classes) +
                            " intercepts; only as many of both, two or more");
  Composition c(node);
  auto scores = linearScores(node, c, classes);
  if (failed(scores))
    return failure();
  auto best = c.add("ArgMax", {*scores}, {{"axis", 1}, {"keepdims", 0}});
  auto label = c.add("Gather", {c.ints(labels), best});
  auto result = transformScores(node, c, *scores);
  return failed(result) ? failure() : c.import({label, *result});
}

void ashlar::onnx_import::registerFeaturesOperators(
    OperatorRegistry &registry) {
  constexpr StringLiteral domain = "ai.onnx.ml";
  registry.add("ArrayFeatureExtractor", 1, importArrayFeatureExtractor, domain);
  registry.add("Binarizer", 1, importBinarizer, domain);
  registry.add("Imputer", 1, importImputer, domain);
  registry.add("LinearClassifier", 1, importLinearClassifier, domain);
  registry.add("LinearRegressor", 1, importLinearRegressor, domain);
  registry.add("Normalizer", 1, importNormalizer, domain);
  registry.add("OneHotEncoder", 1, importOneHotEncoder, domain);
  registry.add("Scaler", 1, importScaler, domain);
}
