// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RoiAlign: the mean or maximum of samples on a grid inside regions that a
// tensor holds. How many samples a region needs may depend on its size, so the
// body of each element loops.
#include "../OperandRules.h"
#include "../ScalarBuilder.h"
#include "IndexArithmetic.h"
#include "LoopNest.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ashlar::onnx_import;

/// A region asks for no more samples along one axis of one bin.
static constexpr double mostSamples = 1024;

namespace {
struct RegionRules {
  int64_t height, width, samples;
  double scale;
  bool isMaximum, halfPixel;
};

/// The elements around a coordinate, and how near each is.
struct Neighbours {
  Value low, high, lowWeight, highWeight, isOutside;
};
} // namespace

static Value toIndex(FloatScalars &s, Value x) {
  Value integer = s.make<arith::FPToSIOp>(s.b.getI64Type(), x);
  return s.make<arith::IndexCastOp>(s.b.getIndexType(), integer);
}

static Value toFloat(FloatScalars &s, Value index) {
  Value integer = s.make<arith::IndexCastOp>(s.b.getI64Type(), index);
  return s.make<arith::SIToFPOp>(s.type, integer);
}

static Neighbours findNeighbours(FloatScalars &s, Value x, int64_t dim) {
  using Predicate = arith::CmpFPredicate;
  Neighbours found;
  // Unordered: NaN is outside too.
  Value below = s.compare(Predicate::ULT, x, s.constant(-1));
  Value above = s.compare(Predicate::UGT, x, s.constant(double(dim)));
  found.isOutside = s.make<arith::OrIOp>(below, above);
  Value last = s.constant(double(dim) - 1);
  x = s.make<arith::MaxNumFOp>(x, s.constant(0));
  x = s.make<arith::MinNumFOp>(x, last);
  Value low = s.make<math::FloorOp>(x);
  Value high = s.min(s.add(low, s.constant(1)), last);
  found.highWeight = s.sub(x, low);
  found.lowWeight = s.sub(s.constant(1), found.highWeight);
  found.low = toIndex(s, low);
  found.high = toIndex(s, high);
  return found;
}

/// One sample of the image, or for a maximum the greatest of its four parts.
static Value sampleImage(FloatScalars &s, Value image, Value batch,
                         Value channel, const Neighbours &y,
                         const Neighbours &x, bool isMaximum) {
  auto part = [&](Value row, Value column, Value rowWeight,
                  Value columnWeight) {
    Value value = s.make<tensor::ExtractOp>(
        image, ValueRange{batch, channel, row, column});
    return s.mul(resizeFloat(s.b, s.loc, value, s.type),
                 s.mul(rowWeight, columnWeight));
  };
  Value parts[] = {part(y.low, x.low, y.lowWeight, x.lowWeight),
                   part(y.low, x.high, y.lowWeight, x.highWeight),
                   part(y.high, x.low, y.highWeight, x.lowWeight),
                   part(y.high, x.high, y.highWeight, x.highWeight)};
  Value result = parts[0];
  for (Value other : ArrayRef(parts).drop_front())
    result = isMaximum ? s.max(result, other) : s.add(result, other);
  Value isOutside = s.make<arith::OrIOp>(y.isOutside, x.isOutside);
  return s.select(isOutside, s.constant(0), result);
}

/// Where the bins of a region lie along one axis.
namespace {
struct Bins {
  Value first, size, samples; ///< samples: an index, one or more
};
} // namespace

static Bins findBins(FloatScalars &s, Value start, Value end, int64_t count,
                     const RegionRules &rules) {
  Value scale = s.constant(rules.scale);
  Value offset = s.constant(rules.halfPixel ? 0.5 : 0);
  Bins bins;
  bins.first = s.sub(s.mul(start, scale), offset);
  Value extent = s.sub(s.sub(s.mul(end, scale), offset), bins.first);
  if (!rules.halfPixel)
    extent = s.max(extent, s.constant(1));
  bins.size = s.div(extent, s.constant(double(count)));
  if (rules.samples > 0) {
    bins.samples = arith::ConstantIndexOp::create(s.b, s.loc, rules.samples);
    return bins;
  }
  Value samples = s.make<math::CeilOp>(bins.size);
  samples = s.make<arith::MaxNumFOp>(samples, s.constant(1));
  samples = s.make<arith::MinNumFOp>(samples, s.constant(mostSamples));
  bins.samples = toIndex(s, samples);
  return bins;
}

/// The coordinate of sample i of bin `at`.
static Value sampleAt(FloatScalars &s, const Bins &bins, Value at, Value i) {
  Value step = s.div(bins.size, toFloat(s, bins.samples));
  Value inside = s.mul(s.add(toFloat(s, i), s.constant(0.5)), step);
  return s.add(s.add(bins.first, s.mul(toFloat(s, at), bins.size)), inside);
}

