// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ConvTranspose. Where windows of the result neither overlap nor leave gaps,
// it is a matrix product whose result is viewed as an image. Otherwise zeros
// are put between the input's elements, and the result is a convolution whose
// window runs backwards.
#include "../OperandRules.h"
#include "../TensorBuilder.h"
#include "Convolution.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace ashlar::onnx_import;

namespace {
struct TransposedShape {
  int64_t groups, channels, perGroup; ///< channels: of the input, per group
  WindowGeometry window;              ///< low is what the result loses in front
  SmallVector<int64_t> result;        ///< with batch and channels

  /// Where the result's windows lie before anything is cropped.
  int64_t whole(unsigned i, int64_t input) const {
    return window.strides[i] * (input - 1) + window.extent(i);
  }
};
} // namespace

/// Decides the result's sizes and which part of the whole they are.
static LogicalResult readResultSizes(NodeImporter &node,
                                     TransposedShape &shape) {
  WindowGeometry &window = shape.window;
  unsigned rank = window.rank();
  ArrayRef<int64_t> input = node.shape(0).drop_front(2);
  auto pads = readSizes(node, "pads", 2 * rank, 0, 0);
  auto more = readSizes(node, "output_padding", rank, 0, 0);
  if (failed(pads) || failed(more))
    return failure();
  SmallVector<int64_t> asked = node.intsAttribute("output_shape");
  if (asked.size() == rank + 2)
    asked.erase(asked.begin(), asked.begin() + 2);
  if (!asked.empty() && asked.size() != rank)
    return node.invalid("attribute 'output_shape' has " + Twine(asked.size()) +
                        " values; expected " + Twine(rank));
  std::string autoPad = node.stringAttribute("auto_pad", "NOTSET");
  if (failed(expectOneOf(node, "attribute 'auto_pad'", autoPad,
                         {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"})))
    return failure();
  bool same = autoPad == "SAME_UPPER" || autoPad == "SAME_LOWER";
  for (unsigned i = 0; i != rank; ++i) {
    int64_t whole = shape.whole(i, input[i]) + (*more)[i];
    int64_t low, output;
    if (!asked.empty() || same) {
      output = asked.empty() ? input[i] * window.strides[i] : asked[i];
      int64_t total = std::max<int64_t>(whole - output, 0);
      low = autoPad == "SAME_UPPER" ? total / 2 : total - total / 2;
    } else {
      bool valid = autoPad == "VALID";
      low = valid ? 0 : (*pads)[i];
      output = whole - low - (valid ? 0 : (*pads)[rank + i]);
    }
    if (output < 0 || input[i] == 0)
      return node.invalid("axis " + Twine(i + 2) +
                          " of the result would "
                          "have " +
                          Twine(output) + " elements");
    window.low.push_back(low);
    shape.result.push_back(output);
  }
  return expectSize(node, shape.result);
}

static FailureOr<TransposedShape> readShape(NodeImporter &node) {
  if (failed(expectRankAtLeast(node, 0, 3)) ||
      failed(expectRank(node, 1, node.rank(0))))
    return failure();
  if (node.rank(0) > 5)
    return node.unsupported("more than three spatial dimensions");
  ArrayRef<int64_t> input = node.shape(0), weights = node.shape(1);
  TransposedShape shape;
  shape.groups = node.intAttribute("group", 1);
  if (shape.groups < 1 || input[1] % shape.groups != 0)
    return node.invalid("attribute 'group' is " + Twine(shape.groups) +
                        "; expected a divisor of the input's " +
                        Twine(input[1]) + " channels");
  if (weights[0] != input[1])
    return node.invalid("the weight has shape " + spellShape(weights) +
                        "; expected the input's " + Twine(input[1]) +
                        " channels first");
  shape.channels = input[1] / shape.groups;
  shape.perGroup = weights[1];
  FailureOr<WindowGeometry> window =
      readWindowSizes(node, input.size() - 2, weights.drop_front(2));
  if (failed(window) || failed(expectSize(node, {shape.groups, weights[1]})))
    return failure();
  shape.window = *window;
  shape.result = {input[0], shape.groups * weights[1]};
  if (failed(readResultSizes(node, shape)))
    return failure();
  return shape;
}

namespace {
/// The maps of the contraction, and its operands' shapes, grown together.
struct Contraction {
  ImplicitLocOpBuilder &b;
  unsigned loops = 0;
  SmallVector<AffineExpr> input, weight, result;
  SmallVector<int64_t> inputShape, weightShape, resultShape;

  AffineExpr loop() { return b.getAffineDimExpr(loops++); }
  Value build(Value inputValue, Value weightValue, Type accumulator) {
    AffineMap maps[] = {AffineMap::get(loops, 0, input, b.getContext()),
                        AffineMap::get(loops, 0, weight, b.getContext()),
                        AffineMap::get(loops, 0, result, b.getContext())};
    Value zero = arith::ConstantOp::create(b, zeroOf(accumulator));
    return contract(b, reshape(b, inputValue, inputShape),
                    reshape(b, weightValue, weightShape),
                    fill(b, resultShape, zero), maps);
  }
};
} // namespace

/// Batch, group and channel loops, which both forms begin with.
static void addChannelLoops(Contraction &c, const TransposedShape &shape,
                            int64_t batch) {
  AffineExpr n = c.loop();
  c.input = c.result = {n};
  c.inputShape = c.resultShape = {batch};
  if (shape.groups != 1) {
    AffineExpr g = c.loop();
    for (auto *exprs : {&c.input, &c.weight, &c.result})
      exprs->push_back(g);
    for (auto *sizes : {&c.inputShape, &c.weightShape, &c.resultShape})
      sizes->push_back(shape.groups);
  }
  AffineExpr m = c.loop(), k = c.loop();
  c.input.push_back(k);
  c.inputShape.push_back(shape.channels);
  c.weight.append({k, m});
  c.weightShape.append({shape.channels, shape.perGroup});
  c.result.push_back(m);
  c.resultShape.push_back(shape.perGroup);
}

/// Each input element makes one block of the result.
static Value multiplyBlocks(ImplicitLocOpBuilder &b, Value input, Value weight,
                            const TransposedShape &shape,
                            ArrayRef<int64_t> sizes, Type accumulator) {
  Contraction c{b};
  addChannelLoops(c, shape, sizes[0]);
  SmallVector<int64_t> whole{shape.result[0], shape.result[1]};
  for (unsigned i = 0; i != shape.window.rank(); ++i) {
    int64_t kernel = shape.window.kernel[i];
    AffineExpr place = c.loop();
    c.input.push_back(place);
    c.result.push_back(place);
    c.inputShape.push_back(sizes[i + 2]);
    c.resultShape.push_back(sizes[i + 2]);
    whole.push_back(sizes[i + 2] * kernel);
    if (kernel == 1)
      continue;
    AffineExpr k = c.loop();
    c.weight.push_back(k);
    c.result.push_back(k);
    c.weightShape.push_back(kernel);
    c.resultShape.push_back(kernel);
  }
  return reshape(b, c.build(input, weight, accumulator), whole);
}

/// `input` with stride - 1 zeros after each element.
static Value spreadOut(ImplicitLocOpBuilder &b, Value input,
                       ArrayRef<int64_t> strides, Value zero) {
  ArrayRef<int64_t> sizes = cast<RankedTensorType>(input.getType()).getShape();
  SmallVector<int64_t> split(sizes.take_front(2)), low(2, 0), high(2, 0),
      joined(sizes.take_front(2));
  for (auto [dim, stride] : llvm::zip(sizes.drop_front(2), strides)) {
    split.push_back(dim);
    joined.push_back(dim * stride);
    high.push_back(0);
    if (stride == 1)
      continue;
    split.push_back(1);
    high.push_back(stride - 1);
  }
  low.assign(high.size(), 0);
  return reshape(b, pad(b, reshape(b, input, split), low, high, zero), joined);
}

static Value convolveSpread(ImplicitLocOpBuilder &b, Value input, Value weight,
                            const TransposedShape &shape,
                            ArrayRef<int64_t> sizes, Type accumulator) {
  const WindowGeometry &window = shape.window;
  Value zero = arith::ConstantOp::create(
      b, zeroOf(getElementTypeOrSelf(input.getType())));
  Value spread = spreadOut(b, input, window.strides, zero);
  Contraction c{b};
  addChannelLoops(c, shape, sizes[0]);
  SmallVector<int64_t> low(2, 0), high(2, 0);
  for (unsigned i = 0; i != window.rank(); ++i) {
    // Result o reads element o + low - k * dilation of the spread input.
    int64_t reach = window.extent(i) - 1, output = shape.result[i + 2];
    int64_t before = reach - window.low[i];
    int64_t padded = output + reach;
    low.push_back(before);
    high.push_back(padded - before - sizes[i + 2] * window.strides[i]);
    AffineExpr place = c.loop();
    c.result.push_back(place);
    c.resultShape.push_back(output);
    c.inputShape.push_back(padded);
    if (window.kernel[i] != 1) {
      AffineExpr k = c.loop();
      c.weight.push_back(k);
      c.weightShape.push_back(window.kernel[i]);
      place = place - k * window.dilations[i] + reach;
    }
    c.input.push_back(place);
  }
  Value padded = padOrCrop(b, spread, low, high, zero);
  return reshape(b, c.build(padded, weight, accumulator), shape.result);
}

static LogicalResult importConvTranspose(NodeImporter &node) {
  if (failed(expectOperands(node, 2, 3)) || failed(expectSameType(node, 1)) ||
      failed(expectSameType(node, 2)) || failed(expectFloat(node, 0)))
    return failure();
  FailureOr<TransposedShape> read = readShape(node);
  if (failed(read))
    return failure();
  const TransposedShape &shape = *read;
  if (node.hasOperand(2) && failed(expectShape(node, 2, {shape.result[1]})))
    return failure();
  ImplicitLocOpBuilder &b = node.b;
  Type element = node.tensorType(0).getElementType();
  Type accumulator = accumulatorOf(element);
  SmallVector<int64_t> sizes(node.shape(0)), padded(shape.result);
  bool disjoint = true;
  for (unsigned i = 0; i != shape.window.rank(); ++i) {
    disjoint &= shape.window.kernel[i] == shape.window.strides[i] &&
                shape.window.dilations[i] == 1;
    padded[i + 2] = shape.whole(i, sizes[i + 2]) + shape.window.extent(i) +
                    shape.result[i + 2];
  }
  padded[1] = std::max(sizes[1], padded[1]);
  if (failed(expectSize(node, padded)))
    return failure();
  Value result;
  if (disjoint) {
    result = multiplyBlocks(b, node.operand(0), node.operand(1), shape, sizes,
                            accumulator);
    SmallVector<int64_t> low(2, 0), high(2, 0);
    for (unsigned i = 0; i != shape.window.rank(); ++i) {
      low.push_back(-shape.window.low[i]);
      high.push_back(shape.result[i + 2] + shape.window.low[i] -
                     shape.whole(i, sizes[i + 2]));
    }
    Value zero = arith::ConstantOp::create(b, zeroOf(accumulator));
    result = padOrCrop(b, result, low, high, zero);
  } else {
    result = convolveSpread(b, node.operand(0), node.operand(1), shape, sizes,
                            accumulator);
  }
  node.setResult(0, addBias(b, result, node.operand(2), element),
                 node.operandType(0));
  return success();
}

void ashlar::onnx_import::registerTransposedConvolutionOperators(
    OperatorRegistry &registry) {
  registry.add("ConvTranspose", 1, importConvTranspose);
}
