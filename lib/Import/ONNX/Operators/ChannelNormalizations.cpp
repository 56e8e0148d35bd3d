// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Normalizations with parameters for each channel, which is axis 1: batch,
// instance, group, and local response.
#include "../OperandRules.h"
#include "../ReductionBuilder.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ashlar::onnx_import;

/// Normalises `x` over `axes` and applies scale and bias, which stand at
/// `dims` of x.
static Value normalize(ImplicitLocOpBuilder &b, Value x, ArrayRef<int64_t> axes,
                       double epsilon, Aligned scale, Aligned bias) {
  Type element = getElementTypeOrSelf(x);
  Moments moments = momentsOver(b, x, axes);
  return alignedElementwise(
      b, x, {moments.mean, moments.variance, scale, bias}, computeType(element),
      element, [&](FloatScalars &s, ValueRange args) {
        Value deviation = s.sqrt(s.add(args[2], s.constant(epsilon)));
        Value centred = s.sub(args[0], args[1]);
        return s.add(s.mul(s.div(centred, deviation), args[3]), args[4]);
      });
}

/// Normalises by the batch's own moments, and moves the running ones.
static LogicalResult importTraining(NodeImporter &node) {
  for (unsigned i = 3; i < node.numResults(); ++i)
    if (node.hasResult(i))
      return node.unsupported("training mode with saved moments");
  Value x = node.operand(0);
  SmallVector<int64_t> axes = allAxes(node.rank(0));
  axes.erase(axes.begin() + 1);
  Value result =
      normalize(node.b, x, axes, node.floatAttribute("epsilon", 1e-5f),
                {node.operand(1), {1}}, {node.operand(2), {1}});
  node.setResult(0, result, node.operandType(0));
  Moments moments = momentsOver(node.b, x, axes);
  double momentum = node.floatAttribute("momentum", 0.9f);
  const Aligned own[] = {moments.mean, moments.variance};
  for (unsigned i : {0, 1}) {
    Value running = floatElementwise(
        node.b, {node.operand(3 + i), own[i].value},
        node.tensorType(3 + i).getElementType(),
        [&](FloatScalars &s, ValueRange args) {
          return s.add(s.mul(args[0], s.constant(momentum)),
                       s.mul(args[1], s.constant(1 - momentum)));
        });
    node.setResult(1 + i, running, node.operandType(3 + i));
  }
  return success();
}

/// x * factor + shift, both of one value per channel: the form in which
/// `simplify` folds a normalization into the convolution before it.
static LogicalResult importBatchNormalization(NodeImporter &node) {
  if (failed(expectRankAtLeast(node, 0, 2)))
    return failure();
  if (node.opset() < 9 && node.intAttribute("spatial", 1) == 0)
    return node.unsupported("with spatial = 0");
  bool trains = node.opset() >= 14 && node.intAttribute("training_mode", 0);
  for (unsigned i = 1; i < node.numResults(); ++i)
    trains |= node.hasResult(i);
  for (unsigned i : {1, 2, 3, 4})
    if (failed(expectShape(node, i, node.shape(0)[1])))
      return failure();
  if (trains)
    return node.opset() >= 14 ? importTraining(node)
                              : node.unsupported("training mode");
  double epsilon = node.floatAttribute("epsilon", 1e-5f);
  Type element = node.tensorType(0).getElementType();
  Type compute = computeType(element);
  Value factor =
      floatElementwise(node.b, {node.operand(1), node.operand(4)}, compute,
                       [&](FloatScalars &s, ValueRange args) {
                         Value deviation =
                             s.sqrt(s.add(args[1], s.constant(epsilon)));
                         return s.div(args[0], deviation);
                       });
  Value shift =
      floatElementwise(node.b, {node.operand(2), node.operand(3), factor},
                       compute, [](FloatScalars &s, ValueRange args) {
                         return s.sub(args[0], s.mul(args[1], args[2]));
                       });
  Value result = alignedElementwise(
      node.b, node.operand(0), {{factor, {1}}, {shift, {1}}}, compute, element,
      [](FloatScalars &s, ValueRange args) {
        return s.add(s.mul(args[0], args[1]), args[2]);
      });
  node.setResult(0, result, node.operandType(0));
  return success();
}

static LogicalResult importInstanceNormalization(NodeImporter &node) {
  if (failed(expectRankAtLeast(node, 0, 2)))
    return failure();
  for (unsigned i : {1, 2})
    if (failed(expectShape(node, i, node.shape(0)[1])))
      return failure();
  Value result = normalize(node.b, node.operand(0), allAxes(node.rank(0), 2),
                           node.floatAttribute("epsilon", 1e-5f),
                           {node.operand(1), {1}}, {node.operand(2), {1}});
  node.setResult(0, result, node.operandType(0));
  return success();
}

