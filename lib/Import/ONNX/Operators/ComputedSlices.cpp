// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ComputedSlices.h"
#include "../OperandRules.h"
#include "../TensorBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ashlar::onnx_import;

namespace {
/// The elements of one axis that are taken: `start` and `count` are tensors of
/// one i64.
struct Selection {
  Value start, count;
  int64_t axis, step;
};
} // namespace

static Value integer(OpBuilder &b, Location loc, int64_t value) {
  return scalarIntConstant(b, loc, b.getI64Type(), value);
}

/// Element `at` of operand i as a place of an axis of `dim` elements: negative
/// ones count from the end, those outside come to the nearest that is allowed.
static Value placeOf(NodeImporter &node, unsigned i, int64_t at, int64_t dim,
                     bool forward) {
  ImplicitLocOpBuilder &b = node.b;
  Value given = reshape(b, slice(b, node.operand(i), {at}, {1}, {1}), {});
  given = castTensor(b, given, node.operandType(i), ElementType::I64);
  return elementwise(
      b, b.getI64Type(), given,
      [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
        Value isBack = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                             x[0], integer(b, loc, 0));
        // Brought near first, so that nothing overflows.
        Value near =
            arith::MaxSIOp::create(b, loc, x[0], integer(b, loc, -dim - 1));
        Value back = arith::AddIOp::create(b, loc, near, integer(b, loc, dim));
        Value place = arith::SelectOp::create(b, loc, isBack, back, x[0]);
        place = arith::MaxSIOp::create(b, loc, place,
                                       integer(b, loc, forward ? 0 : -1));
        return arith::MinSIOp::create(b, loc, place,
                                      integer(b, loc, forward ? dim : dim - 1));
      });
}

static Selection select(NodeImporter &node, int64_t at, int64_t axis,
                        int64_t step) {
  ImplicitLocOpBuilder &b = node.b;
  int64_t dim = node.shape(0)[axis];
  Value start = placeOf(node, 1, at, dim, step > 0);
  Value end = placeOf(node, 2, at, dim, step > 0);
  // Steps beyond the axis are all the same.
  step = std::clamp(step, -dim - 1, dim + 1);
  Value count = elementwise(
      b, b.getI64Type(), {start, end},
      [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
        Value span = step > 0 ? arith::SubIOp::create(b, loc, x[1], x[0])
                              : arith::SubIOp::create(b, loc, x[0], x[1]);
        span = arith::MaxSIOp::create(b, loc, span, integer(b, loc, 0));
        int64_t width = std::abs(step);
        span = arith::AddIOp::create(b, loc, span, integer(b, loc, width - 1));
        return arith::DivUIOp::create(b, loc, span, integer(b, loc, width));
      });
  return {start, count, axis, step};
}

static FailureOr<SmallVector<Selection>> readSelections(NodeImporter &node) {
  for (unsigned i : {1, 2})
    if (failed(expectRank(node, i, 1)) || failed(expectIndexType(node, i)))
      return failure();
  int64_t count = node.shape(1)[0], rank = node.rank(0);
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, count));
  SmallVector<int64_t> steps(count, 1);
  for (auto [i, role, list] : {std::tuple(3u, "the axes", &axes),
                               std::tuple(4u, "the steps", &steps)}) {
    if (!node.hasOperand(i))
      continue;
    FailureOr<SmallVector<int64_t>> given = node.constantInts(i, role);
    if (failed(given))
      return failure();
    *list = *given;
  }
  if (node.shape(2)[0] != count || int64_t(axes.size()) != count ||
      int64_t(steps.size()) != count)
    return node.invalid(
        "has " + Twine(count) + " starts, " + Twine(node.shape(2)[0]) +
        " ends, " + Twine(axes.size()) + " axes and " + Twine(steps.size()) +
        " steps; expected as many of each");
  SmallVector<Selection> selections;
  llvm::SmallDenseSet<int64_t> seen;
  for (auto [i, given, step] : llvm::enumerate(axes, steps)) {
    FailureOr<int64_t> axis = node.normalizeAxis(given, rank);
    if (failed(axis))
      return failure();
    if (step == 0)
      return node.invalid("the step of axis " + Twine(given) +
                          " is 0; expected a positive or negative number");
    if (!seen.insert(*axis).second)
      return node.invalid("axis " + Twine(given) + " is named twice");
    selections.push_back(select(node, i, *axis, step));
  }
  return selections;
}

LogicalResult ashlar::onnx_import::importComputedSlice(NodeImporter &node) {
  if (!node.sizes(0).empty())
    return node.unsupportedSize("starts or ends that depend on data, of a "
                                "tensor whose size does, too");
  FailureOr<SmallVector<Selection>> selections = readSelections(node);
  if (failed(selections))
    return failure();
  for (unsigned i : {1, 2})
    if (!node.constantOperand(i))
      node.readAtRunTime(i);
  if (node.tensorType(0).getNumElements() == 0)
    return node.unsupportedSize("starts or ends that depend on data, of a "
                                "tensor without elements");
  SmallVector<int64_t> shape(node.shape(0));
  SmallVector<Value, 0> sizes(shape.size());
  for (Selection &selection : *selections) {
    int64_t &dim = shape[selection.axis];
    dim = llvm::divideCeil(dim, std::abs(selection.step));
    DenseElementsAttr known = node.constantValue(selection.count);
    if (known)
      dim = (*known.getValues<APInt>().begin()).getSExtValue();
    else
      sizes[selection.axis] = selection.count;
  }
  Value data = node.operand(0);
  ArrayRef<int64_t> from = node.shape(0);
  Value result = generate(
      node.b, shape, node.tensorType(0).getElementType(),
      [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        SmallVector<Value> place(at.begin(), at.end());
        for (const Selection &selection : *selections) {
          Value &here = place[selection.axis];
          auto index = [&](int64_t value) -> Value {
            return arith::ConstantIndexOp::create(b, loc, value);
          };
          Value start =
              tensor::ExtractOp::create(b, loc, selection.start, ValueRange());
          start = arith::IndexCastOp::create(b, loc, b.getIndexType(), start);
          here = arith::AddIOp::create(
              b, loc, start,
              arith::MulIOp::create(b, loc, here, index(selection.step)));
          // What is beyond the last one is not used, but read.
          here = arith::MaxSIOp::create(b, loc, here, index(0));
          here = arith::MinSIOp::create(b, loc, here,
                                        index(from[selection.axis] - 1));
        }
        return tensor::ExtractOp::create(b, loc, data, place);
      });
  node.setResult(0, {result, node.operandType(0), sizes});
  return success();
}
