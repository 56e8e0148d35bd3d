// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// DeformConv of images: a convolution each of whose taps reads where an offset
// moves it, between elements. The taps are gathered first; what follows is a
// contraction.
#include "../OperandRules.h"
#include "../ReductionBuilder.h"
#include "Convolution.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ashlar::onnx_import;

namespace {
struct Deformation {
  WindowGeometry window;
  int64_t groups, offsetGroups;
};
} // namespace

static FailureOr<Deformation> readDeformation(NodeImporter &node) {
  for (unsigned i : {0, 1, 2})
    if (failed(expectRankAtLeast(node, i, 3)))
      return failure();
  if (node.rank(0) != 4)
    return node.unsupported("of rank " + Twine(node.rank(0)));
  if (failed(expectRank(node, 1, 4)) || failed(expectRank(node, 2, 4)))
    return failure();
  ArrayRef<int64_t> x = node.shape(0), w = node.shape(1);
  auto window = readWindowGeometry(node, x.drop_front(2), w.drop_front(2));
  if (failed(window))
    return failure();
  Deformation d{*window, node.intAttribute("group", 1),
                node.intAttribute("offset_group", 1)};
  if (d.groups < 1 || d.offsetGroups < 1 || x[1] != w[1] * d.groups ||
      w[0] % d.groups != 0 || x[1] % d.offsetGroups != 0)
    return node.invalid("expected channels that the groups divide, found "
                        "inputs of " +
                        spellShape(x) + ", weights of " + spellShape(w) + ", " +
                        Twine(d.groups) + " groups and " +
                        Twine(d.offsetGroups) + " of offsets");
  int64_t taps = d.offsetGroups * w[2] * w[3];
  SmallVector<int64_t> moved{x[0], 2 * taps, window->output[0],
                             window->output[1]};
  SmallVector<int64_t> masked = moved;
  masked[1] = taps;
  SmallVector<int64_t> gathered{x[0], x[1], w[2] * w[3], moved[2], moved[3]};
  if (failed(expectSize(node, gathered)) ||
      failed(expectShape(node, 2, moved)) ||
      (node.hasOperand(3) && failed(expectShape(node, 3, {w[0]}))) ||
      (node.hasOperand(4) && failed(expectShape(node, 4, masked))))
    return failure();
  return d;
}

namespace {
/// Builds the element that one tap of one window reads.
struct Tap {
  FloatScalars &s;
  Value image, n, c;
  ArrayRef<int64_t> shape;

  Value index(int64_t value) { return s.make<arith::ConstantIndexOp>(value); }
  /// Pixel (y, x), zero outside.
  Value pixel(Value y, Value x) {
    Value inside, at[2];
    for (unsigned i : {0, 1}) {
      Value place = i == 0 ? y : x;
      Value isIn = s.make<arith::CmpIOp>(arith::CmpIPredicate::ult, place,
                                         index(shape[2 + i]));
      at[i] = s.select(isIn, place, index(0));
      inside = inside ? s.make<arith::AndIOp>(inside, isIn) : isIn;
    }
    Value value = tensor::ExtractOp::create(s.b, s.loc, image,
                                            ValueRange{n, c, at[0], at[1]});
    return s.select(inside, resizeFloat(s.b, s.loc, value, s.type),
                    s.constant(0));
  }
  /// The pixel below a coordinate and how far that is; NaN and what is far
  /// outside stay outside.
  std::pair<Value, Value> split(Value coordinate, int64_t size) {
    Value bounded = s.make<arith::MaxNumFOp>(coordinate, s.constant(-2));
    bounded = s.make<arith::MinNumFOp>(bounded, s.constant(double(size) + 1));
    Value floor = s.make<math::FloorOp>(bounded);
    Value place = arith::FPToSIOp::create(s.b, s.loc, s.b.getI64Type(), floor);
    place = arith::IndexCastOp::create(s.b, s.loc, s.b.getIndexType(), place);
    return {place, s.sub(bounded, floor)};
  }
  Value bilinear(Value y, Value x) {
    auto [top, down] = split(y, shape[2]);
    auto [left, right] = split(x, shape[3]);
    Value bottom = s.make<arith::AddIOp>(top, index(1));
    Value next = s.make<arith::AddIOp>(left, index(1));
    auto mix = [&](Value low, Value high, Value part) {
      Value rest = s.sub(s.constant(1), part);
      return s.add(s.mul(low, rest), s.mul(high, part));
    };
    return mix(mix(pixel(top, left), pixel(top, next), right),
               mix(pixel(bottom, left), pixel(bottom, next), right), down);
  }
};
} // namespace

