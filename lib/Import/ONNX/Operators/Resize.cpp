// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Resize and Upsample. Where each element of the result comes from is known at
// compile time, axis by axis: which elements of the input and with what
// weights. Nearest neighbours that repeat or skip evenly are views; the rest
// is a weighted sum along one axis after another.
#include "../OperandRules.h"
#include "../TensorBuilder.h"
#include "AxisTables.h"
#include "ComputedResize.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <cmath>

using namespace mlir;
using namespace ashlar::onnx_import;

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

/// How the places of one axis follow each other: each comes `repeat` times,
/// or they begin at `first` and go on by `step`; neither: a table says.
namespace {
struct PlacePattern {
  int64_t repeat = 0, first = 0, step = 0;
};
} // namespace

static PlacePattern findPattern(const AxisSampling &sampling, int64_t dim) {
  ArrayRef<int64_t> places = sampling.places;
  int64_t count = places.size();
  PlacePattern pattern;
  int64_t step = count > 1 ? places[1] - places[0] : 1;
  bool repeats = count % dim == 0, steps = step >= 1;
  for (int64_t i = 0; i != count && (repeats || steps); ++i) {
    repeats = repeats && places[i] == i / (count / dim);
    steps = steps && places[i] == places[0] + i * step;
  }
  if (repeats)
    pattern.repeat = count / dim;
  else if (steps)
    pattern.first = places[0], pattern.step = step;
  return pattern;
}

static Value skipElements(ImplicitLocOpBuilder &b, Value value,
                          const AxisSampling &sampling,
                          const PlacePattern &pattern) {
  SmallVector<int64_t> shape(shapeOf(value));
  SmallVector<int64_t> offsets(shape.size(), 0), strides(shape.size(), 1);
  offsets[sampling.axis] = pattern.first;
  strides[sampling.axis] = pattern.step;
  shape[sampling.axis] = sampling.size;
  return slice(b, value, offsets, shape, strides);
}

static Value repeatElements(ImplicitLocOpBuilder &b, Value value,
                            const AxisSampling &sampling,
                            const PlacePattern &pattern) {
  SmallVector<int64_t> shape(shapeOf(value)), split = shape;
  split.insert(split.begin() + sampling.axis + 1, 1);
  Value copies = reshape(b, value, split);
  split[sampling.axis + 1] = pattern.repeat;
  shape[sampling.axis] = sampling.size;
  return reshape(b, broadcastTo(b, copies, split), shape);
}

static Value resizeNearest(ImplicitLocOpBuilder &b, Value value,
                           ArrayRef<AxisSampling> samplings) {
  SmallVector<AxisSampling> rest;
  SmallVector<PlacePattern> patterns;
  // What takes elements away comes first.
  for (const AxisSampling &sampling : samplings) {
    patterns.push_back(findPattern(sampling, shapeOf(value)[sampling.axis]));
    if (patterns.back().step != 0)
      value = skipElements(b, value, sampling, patterns.back());
    else if (patterns.back().repeat == 0)
      rest.push_back(sampling);
  }
  for (auto [sampling, pattern] : llvm::zip(samplings, patterns))
    if (pattern.repeat != 0)
      value = repeatElements(b, value, sampling, pattern);
  if (rest.empty())
    return value;
  SmallVector<AxisTables> tables;
  for (const AxisSampling &sampling : rest)
    tables.push_back(makeTables(b, sampling));
  return gatherNearest(b, value, tables);
}

