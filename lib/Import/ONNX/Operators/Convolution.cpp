// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conv, ConvInteger and QLinearConv: one contraction on the padded input, in
// ONNX's own layout, with affine maps that say where the windows lie.
#include "Convolution.h"
#include "../OperandRules.h"
#include "../TensorBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace ashlar::onnx_import;

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

Value ashlar::onnx_import::channelwise(ImplicitLocOpBuilder &b, Value vector,
                                       int64_t spatialRank) {
  SmallVector<int64_t> shape(spatialRank + 1, 1);
  shape[0] = shapeOf(vector)[0];
  return reshape(b, vector, shape);
}

FailureOr<ConvolutionShape>
ashlar::onnx_import::readConvolution(NodeImporter &node, unsigned weight) {
  if (failed(expectRankAtLeast(node, 0, 3)) ||
      failed(expectRank(node, weight, node.rank(0))))
    return failure();
  if (node.rank(0) > 5)
    return node.unsupported("more than three spatial dimensions");
  ArrayRef<int64_t> input = node.shape(0), weights = node.shape(weight);
  ConvolutionShape shape;
  shape.groups = node.intAttribute("group", 1);
  if (shape.groups < 1 || input[1] % shape.groups != 0 ||
      weights[0] % shape.groups != 0)
    return node.invalid("attribute 'group' is " + Twine(shape.groups) +
                        "; expected a divisor of " + Twine(input[1]) +
                        " input and " + Twine(weights[0]) + " output channels");
  if (weights[1] != input[1] / shape.groups)
    return node.invalid("weight has shape " + spellShape(weights) +
                        "; expected " + Twine(input[1] / shape.groups) +
                        " channels, as the input has " + Twine(input[1]) +
                        " in " + Twine(shape.groups) + " groups");
  FailureOr<WindowGeometry> window =
      readWindowGeometry(node, input.drop_front(2), weights.drop_front(2));
  if (failed(window))
    return failure();
  shape.window = *window;
  shape.padded.assign({input[0], input[1]});
  shape.result.assign({input[0], weights[0]});
  for (unsigned i = 0; i != window->rank(); ++i) {
    shape.padded.push_back(input[i + 2] + window->low[i] + window->reach[i]);
    shape.result.push_back(window->output[i]);
  }
  if (failed(expectSize(node, shape.padded)) ||
      failed(expectSize(node, shape.result)))
    return failure();
  return shape;
}

/// Makes the affine maps of a contraction dimension by dimension.
namespace {
struct LoopNest {
  MLIRContext *context;
  unsigned count = 0;
  SmallVector<AffineExpr> input, weight, result;

  AffineExpr loop() { return getAffineDimExpr(count++, context); }
  SmallVector<AffineMap> maps() const {
    return {AffineMap::get(count, 0, input, context),
            AffineMap::get(count, 0, weight, context),
            AffineMap::get(count, 0, result, context)};
  }
};
} // namespace

Value ashlar::onnx_import::convolve(ImplicitLocOpBuilder &b, Value padded,
                                    Value weight, const ConvolutionShape &shape,
                                    Type accumulator, bool inputUnsigned,
                                    bool weightUnsigned) {
  const WindowGeometry &window = shape.window;
  int64_t groups = shape.groups;
  SmallVector<int64_t> input(shapeOf(padded)), weights(shapeOf(weight));
  int64_t channels = weights[1], perGroup = weights[0] / groups;
  Value zero = arith::ConstantOp::create(b, zeroOf(accumulator));
  LoopNest nest{b.getContext()};

  // Sizes of the operands without the dimensions that need no loop.
  bool grouped = groups != 1, split = grouped && channels != 1;
  bool several = !grouped || perGroup != 1;
  SmallVector<int64_t> inputShape{input[0]}, weightShape, resultShape{input[0]};
  AffineExpr n = nest.loop();
  nest.input = nest.result = {n};
  if (grouped) {
    AffineExpr g = nest.loop();
    for (auto *exprs : {&nest.input, &nest.weight, &nest.result})
      exprs->push_back(g);
    for (auto *sizes : {&inputShape, &weightShape, &resultShape})
      sizes->push_back(groups);
  }
  if (several) {
    AffineExpr m = nest.loop();
    nest.weight.push_back(m);
    nest.result.push_back(m);
    weightShape.push_back(perGroup);
    resultShape.push_back(perGroup);
  }
  SmallVector<AffineExpr> places;
  for (unsigned i = 0; i != window.rank(); ++i) {
    places.push_back(nest.loop());
    nest.result.push_back(places.back());
    resultShape.push_back(window.output[i]);
  }
  if (!grouped || split) {
    AffineExpr c = nest.loop();
    nest.input.push_back(c);
    nest.weight.push_back(c);
    inputShape.push_back(channels);
    weightShape.push_back(channels);
  }
  for (unsigned i = 0; i != window.rank(); ++i) {
    AffineExpr place = places[i] * window.strides[i];
    inputShape.push_back(input[i + 2]);
    if (window.kernel[i] != 1) {
      AffineExpr k = nest.loop();
      nest.weight.push_back(k);
      weightShape.push_back(window.kernel[i]);
      place = place + k * window.dilations[i];
    }
    nest.input.push_back(place);
  }
  Value result = contract(
      b, reshape(b, padded, inputShape), reshape(b, weight, weightShape),
      fill(b, resultShape, zero), nest.maps(), inputUnsigned, weightUnsigned);
  return reshape(b, result, shape.result);
}

Type ashlar::onnx_import::accumulatorOf(Type element) {
  return element.isF16() || element.isBF16()
             ? Float32Type::get(element.getContext())
             : element;
}

Value ashlar::onnx_import::addBias(ImplicitLocOpBuilder &b, Value result,
                                   Value bias, Type element) {
  Type accumulator = getElementTypeOrSelf(result);
  if (!bias && accumulator == element)
    return result;
  SmallVector<Value> inputs{result};
  if (bias)
    inputs.push_back(channelwise(b, bias, shapeOf(result).size() - 2));
  return elementwise(
      b, element, inputs, [&](OpBuilder &b, Location loc, ValueRange args) {
        Value sum = args[0];
        if (bias) {
          Value term = args[1];
          if (accumulator != element)
            term = arith::ExtFOp::create(b, loc, accumulator, term);
          sum = arith::AddFOp::create(b, loc, sum, term);
        }
        if (accumulator != element)
          sum = arith::TruncFOp::create(b, loc, element, sum);
        return sum;
      });
}

static LogicalResult importConv(NodeImporter &node) {
  if (failed(expectOperands(node, 2, 3)) || failed(expectSameType(node, 1)) ||
      failed(expectSameType(node, 2)) || failed(expectFloat(node, 0)))
    return failure();
  FailureOr<ConvolutionShape> shape = readConvolution(node, 1);
  if (failed(shape))
    return failure();
  if (node.hasOperand(2) && failed(expectShape(node, 2, {node.shape(1)[0]})))
    return failure();
  Type element = node.tensorType(0).getElementType();
  Value zero = arith::ConstantOp::create(node.b, zeroOf(element));
  Value padded = shape->window.pad(node.b, node.operand(0), zero);
  Value result =
      convolve(node.b, padded, node.operand(1), *shape, accumulatorOf(element));
  result = addBias(node.b, result, node.operand(2), element);
  node.setResult(0, reshape(node.b, result, shape->result),
                 node.operandType(0));
  return success();
}

void ashlar::onnx_import::registerConvolutionOperators(
    OperatorRegistry &registry) {
  registry.add("Conv", 1, importConv);
}
