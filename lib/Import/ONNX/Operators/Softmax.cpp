// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Softmax, LogSoftmax and Hardmax. Before opset 13 they worked on the matrix
// to which the operand flattens at `axis`: on all axes from there on.
#include "../ReductionBuilder.h"

using namespace mlir;
using namespace ashlar::onnx_import;

/// The axes that are normalised together, in order.
static FailureOr<SmallVector<int64_t>> normalizedAxes(NodeImporter &node) {
  bool flattens = node.opset() < 13;
  int64_t rank = node.rank(0);
  int64_t given = node.intAttribute("axis", flattens ? 1 : -1);
  // Flattening at the rank leaves rows of one element.
  if (flattens && given == rank)
    return SmallVector<int64_t>();
  FailureOr<int64_t> axis = node.normalizeAxis(given, rank);
  if (failed(axis))
    return failure();
  return flattens ? allAxes(rank, *axis) : SmallVector<int64_t>{*axis};
}

template <bool logarithm>
static LogicalResult importSoftmax(NodeImporter &node) {
  FailureOr<SmallVector<int64_t>> axes = normalizedAxes(node);
  if (failed(axes))
    return failure();
  node.setResult(0, softmax(node.b, node.operand(0), *axes, logarithm),
                 node.operandType(0));
  return success();
}

static LogicalResult importHardmax(NodeImporter &node) {
  FailureOr<SmallVector<int64_t>> axes = normalizedAxes(node);
  if (failed(axes))
    return failure();
  Value x = node.operand(0);
  Type element = node.tensorType(0).getElementType();
  // The axes are neighbours: rows, the axes as one, columns.
  int64_t sizes[] = {1, 1, 1};
  for (auto [i, dim] : llvm::enumerate(node.shape(0))) {
    int64_t axis = i;
    bool before = axes->empty() || axis < axes->front();
    sizes[before ? 0 : axis > axes->back() ? 2 : 1] *= dim;
  }
  if (node.tensorType(0).getNumElements() == 0) {
    node.setResult(0, x, node.operandType(0));
    return success();
  }
  Value winners = argExtreme(node.b, reshape(node.b, x, sizes),
                             node.operandType(0), 1, /*isMax=*/true,
                             /*selectLast=*/false);
  Value one =
      arith::ConstantOp::create(node.b, node.b.getFloatAttr(element, 1));
  Value zero = arith::ConstantOp::create(node.b, zeroOf(element));
  Value places = generate(
      node.b, {sizes[1]}, node.b.getI64Type(),
      [](OpBuilder &b, Location loc, ValueRange at) -> Value {
        return arith::IndexCastOp::create(b, loc, b.getI64Type(), at[0]);
      });
  Value result =
      elementwise(node.b, element,
                  {reshape(node.b, winners, {sizes[0], 1, sizes[2]}),
                   reshape(node.b, places, {sizes[1], 1})},
                  [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                    Value wins = arith::CmpIOp::create(
                        b, loc, arith::CmpIPredicate::eq, args[0], args[1]);
                    return arith::SelectOp::create(b, loc, wins, one, zero);
                  });
  node.setResult(0, reshape(node.b, result, node.shape(0)),
                 node.operandType(0));
  return success();
}

void ashlar::onnx_import::registerSoftmaxOperators(OperatorRegistry &registry) {
  registry.add("Softmax", 1, importSoftmax<false>);
  registry.add("LogSoftmax", 1, importSoftmax<true>);
  registry.add("Hardmax", 1, importHardmax);
}