/// Reads what says how large the result is: a factor and a size for each axis
/// that is resized.
static LogicalResult readTargets(NodeImporter &node, ArrayRef<int64_t> axes,
                                 std::optional<unsigned> scalesOperand,
                                 std::optional<unsigned> sizesOperand,
                                 SmallVector<AxisTarget> &targets) {
  SmallVector<double> scales;
  SmallVector<int64_t> sizes;
  auto isGiven = [&](std::optional<unsigned> i) {
    return i && node.hasOperand(*i) &&
           node.tensorType(*i).getNumElements() != 0;
  };
  if (!scalesOperand) {
    scales = node.floatsAttribute("scales");
  } else if (isGiven(scalesOperand)) {
    auto given = node.constantFloats(*scalesOperand, "the scales");
    if (failed(given))
      return failure();
    scales = *given;
  } else if (isGiven(sizesOperand)) {
    auto given = node.constantInts(*sizesOperand, "the sizes");
    if (failed(given))
      return failure();
    sizes = *given;
  }
  if (std::max(scales.size(), sizes.size()) != axes.size())
    return node.invalid("has " + Twine(scales.size()) + " scales and " +
                        Twine(sizes.size()) + " sizes; expected " +
                        Twine(axes.size()) + " of either");
  std::string policy =
      node.stringAttribute("keep_aspect_ratio_policy", "stretch");
  if (failed(expectOneOf(node, "attribute 'keep_aspect_ratio_policy'", policy,
                         {"stretch", "not_larger", "not_smaller"})))
    return failure();
  double common = 0;
  SmallVector<int64_t> result(node.shape(0));
  for (auto [i, axis] : llvm::enumerate(axes)) {
    int64_t dim = result[axis];
    if (!sizes.empty() && (sizes[i] < 0 || dim == 0))
      return node.invalid("axis " + Twine(axis) + " cannot be resized from " +
                          Twine(dim) + " to " + Twine(sizes[i]) + " elements");
    double scale = sizes.empty() ? scales[i] : double(sizes[i]) / dim;
    if (!(scale >= 0) || scale > 1e9 || (sizes.empty() && scale == 0))
      return node.invalid("the scale of axis " + Twine(axis) + " is " +
                          std::to_string(scale) +
                          "; expected a positive number");
    if (i == 0)
      common = scale;
    common = policy == "not_larger" ? std::min(common, scale)
                                    : std::max(common, scale);
    // In single precision, as the operator's definition infers it.
    int64_t size = sizes.empty()
                       ? int64_t(std::floor(float(dim) * float(scale)))
                       : sizes[i];
    targets.push_back({axis, dim, size, scale});
  }
  for (AxisTarget &target : targets) {
    if (policy != "stretch" && !sizes.empty()) {
      target.scale = common;
      target.size = int64_t(std::floor(common * target.dim + 0.5));
    }
    result[target.axis] = target.size;
  }
  return expectSize(node, result);
}

