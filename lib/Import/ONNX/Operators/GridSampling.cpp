// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// GridSample and AffineGrid: reading an image at places that a tensor holds.
#include "../OperandRules.h"
#include "../TensorBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ashlar::onnx_import;

namespace {
/// One element that a sample reads along one axis, and what it counts.
struct Tap {
  Value index, weight; ///< no weight: one
  Value isInside;      ///< null: always
};

/// Makes the scalar code of one sample in floats of one type.
struct Sampler {
  OpBuilder &b;
  Location loc;
  Type type;
  std::string mode, padding;
  bool alignCorners;

  Value constant(double value) { return scalarConstant(b, loc, type, value); }
  Value add(Value x, Value y) { return arith::AddFOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, loc, x, y); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, loc, x, y); }
  /// NaN gives the lower bound, so that no index is made from it.
  Value clamp(Value x, double low, double high) {
    x = arith::MaxNumFOp::create(b, loc, x, constant(low));
    return arith::MinNumFOp::create(b, loc, x, constant(high));
  }

  /// From [-1, 1] to elements of an axis.
  Value denormalize(Value x, int64_t dim) {
    Value half = alignCorners ? constant((double(dim) - 1) / 2)
                              : constant(double(dim) / 2);
    Value place = mul(add(x, constant(1)), half);
    if (!alignCorners)
      place = sub(place, constant(0.5));
    // Far enough out that nothing changes, near enough to be an integer.
    return clamp(place, -16777216.0, 16777216.0);
  }

  /// The place of a mirror image between the axis' ends.
  Value reflect(Value x, int64_t dim) {
    double low = alignCorners ? 0 : -0.5;
    double span = alignCorners ? double(dim) - 1 : double(dim);
    if (span == 0)
      return constant(0);
    Value distance = math::AbsFOp::create(b, loc, sub(x, constant(low)));
    Value turns =
        math::FloorOp::create(b, loc, mul(distance, constant(1 / (2 * span))));
    Value rest = sub(distance, mul(turns, constant(2 * span)));
    Value mirrored = sub(constant(2 * span), rest);
    rest = arith::MinNumFOp::create(b, loc, rest, mirrored);
    return add(rest, constant(low));
  }

  /// The tap at a whole number that may lie outside the axis.
  Tap tap(Value place, Value weight, int64_t dim) {
    Value isInside;
    if (padding == "zeros") {
      Value above = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGE,
                                          place, constant(0));
      Value below = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLE,
                                          place, constant(double(dim) - 1));
      isInside = arith::AndIOp::create(b, loc, above, below);
    } else if (padding == "reflection") {
      place = reflect(place, dim);
    }
    Value index = arith::FPToSIOp::create(b, loc, b.getI64Type(),
                                          clamp(place, 0, double(dim) - 1));
    return {arith::IndexCastOp::create(b, loc, b.getIndexType(), index), weight,
            isInside};
  }

  /// Cubic convolution with the coefficient -0.75.
  Value cubicWeight(Value x, bool isOuter) {
    constexpr double a = -0.75;
    if (isOuter) {
      Value sum = sub(mul(constant(a), x), constant(5 * a));
      sum = add(mul(sum, x), constant(8 * a));
      return sub(mul(sum, x), constant(4 * a));
    }
    Value sum = sub(mul(constant(a + 2), x), constant(a + 3));
    return add(mul(mul(sum, x), x), constant(1));
  }

  SmallVector<Tap> taps(Value x, int64_t dim) {
    Value place = denormalize(x, dim);
    if (mode == "nearest")
      return {tap(math::RoundEvenOp::create(b, loc, place), {}, dim)};
    Value base = math::FloorOp::create(b, loc, place);
    Value rest = sub(place, base), other = sub(constant(1), rest);
    Value after = add(base, constant(1));
    if (mode == "linear")
      return {tap(base, other, dim), tap(after, rest, dim)};
    return {tap(sub(base, constant(1)),
                cubicWeight(add(rest, constant(1)), true), dim),
            tap(base, cubicWeight(rest, false), dim),
            tap(after, cubicWeight(other, false), dim),
            tap(add(base, constant(2)),
                cubicWeight(add(other, constant(1)), true), dim)};
  }
};
} // namespace

