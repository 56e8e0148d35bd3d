// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What decoding keeps from step to step: CausalConvWithState, TensorScatter.
#include "../OperandRules.h"
#include "../ReductionBuilder.h"
#include "Convolution.h"
#include "IndexArithmetic.h"
#include "LoopNest.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ashlar::onnx_import;

/// A depthwise convolution over the elements of an earlier call and these.
static LogicalResult importCausalConvWithState(NodeImporter &node) {
  ImplicitLocOpBuilder &b = node.b;
  if (failed(expectRank(node, 0, 3)) || failed(expectRank(node, 1, 3)))
    return failure();
  std::string activation = node.stringAttribute("activation", "none");
  if (failed(expectOneOf(node, "attribute 'activation'", activation,
                         {"none", "silu", "swish"})))
    return failure();
  ArrayRef<int64_t> shape = node.shape(0);
  int64_t batch = shape[0], channels = shape[1], length = shape[2];
  int64_t kernel = node.shape(1)[2];
  if (kernel < 1 || failed(expectShape(node, 1, {channels, 1, kernel})) ||
      (node.hasOperand(2) && failed(expectShape(node, 2, {channels}))) ||
      (node.hasOperand(3) &&
       failed(expectShape(node, 3, {batch, channels, kernel - 1}))))
    return kernel < 1 ? node.invalid("expected a kernel of 1 or more elements")
                      : failure();
  ElementType type = node.operandType(0);
  Type element = node.tensorType(0).getElementType();
  Value zero = arith::ConstantOp::create(b, zeroOf(element));
  Value x = node.operand(0);
  if (!node.hasOperand(3))
    x = pad(b, x, {0, 0, kernel - 1}, {0, 0, 0}, zero);
  else if (kernel > 1)
    x = concat(b, {node.operand(3), x}, 2);
  node.setResult(
      1, slice(b, x, {0, 0, length}, {batch, channels, kernel - 1}, {1, 1, 1}),
      type);
  AffineExpr n = b.getAffineDimExpr(0), c = b.getAffineDimExpr(1),
             l = b.getAffineDimExpr(2), k = b.getAffineDimExpr(3);
  AffineMap maps[] = {AffineMap::get(4, 0, {n, c, l + k}, b.getContext()),
                      AffineMap::get(4, 0, {c, k}, b.getContext()),
                      AffineMap::get(4, 0, {n, c, l}, b.getContext())};
  Type wide = accumulatorOf(element);
  Value sums = contract(
      b, x, reshape(b, node.operand(1), {channels, kernel}),
      fill(b, shape, arith::ConstantOp::create(b, zeroOf(wide))), maps);
  Value result = addBias(b, sums, node.operand(2), element);
  if (activation != "none")
    result = floatElementwise(b, {result}, element,
                              [](FloatScalars &s, ValueRange args) {
                                return s.mul(args[0], s.sigmoid(args[0]));
                              });
  node.setResult(0, result, type);
  return success();
}

/// A cache in which a part of one axis is replaced, from a place on that each
/// element of the batch has for itself.
static LogicalResult importTensorScatter(NodeImporter &node) {
  if (failed(expectRankAtLeast(node, 0, 2)))
    return failure();
  std::string mode = node.stringAttribute("mode", "linear");
  if (failed(
          expectOneOf(node, "attribute 'mode'", mode, {"linear", "circular"})))
    return failure();
  FailureOr<int64_t> axis =
      node.normalizeAxis(node.intAttribute("axis", -2), node.rank(0));
  if (failed(axis))
    return failure();
  if (*axis == 0)
    return node.invalid("expected an axis after the first, which is the batch");
  ArrayRef<int64_t> shape = node.shape(0);
  if (failed(expectRank(node, 1, shape.size())))
    return failure();
  SmallVector<int64_t> expected(shape);
  int64_t dim = shape[*axis], count = node.shape(1)[*axis];
  expected[*axis] = std::min(count, dim);
  if (failed(expectShape(node, 1, expected)) ||
      (node.hasOperand(2) && failed(expectShape(node, 2, {shape[0]}))))
    return failure();
  Value update = node.operand(1), starts = node.operand(2);
  Value result = node.operand(0);
  // A loop over what is new alone: the rest may stay where it is.
  if (ShapedType::getNumElements(expected) != 0)
    result = loopOver(
        node.b, node.b.getLoc(), expected, result,
        [&](OpBuilder &b, Location loc, ValueRange at,
            ValueRange carried) -> SmallVector<Value> {
          Value start = arith::ConstantIndexOp::create(b, loc, 0);
          if (starts)
            start = arith::IndexCastOp::create(
                b, loc, b.getIndexType(),
                tensor::ExtractOp::create(b, loc, starts, at[0]));
          Value size = arith::ConstantIndexOp::create(b, loc, dim);
          // The start may be any number.
          if (mode == "circular")
            start = arith::AddIOp::create(
                b, loc, arith::RemSIOp::create(b, loc, start, size), size);
          Value index = arith::AddIOp::create(b, loc, start, at[*axis]);
          if (mode == "circular")
            index = arith::RemSIOp::create(b, loc, index, size);
          SmallVector<Value> place(at);
          place[*axis] = clampIndex(b, loc, index, dim);
          Value value = tensor::ExtractOp::create(b, loc, update, at);
          if (mode == "linear") {
            // What does not fit is left out.
            Value old = tensor::ExtractOp::create(b, loc, carried[0], place);
            Value fits = arith::CmpIOp::create(
                b, loc, arith::CmpIPredicate::ult, index, size);
            value = arith::SelectOp::create(b, loc, fits, value, old);
          }
          return {tensor::InsertOp::create(b, loc, value, carried[0], place)};
        })[0];
  node.setResult(0, result, node.operandType(0));
  return success();
}

void ashlar::onnx_import::registerStateUpdatesOperators(
    OperatorRegistry &registry) {
  registry.add("CausalConvWithState", 27, importCausalConvWithState);
  registry.add("TensorScatter", 24, importTensorScatter);
}
