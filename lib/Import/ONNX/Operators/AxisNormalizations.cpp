// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Normalizations over axes that the node names: layer, root mean square, mean
// and variance, Lp.
#include "../OperandRules.h"
#include "../ReductionBuilder.h"

using namespace mlir;
using namespace ashlar::onnx_import;

/// A parameter that broadcasts to operand 0.
static FailureOr<Aligned> parameter(NodeImporter &node, unsigned i) {
  if (failed(expectBroadcastTo(node, i, node.shape(0))))
    return failure();
  int64_t rank = node.rank(0);
  return Aligned{node.operand(i), allAxes(rank, rank - node.rank(i))};
}

/// `aligned` with the axes that it lacks, as sizes of one.
static Value keepAxes(NodeImporter &node, const Aligned &aligned) {
  SmallVector<int64_t> shape(node.rank(0), 1);
  for (int64_t dim : aligned.dims)
    shape[dim] = node.shape(0)[dim];
  return reshape(node.b, aligned.value, shape);
}

/// The type in which statistics are given as results.
static FailureOr<ElementType> stashType(NodeImporter &node) {
  int64_t stash = node.intAttribute("stash_type", 1);
  auto type = static_cast<ElementType>(stash);
  if (!isFloat(type))
    return node.invalid("expected attribute 'stash_type' to name a float type, "
                        "found " +
                        Twine(stash));
  return type;
}

/// 1 / sqrt(variance + epsilon)
static Aligned inverseDeviation(NodeImporter &node, const Aligned &variance) {
  double epsilon = node.floatAttribute("epsilon", 1e-5f);
  Value inverse = floatElementwise(
      node.b, {variance.value}, getElementTypeOrSelf(variance.value),
      [&](FloatScalars &s, ValueRange args) {
        Value sum = s.add(args[0], s.constant(epsilon));
        return s.div(s.constant(1), s.sqrt(sum));
      });
  return {inverse, variance.dims};
}

static LogicalResult importLayerNormalization(NodeImporter &node) {
  FailureOr<int64_t> axis =
      node.normalizeAxis(node.intAttribute("axis", -1), node.rank(0));
  FailureOr<ElementType> stash = stashType(node);
  FailureOr<Aligned> scale = parameter(node, 1);
  if (failed(axis) || failed(stash) || failed(scale))
    return failure();
  ElementType type = node.operandType(0), wide = computeType(type);
  Moments moments =
      momentsOver(node.b, node.operand(0), allAxes(node.rank(0), *axis));
  Aligned inverse = inverseDeviation(node, moments.variance);
  SmallVector<Aligned> others = {moments.mean, inverse, *scale};
  if (node.hasOperand(2)) {
    FailureOr<Aligned> bias = parameter(node, 2);
    if (failed(bias))
      return failure();
    others.push_back(*bias);
  }
  Value result = alignedElementwise(
      node.b, node.operand(0), others, getElementTypeOrSelf(moments.mean.value),
      node.tensorType(0).getElementType(),
      [&](FloatScalars &s, ValueRange args) {
        Value y = s.mul(s.sub(args[0], args[1]), args[2]);
        y = s.mul(y, args[3]);
        return args.size() > 4 ? s.add(y, args[4]) : y;
      });
  node.setResult(0, result, type);
  auto setStatistic = [&](unsigned i, const Aligned &statistic) {
    if (node.hasResult(i))
      node.setResult(
          i, castTensor(node.b, keepAxes(node, statistic), wide, *stash),
          *stash);
  };
  setStatistic(1, moments.mean);
  setStatistic(2, inverse);
  return success();
}

static LogicalResult importRMSNormalization(NodeImporter &node) {
  FailureOr<int64_t> axis =
      node.normalizeAxis(node.intAttribute("axis", -1), node.rank(0));
  FailureOr<ElementType> stash = stashType(node);
  FailureOr<Aligned> scale = parameter(node, 1);
  if (failed(axis) || failed(stash) || failed(scale))
    return failure();
  Value x = node.operand(0);
  SmallVector<int64_t> axes = allAxes(node.rank(0), *axis);
  Aligned meanSquare = {
      meanOver(node.b, x, axes,
               [](FloatScalars &s, Value x) { return s.mul(x, x); }),
      otherAxes(node.rank(0), axes)};
  Aligned inverse = inverseDeviation(node, meanSquare);
  // The scale may have another type than x, which the result has.
  Type element = convertElementType(node.b.getContext(), node.operandType(1));
  Value result = alignedElementwise(
      node.b, x, {inverse, *scale}, getElementTypeOrSelf(inverse.value),
      element, [](FloatScalars &s, ValueRange args) {
        return s.mul(s.mul(args[0], args[1]), args[2]);
      });
  node.setResult(0, result, node.operandType(1));
  return success();
}