/// Channels in groups; until opset 20 scale and bias were per group.
static LogicalResult importGroupNormalization(NodeImporter &node) {
  if (failed(expectRankAtLeast(node, 0, 2)))
    return failure();
  ArrayRef<int64_t> shape = node.shape(0);
  int64_t groups = node.intAttribute("num_groups", 0);
  if (groups <= 0 || shape[1] % groups != 0)
    return node.invalid("expected attribute 'num_groups' to divide the " +
                        Twine(shape[1]) + " channels, found " + Twine(groups));
  bool perGroup = node.opset() < 21;
  for (unsigned i : {1, 2})
    if (failed(expectShape(node, i, perGroup ? groups : shape[1])))
      return failure();
  SmallVector<int64_t> grouped = {shape[0], groups, shape[1] / groups};
  grouped.append(shape.begin() + 2, shape.end());
  auto parameter = [&](unsigned i) -> Aligned {
    if (perGroup)
      return {node.operand(i), {1}};
    return {reshape(node.b, node.operand(i), {groups, shape[1] / groups}),
            {1, 2}};
  };
  Value x = reshape(node.b, node.operand(0), grouped);
  Value result = normalize(node.b, x, allAxes(grouped.size(), 2),
                           node.floatAttribute("epsilon", 1e-5f), parameter(1),
                           parameter(2));
  node.setResult(0, reshape(node.b, result, shape), node.operandType(0));
  return success();
}

/// The sum of squares over `size` neighbouring channels.
static Value sumNeighbours(ImplicitLocOpBuilder &b, Value x, int64_t size) {
  auto type = cast<RankedTensorType>(x.getType());
  int64_t rank = type.getRank(), channels = type.getDimSize(1);
  Type compute = computeType(type.getElementType());
  // Neighbours beyond all channels add nothing.
  int64_t before = std::min((size - 1) / 2, channels);
  int64_t after = std::min(size / 2, channels);
  SmallVector<int64_t> low(rank, 0), high(rank, 0);
  low[1] = before;
  high[1] = after;
  Value zero = arith::ConstantOp::create(b, zeroOf(type.getElementType()));
  Value padded = pad(b, x, low, high, zero);
  Value window =
      tensor::EmptyOp::create(b, {before + after + 1}, type.getElementType());
  Value init =
      fill(b, type.getShape(), arith::ConstantOp::create(b, zeroOf(compute)));
  SmallVector<AffineExpr> from;
  for (int64_t i = 0; i != rank; ++i)
    from.push_back(b.getAffineDimExpr(i));
  from[1] = from[1] + b.getAffineDimExpr(rank);
  AffineMap maps[] = {
      AffineMap::get(rank + 1, 0, from, b.getContext()),
      AffineMap::get(rank + 1, 0, b.getAffineDimExpr(rank)),
      AffineMap::getMultiDimIdentityMap(rank + 1, b.getContext())
          .dropResult(rank)};
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  iterators.push_back(utils::IteratorType::reduction);
  return linalg::GenericOp::create(
             b, init.getType(), ValueRange{padded, window}, ValueRange{init},
             maps, iterators,
             [&](OpBuilder &builder, Location loc, ValueRange args) {
               FloatScalars s(builder, loc, compute);
               Value x = resizeFloat(builder, loc, args[0], compute);
               Value sum = s.add(args[2], s.mul(x, x));
               linalg::YieldOp::create(builder, loc, sum);
             })
      .getResult(0);
}

static LogicalResult importLRN(NodeImporter &node) {
  if (failed(expectRankAtLeast(node, 0, 2)))
    return failure();
  int64_t size = node.intAttribute("size", 0);
  if (size < 1)
    return node.invalid("expected attribute 'size' of 1 or more, found " +
                        Twine(size));
  double alpha = node.floatAttribute("alpha", 1e-4f);
  double beta = node.floatAttribute("beta", 0.75);
  double bias = node.floatAttribute("bias", 1);
  Value result = floatElementwise(
      node.b, {node.operand(0), sumNeighbours(node.b, node.operand(0), size)},
      node.tensorType(0).getElementType(),
      [&](FloatScalars &s, ValueRange args) {
        Value scaled = s.mul(args[1], s.constant(alpha / size));
        Value base = s.add(s.constant(bias), scaled);
        return s.div(args[0], s.make<math::PowFOp>(base, s.constant(beta)));
      });
  node.setResult(0, result, node.operandType(0));
  return success();
}

void ashlar::onnx_import::registerChannelNormalizationsOperators(
    OperatorRegistry &registry) {
  registry.add("BatchNormalization", 7, importBatchNormalization);
  registry.add("InstanceNormalization", 6, importInstanceNormalization);
  registry.add("GroupNormalization", 18, importGroupNormalization);
  registry.add("LRN", 1, importLRN);
}