static FailureOr<SamplingRules> readRules(NodeImporter &node) {
  SamplingRules rules;
  rules.mode = node.stringAttribute("mode", "nearest");
  if (node.opset() < 11) {
    rules.transform = "asymmetric";
    rules.nearest = "floor";
  } else {
    rules.transform =
        node.stringAttribute("coordinate_transformation_mode", "half_pixel");
    rules.nearest = node.stringAttribute("nearest_mode", "round_prefer_floor");
  }
  rules.cubicA = node.floatAttribute("cubic_coeff_a", -0.75);
  rules.excludeOutside = node.intAttribute("exclude_outside", 0) != 0;
  rules.antialias = node.intAttribute("antialias", 0) != 0;
  rules.extrapolation = node.floatAttribute("extrapolation_value", 0);
  if (rules.mode == "bilinear")
    rules.mode = "linear";
  if (failed(expectOneOf(node, "attribute 'mode'", rules.mode,
                         {"nearest", "linear", "cubic"})) ||
      failed(expectOneOf(node, "attribute 'coordinate_transformation_mode'",
                         rules.transform,
                         {"half_pixel", "half_pixel_symmetric",
                          "pytorch_half_pixel", "align_corners", "asymmetric",
                          "tf_crop_and_resize", "tf_half_pixel_for_nn"})) ||
      failed(expectOneOf(
          node, "attribute 'nearest_mode'", rules.nearest,
          {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"})))
    return failure();
  return rules;
}

/// Resizes by tables that `targets` and `rules` make.
static LogicalResult resize(NodeImporter &node, SamplingRules &rules,
                            ArrayRef<AxisTarget> targets) {
  ImplicitLocOpBuilder &b = node.b;
  ElementType type = node.operandType(0);
  SmallVector<AxisSampling> samplings;
  bool extrapolates = rules.transform == "tf_crop_and_resize";
  SmallVector<int64_t> result(node.shape(0));
  for (const AxisTarget &target : targets) {
    result[target.axis] = target.size;
    // Nothing moves along an axis that keeps its size.
    if (target.size == target.dim && target.scale == 1 && !extrapolates)
      continue;
    if (target.size > int64_t(1) << 24)
      return node.unsupported("an axis resized to more than 2^24 elements");
    if (rules.antialias && target.scale < 1.0 / 16)
      return node.unsupported("an antialiasing filter of more than 64 "
                              "elements");
    samplings.push_back(sampleAxis(rules, target));
  }
  Value value = node.operand(0);
  if (ShapedType::getNumElements(result) == 0) {
    Value empty =
        tensor::EmptyOp::create(b, result, node.tensorType(0).getElementType());
    node.setResult(0, empty, type);
    return success();
  }
  // Sizes that depend on data are those of axes that stay as they are.
  SmallVector<Value, 0> sizes(node.sizes(0).begin(), node.sizes(0).end());
  if (rules.mode == "nearest" && !extrapolates) {
    node.setResult(0, {resizeNearest(b, value, samplings), type, sizes});
    return success();
  }
  if (type == ElementType::Bool)
    return node.unsupported("interpolation between values of type bool");
  ElementType wide =
      type == ElementType::F64 ? ElementType::F64 : ElementType::F32;
  value = castTensor(b, value, type, wide);
  for (const AxisSampling &sampling : llvm::reverse(samplings))
    value = interpolate(b, value,
                        makeTables(b, sampling, getElementTypeOrSelf(value)));
  node.setResult(0, {castTensor(b, value, wide, type), type, sizes});
  return success();
}

static LogicalResult importResize(NodeImporter &node) {
  bool old = node.opset() < 11;
  if (failed(expectOperands(node, old ? 2 : 1, old ? 2 : 4)))
    return failure();
  FailureOr<SamplingRules> rules = readRules(node);
  if (failed(rules))
    return failure();
  int64_t rank = node.rank(0);
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (node.hasAttribute("axes")) {
    FailureOr<SmallVector<int64_t>> named = node.axes(node.numOperands(), rank);
    if (failed(named))
      return failure();
    axes = *named;
  }
  if (isResizeComputed(node, axes, old))
    return importComputedResize(node, *rules, axes, old);
  SmallVector<AxisTarget> targets;
  if (failed(readTargets(node, axes, old ? 1 : 2,
                         old ? std::nullopt : std::optional<unsigned>(3),
                         targets)))
    return failure();
  if (rules->transform == "tf_crop_and_resize") {
    if (!node.hasOperand(1))
      return node.invalid("coordinate_transformation_mode is "
                          "'tf_crop_and_resize', but input 1 (roi) is "
                          "missing");
    auto roi = node.constantFloats(1, "the region of interest");
    if (failed(roi))
      return failure();
    if (roi->size() != 2 * axes.size())
      return node.invalid("the region of interest has " + Twine(roi->size()) +
                          " values; expected " + Twine(2 * axes.size()));
    for (auto [i, target] : llvm::enumerate(targets)) {
      target.roiStart = (*roi)[i];
      target.roiEnd = (*roi)[axes.size() + i];
    }
  }
  return resize(node, *rules, targets);
}

static LogicalResult importUpsample(NodeImporter &node) {
  bool byAttribute = node.opset() < 9;
  if (failed(expectOperands(node, byAttribute ? 1 : 2, byAttribute ? 1 : 2)))
    return failure();
  SamplingRules rules;
  rules.mode = node.stringAttribute("mode", "nearest");
  if (rules.mode == "bilinear")
    rules.mode = "linear";
  if (failed(expectOneOf(node, "attribute 'mode'", rules.mode,
                         {"nearest", "linear"})))
    return failure();
  rules.transform = "asymmetric";
  rules.nearest = "floor";
  SmallVector<int64_t> axes =
      llvm::to_vector(llvm::seq<int64_t>(0, node.rank(0)));
  SmallVector<AxisTarget> targets;
  if (failed(readTargets(
          node, axes, byAttribute ? std::nullopt : std::optional<unsigned>(1),
          std::nullopt, targets)))
    return failure();
  return resize(node, rules, targets);
}

void ashlar::onnx_import::registerResizeOperators(OperatorRegistry &registry) {
  registry.add("Resize", 10, importResize);
  registry.add("Upsample", 7, importUpsample);
}