/// The same before ONNX had it, not checked against any definition.
static LogicalResult importSimplified(NodeImporter &node) {
  if (failed(expectOperands(node, 2, 2)) || failed(expectFloat(node, 0)) ||
      failed(expectFloat(node, 1)))
    return failure();
  return importRMSNormalization(node);
}

/// ONNX Runtime's optimizer writes it into models of older operator sets.
static LogicalResult importEarlierLayerNormalization(NodeImporter &node) {
  if (failed(expectOperands(node, 2, 3)))
    return failure();
  for (unsigned i = 0; i != node.numOperands(); ++i)
    if (node.hasOperand(i) && failed(expectFloat(node, i)))
      return failure();
  return importLayerNormalization(node);
}

/// (x - mean) / (deviation + 1e-9)
static LogicalResult importMeanVarianceNormalization(NodeImporter &node) {
  SmallVector<int64_t> axes = {0, 2, 3};
  if (node.hasAttribute("axes")) {
    FailureOr<SmallVector<int64_t>> given = node.axes(1, node.rank(0));
    if (failed(given))
      return failure();
    axes = *given;
  } else if (failed(expectRankAtLeast(node, 0, 4))) {
    return failure();
  }
  Type element = node.tensorType(0).getElementType();
  Moments moments = momentsOver(node.b, node.operand(0), axes);
  Value result = alignedElementwise(
      node.b, node.operand(0), {moments.mean, moments.variance},
      computeType(element), element, [](FloatScalars &s, ValueRange args) {
        Value deviation = s.add(s.sqrt(args[2]), s.constant(1e-9));
        return s.div(s.sub(args[0], args[1]), deviation);
      });
  node.setResult(0, result, node.operandType(0));
  return success();
}

static LogicalResult importLpNormalization(NodeImporter &node) {
  FailureOr<int64_t> axis =
      node.normalizeAxis(node.intAttribute("axis", -1), node.rank(0));
  if (failed(axis))
    return failure();
  int64_t p = node.intAttribute("p", 2);
  if (p != 1 && p != 2)
    return node.invalid("expected attribute 'p' to be 1 or 2, found " +
                        Twine(p));
  Value x = node.operand(0);
  Type element = node.tensorType(0).getElementType();
  Value sum = sumOver(node.b, x, *axis, [&](FloatScalars &s, Value x) {
    return p == 1 ? s.abs(x) : s.mul(x, x);
  });
  Aligned norm = {floatElementwise(node.b, {sum}, getElementTypeOrSelf(sum),
                                   [&](FloatScalars &s, ValueRange args) {
                                     return p == 1 ? args[0] : s.sqrt(args[0]);
                                   }),
                  otherAxes(node.rank(0), *axis)};
  Value result = alignedElementwise(
      node.b, x, norm, computeType(element), element,
      [](FloatScalars &s, ValueRange args) {
        // What has no length stays zero.
        Value isZero =
            s.compare(FloatScalars::Predicate::OEQ, args[1], s.constant(0));
        return s.select(isZero, s.constant(0), s.div(args[0], args[1]));
      });
  node.setResult(0, result, node.operandType(0));
  return success();
}

void ashlar::onnx_import::registerAxisNormalizationsOperators(
    OperatorRegistry &registry) {
  registry.add("LayerNormalization", 1, importEarlierLayerNormalization);
  registry.add("LayerNormalization", 17, importLayerNormalization);
  registry.add("RMSNormalization", 23, importRMSNormalization);
  // ONNX Runtime's, which puts it into ONNX's own domain.
  registry.add("SimplifiedLayerNormalization", 1, importSimplified);
  registry.add("MeanVarianceNormalization", 9, importMeanVarianceNormalization);
  registry.add("LpNormalization", 1, importLpNormalization);
}