static LogicalResult readSampler(NodeImporter &node, std::string &mode,
                                 std::string &padding) {
  mode = node.stringAttribute("mode", "linear");
  if (mode == "bilinear")
    mode = "linear";
  if (mode == "bicubic")
    mode = "cubic";
  padding = node.stringAttribute("padding_mode", "zeros");
  return failure(failed(expectOneOf(node, "attribute 'mode'", mode,
                                    {"nearest", "linear", "cubic"})) ||
                 failed(expectOneOf(node, "attribute 'padding_mode'", padding,
                                    {"zeros", "border", "reflection"})));
}

/// What may be sampled, and the shape of the samples.
static LogicalResult checkGridShapes(NodeImporter &node, StringRef mode,
                                     SmallVector<int64_t> &result) {
  ArrayRef<int64_t> input = node.shape(0), grid = node.shape(1);
  int64_t rank = input.size(), spatial = rank - 2;
  if (spatial > 3 || (mode == "cubic" && spatial > 2))
    return node.unsupported("mode '" + mode + "' in " + Twine(spatial) +
                            " dimensions");
  if (grid.front() != input[0] || grid.back() != spatial)
    return node.invalid("input 1 has shape " + spellShape(grid) +
                        "; expected the batch " + Twine(input[0]) +
                        " first and " + Twine(spatial) + " last");
  result = {input[0], input[1]};
  llvm::append_range(result, grid.drop_front().drop_back());
  if (failed(expectSize(node, result)))
    return failure();
  for (int64_t dim : input.drop_front(2))
    if (dim == 0 || dim > 1 << 24)
      return node.invalid("input 0 has shape " + spellShape(input) +
                          "; expected spatial sizes of 1 to 2^24");
  return success();
}

/// The elements at all combinations of one tap for each spatial dim, weighed
/// and added up. `read` gives one element.
static Value sumOfTaps(Sampler &sampler, ArrayRef<SmallVector<Tap>> taps,
                       ValueRange at,
                       llvm::function_ref<Value(ValueRange)> read) {
  OpBuilder &b = sampler.b;
  Location loc = sampler.loc;
  int64_t spatial = taps.size();
  Value sum;
  SmallVector<unsigned> chosen(spatial, 0);
  while (true) {
    SmallVector<Value> from{at[0], at[1]};
    Value weight, isInside;
    for (int64_t i = 0; i != spatial; ++i) {
      const Tap &tap = taps[i][chosen[i]];
      from.push_back(tap.index);
      if (tap.weight)
        weight = weight ? sampler.mul(weight, tap.weight) : tap.weight;
      if (tap.isInside)
        isInside = isInside
                       ? arith::AndIOp::create(b, loc, isInside, tap.isInside)
                             .getResult()
                       : tap.isInside;
    }
    Value x = read(from);
    if (isInside)
      x = arith::SelectOp::create(b, loc, isInside, x, sampler.constant(0));
    if (weight)
      x = sampler.mul(x, weight);
    sum = sum ? sampler.add(sum, x) : x;
    int64_t i = spatial - 1;
    while (i >= 0 && ++chosen[i] == taps[i].size())
      chosen[i--] = 0;
    if (i < 0)
      return sum;
  }
}