static LogicalResult importDeformConv(NodeImporter &node) {
  FailureOr<Deformation> read = readDeformation(node);
  if (failed(read))
    return failure();
  const Deformation &d = *read;
  const WindowGeometry &window = d.window;
  ImplicitLocOpBuilder &b = node.b;
  ArrayRef<int64_t> x = node.shape(0), w = node.shape(1);
  Type element = node.tensorType(0).getElementType();
  Type compute = computeType(element);
  int64_t perOffset = x[1] / d.offsetGroups;
  // Batch, channel, row and column of the kernel, row and column of the result.
  SmallVector<int64_t> shape{
      x[0], x[1], w[2], w[3], window.output[0], window.output[1]};
  Value taps = generate(
      b, shape, compute, [&](OpBuilder &b, Location loc, ValueRange at) {
        FloatScalars s(b, loc, compute);
        Tap tap{s, node.operand(0), at[0], at[1], x};
        auto scaled = [&](Value value, int64_t factor) -> Value {
          return s.make<arith::MulIOp>(value, tap.index(factor));
        };
        auto sum = [&](Value a, Value b) -> Value {
          return s.make<arith::AddIOp>(a, b);
        };
        Value group = s.make<arith::DivUIOp>(at[1], tap.index(perOffset));
        Value place = sum(scaled(sum(scaled(group, w[2]), at[2]), w[3]), at[3]);
        auto read = [&](Value tensor, Value channel) {
          Value value = tensor::ExtractOp::create(
              b, loc, tensor, ValueRange{at[0], channel, at[4], at[5]});
          return resizeFloat(b, loc, value, compute);
        };
        auto coordinate = [&](unsigned axis) {
          Value fixed = sum(scaled(at[4 + axis], window.strides[axis]),
                            scaled(at[2 + axis], window.dilations[axis]));
          fixed = arith::IndexCastOp::create(b, loc, b.getI64Type(), fixed);
          Value start = arith::SIToFPOp::create(b, loc, compute, fixed);
          start = s.sub(start, s.constant(double(window.low[axis])));
          return s.add(start, read(node.operand(2),
                                   sum(scaled(place, 2), tap.index(axis))));
        };
        Value value = tap.bilinear(coordinate(0), coordinate(1));
        return node.hasOperand(4) ? s.mul(value, read(node.operand(4), place))
                                  : value;
      });
  int64_t g = d.groups, in = w[1], out = w[0] / g;
  auto dim = [&](unsigned i) { return b.getAffineDimExpr(i); };
  AffineMap maps[] = {
      AffineMap::get(8, 0,
                     {dim(0), dim(1), dim(5), dim(6), dim(7), dim(3), dim(4)},
                     b.getContext()),
      AffineMap::get(8, 0, {dim(1), dim(2), dim(5), dim(6), dim(7)},
                     b.getContext()),
      AffineMap::get(8, 0, {dim(0), dim(1), dim(2), dim(3), dim(4)},
                     b.getContext())};
  Value zero = arith::ConstantOp::create(b, zeroOf(compute));
  Value sums = contract(
      b, reshape(b, taps, {x[0], g, in, w[2], w[3], shape[4], shape[5]}),
      reshape(b, node.operand(1), {g, out, in, w[2], w[3]}),
      fill(b, {x[0], g, out, shape[4], shape[5]}, zero), maps);
  sums = reshape(b, sums, {x[0], w[0], shape[4], shape[5]});
  node.setResult(0, addBias(b, sums, node.operand(3), element),
                 node.operandType(0));
  return success();
}

void ashlar::onnx_import::registerDeformableConvolutionOperators(
    OperatorRegistry &registry) {
  registry.add("DeformConv", 19, importDeformConv);
}