static Value alignRegion(OpBuilder &b, Location loc, NodeImporter &node,
                         const RegionRules &rules, ValueRange at) {
  Type element = node.tensorType(0).getElementType();
  FloatScalars s(b, loc, computeType(element));
  Value image = node.operand(0), regions = node.operand(1);
  ArrayRef<int64_t> shape = node.shape(0);
  auto corner = [&](int64_t i) {
    Value column = arith::ConstantIndexOp::create(b, loc, i);
    Value x = s.make<tensor::ExtractOp>(regions, ValueRange{at[0], column});
    return resizeFloat(b, loc, x, s.type);
  };
  Bins rows = findBins(s, corner(1), corner(3), rules.height, rules);
  Bins columns = findBins(s, corner(0), corner(2), rules.width, rules);
  Value batch = s.make<tensor::ExtractOp>(node.operand(2), at[0]);
  batch = boundedIndex(b, loc, batch, shape[0]);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value initial = rules.isMaximum ? s.infinity(true) : s.constant(0);
  auto nest = scf::buildLoopNest(
      b, loc, {zero, zero}, {rows.samples, columns.samples}, {one, one},
      initial,
      [&](OpBuilder &b, Location loc, ValueRange i,
          ValueRange carried) -> scf::ValueVector {
        FloatScalars s(b, loc, computeType(element));
        Neighbours y =
            findNeighbours(s, sampleAt(s, rows, at[2], i[0]), shape[2]);
        Neighbours x =
            findNeighbours(s, sampleAt(s, columns, at[3], i[1]), shape[3]);
        Value sample =
            sampleImage(s, image, batch, at[1], y, x, rules.isMaximum);
        return {rules.isMaximum ? s.max(carried[0], sample)
                                : s.add(carried[0], sample)};
      });
  Value result = nest.results[0];
  if (!rules.isMaximum)
    result = s.div(
        result, s.mul(toFloat(s, rows.samples), toFloat(s, columns.samples)));
  return resizeFloat(b, loc, result, element);
}

static LogicalResult importRoiAlign(NodeImporter &node) {
  if (failed(expectOperands(node, 3, 3)) || failed(expectFloat(node, 0)) ||
      failed(expectSameType(node, 1)) || failed(expectRank(node, 0, 4)) ||
      failed(expectRank(node, 1, 2)) || failed(expectIndexType(node, 2)))
    return failure();
  ArrayRef<int64_t> image = node.shape(0);
  int64_t regions = node.shape(1)[0];
  if (failed(expectShape(node, 1, {regions, 4})) ||
      failed(expectShape(node, 2, {regions})))
    return failure();
  std::string mode = node.stringAttribute("mode", "avg");
  std::string transform = node.stringAttribute(
      "coordinate_transformation_mode",
      node.opset() < 16 ? "output_half_pixel" : "half_pixel");
  if (failed(expectOneOf(node, "attribute 'mode'", mode, {"avg", "max"})) ||
      failed(expectOneOf(node, "attribute 'coordinate_transformation_mode'",
                         transform, {"half_pixel", "output_half_pixel"})))
    return failure();
  RegionRules rules{node.intAttribute("output_height", 1),
                    node.intAttribute("output_width", 1),
                    node.intAttribute("sampling_ratio", 0),
                    node.floatAttribute("spatial_scale", 1),
                    mode == "max",
                    transform == "half_pixel"};
  if (rules.height < 1 || rules.width < 1 || rules.samples < 0 ||
      rules.samples > int64_t(mostSamples))
    return node.invalid("expected output sizes of one or more and a "
                        "sampling_ratio of 0 to 1024, found " +
                        Twine(rules.height) + ", " + Twine(rules.width) +
                        " and " + Twine(rules.samples));
  SmallVector<int64_t> result{regions, image[1], rules.height, rules.width};
  if (failed(expectSize(node, result)))
    return failure();
  if (ShapedType::getNumElements(result) != 0 &&
      node.tensorType(0).getNumElements() == 0)
    return node.invalid("input 0 has shape " + spellShape(image) +
                        "; expected elements to sample");
  Value aligned = generate(node.b, result, node.tensorType(0).getElementType(),
                           [&](OpBuilder &b, Location loc, ValueRange at) {
                             return alignRegion(b, loc, node, rules, at);
                           });
  node.setResult(0, aligned, node.operandType(0));
  return success();
}

void ashlar::onnx_import::registerRegionPoolingOperators(
    OperatorRegistry &registry) {
  registry.add("RoiAlign", 10, importRoiAlign);
}