static LogicalResult importGridSample(NodeImporter &node) {
  if (failed(expectOperands(node, 2, 2)) || failed(expectFloat(node, 0)) ||
      failed(expectFloat(node, 1)) || failed(expectRankAtLeast(node, 0, 3)) ||
      failed(expectRank(node, 1, node.rank(0))))
    return failure();
  ImplicitLocOpBuilder &b = node.b;
  std::string mode, padding;
  SmallVector<int64_t> result;
  if (failed(readSampler(node, mode, padding)) ||
      failed(checkGridShapes(node, mode, result)))
    return failure();
  ArrayRef<int64_t> input = node.shape(0);
  int64_t spatial = int64_t(input.size()) - 2;
  ElementType type = node.operandType(0);
  ElementType wide =
      type == ElementType::F64 ? ElementType::F64 : ElementType::F32;
  Type compute = convertElementType(b.getContext(), wide);
  bool alignCorners = node.intAttribute("align_corners", 0) != 0;
  Value image = node.operand(0), places = node.operand(1);
  Value sampled =
      generate(b, result, node.tensorType(0).getElementType(),
               [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
                 Sampler sampler{b, loc, compute, mode, padding, alignCorners};
                 SmallVector<Value> place{at[0]};
                 llvm::append_range(place, at.drop_front(2));
                 place.push_back({});
                 SmallVector<SmallVector<Tap>> taps;
                 for (int64_t i = 0; i != spatial; ++i) {
                   // The grid names the last axis first.
                   place.back() =
                       arith::ConstantIndexOp::create(b, loc, spatial - 1 - i);
                   Value x = tensor::ExtractOp::create(b, loc, places, place);
                   x = castScalar(b, loc, x, node.operandType(1), wide);
                   taps.push_back(sampler.taps(x, input[i + 2]));
                 }
                 Value sum = sumOfTaps(sampler, taps, at, [&](ValueRange from) {
                   Value x = tensor::ExtractOp::create(b, loc, image, from);
                   return castScalar(b, loc, x, type, wide);
                 });
                 return castScalar(b, loc, sum, wide, type);
               });
  node.setResult(0, sampled, type);
  return success();
}

static LogicalResult importAffineGrid(NodeImporter &node) {
  if (failed(expectOperands(node, 2, 2)) || failed(expectFloat(node, 0)) ||
      failed(expectRank(node, 0, 3)) || failed(expectRank(node, 1, 1)))
    return failure();
  ImplicitLocOpBuilder &b = node.b;
  auto size = node.constantInts(1, "the size");
  if (failed(size) || failed(expectSize(node, *size)))
    return failure();
  if (size->size() != 4 && size->size() != 5)
    return node.invalid("the size has " + Twine(size->size()) +
                        " values; expected 4 or 5");
  int64_t spatial = size->size() - 2;
  if (failed(expectShape(node, 0, {(*size)[0], spatial, spatial + 1})))
    return failure();
  bool alignCorners = node.intAttribute("align_corners", 0) != 0;
  SmallVector<int64_t> result{(*size)[0]};
  result.append(size->begin() + 2, size->end());
  result.push_back(spatial);
  if (failed(expectSize(node, result)))
    return failure();
  ElementType type = node.operandType(0);
  ElementType wide =
      type == ElementType::F64 ? ElementType::F64 : ElementType::F32;
  Type compute = convertElementType(b.getContext(), wide);
  Value theta = node.operand(0);
  Value grid = generate(
      b, result, node.tensorType(0).getElementType(),
      [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        auto coefficient = [&](int64_t column) -> Value {
          Value i = arith::ConstantIndexOp::create(b, loc, column);
          Value x = tensor::ExtractOp::create(b, loc, theta,
                                              ValueRange{at[0], at.back(), i});
          return castScalar(b, loc, x, type, wide);
        };
        Value sum = coefficient(spatial);
        for (int64_t i = 0; i != spatial; ++i) {
          // The last axis is the first coordinate.
          int64_t dim = (*size)[2 + spatial - 1 - i];
          Value index = arith::IndexCastOp::create(b, loc, b.getI64Type(),
                                                   at[spatial - i]);
          Value x = arith::SIToFPOp::create(b, loc, compute, index);
          double steps = alignCorners ? std::max<double>(dim - 1, 1) : dim;
          double first = alignCorners ? (dim == 1 ? 0 : -1) : 1 / steps - 1;
          x = arith::MulFOp::create(b, loc, x,
                                    scalarConstant(b, loc, compute, 2 / steps));
          x = arith::AddFOp::create(b, loc, x,
                                    scalarConstant(b, loc, compute, first));
          x = arith::MulFOp::create(b, loc, x, coefficient(i));
          sum = arith::AddFOp::create(b, loc, sum, x);
        }
        return castScalar(b, loc, sum, wide, type);
      });
  node.setResult(0, grid, type);
  return success();
}

void ashlar::onnx_import::registerGridSamplingOperators(
    OperatorRegistry &registry) {
  registry.add("GridSample", 16, importGridSample);
  registry.add("AffineGrid", 20, importAffineGrid);
}
