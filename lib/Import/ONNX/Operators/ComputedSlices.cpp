// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ComputedSlices.h"
#include "../ComputedSizes.h"
#include "../OperandRules.h"
#include "../TensorBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ashlar::onnx_import;

namespace {
/// The elements of one axis that are taken.
struct Selection {
  Number start, count;
  int64_t axis, step;
};
} // namespace

static Value integer(OpBuilder &b, Location loc, int64_t value) {
  return scalarIntConstant(b, loc, b.getI64Type(), value);
}

/// Element `at` of operand i.
static Value givenPlace(NodeImporter &node, unsigned i, int64_t at) {
  Value given =
      reshape(node.b, slice(node.b, node.operand(i), {at}, {1}, {1}), {});
  return castTensor(node.b, given, node.operandType(i), ElementType::I64);
}

/// How far that is from the end of the axis where it is counted from there.
static std::optional<Number> fromEnd(NodeImporter &node, unsigned i, int64_t at,
                                     const Number &dim) {
  Number given = numberOf(node, givenPlace(node, i, at));
  if (given.isKnown() && given.low >= dim.high)
    return knownNumber(0);
  if (!given.isKnown() || given.low >= 0)
    return std::nullopt;
  return min(node, dim, knownNumber(-std::max(given.low, -dim.high - 1)));
}

/// Element `at` of operand i as a place of an axis of `dim` elements: negative
/// ones count from the end, those outside come to the nearest that is allowed.
static Number placeOf(NodeImporter &node, unsigned i, int64_t at,
                      const Number &dim, bool forward) {
  ImplicitLocOpBuilder &b = node.b;
  Value given = givenPlace(node, i, at);
  if (Number number = numberOf(node, given);
      forward && number.low >= 0 && number.high <= dim.low)
    return number;
  Value place = elementwise(
      b, b.getI64Type(), {given, asTensor(node, dim)},
      [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
        Value isBack = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                             x[0], integer(b, loc, 0));
        // Brought near first, so that nothing overflows.
        Value near = arith::MaxSIOp::create(b, loc, x[0],
                                            integer(b, loc, -dim.high - 1));
        Value back = arith::AddIOp::create(b, loc, near, x[1]);
        Value place = arith::SelectOp::create(b, loc, isBack, back, x[0]);
        place = arith::MaxSIOp::create(b, loc, place,
                                       integer(b, loc, forward ? 0 : -1));
        Value last =
            forward ? x[1]
                    : arith::SubIOp::create(b, loc, x[1], integer(b, loc, 1))
                          .getResult();
        return arith::MinSIOp::create(b, loc, place, last);
      });
  return numberOf(node, place);
}

static Selection select(NodeImporter &node, int64_t at, int64_t axis,
                        int64_t step) {
  Number dim = sizeOf(node, 0, axis);
  Number start = placeOf(node, 1, at, dim, step > 0);
  Number end = placeOf(node, 2, at, dim, step > 0);
  // Steps beyond the axis are all the same.
  step = std::clamp(step, -dim.high - 1, dim.high + 1);
  int64_t width = std::abs(step);
  Number span = step > 0 ? sub(node, end, start) : sub(node, start, end);
  // Of two places that are counted from the end, the end does not count.
  auto first = fromEnd(node, 1, at, dim), last = fromEnd(node, 2, at, dim);
  if (step > 0 && first && last)
    span = sub(node, *first, *last);
  span = max(node, span, knownNumber(0));
  Number count =
      div(node, add(node, span, knownNumber(width - 1)), knownNumber(width));
  count = min(node, count, knownNumber(llvm::divideCeil(dim.high, width)));
  return {start, count, axis, step};
}

static FailureOr<SmallVector<Selection>> readSelections(NodeImporter &node) {
  for (unsigned i : {1, 2}) {
    // tf2onnx writes a scalar for a list of one.
    if (ImportedValue given = node.importedOperand(i); node.rank(i) == 0) {
      given.value = reshape(node.b, given.value, {1});
      node.replaceOperand(i, given);
    }
    if (failed(expectRank(node, i, 1)) || failed(expectIndexType(node, i)))
      return failure();
  }
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

/// The elements of operand 0 that are selected, and in which shape.
static Value takeSelected(NodeImporter &node, ArrayRef<Selection> selections,
                          ArrayRef<int64_t> bounds) {
  Value data = node.operand(0);
  ArrayRef<int64_t> from = node.shape(0);
  return generate(
      node.b, bounds, node.tensorType(0).getElementType(),
      [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        SmallVector<Value> place(at.begin(), at.end());
        for (const Selection &selection : selections) {
          Value &here = place[selection.axis];
          Value step = arith::ConstantIndexOp::create(b, loc, selection.step);
          here =
              arith::AddIOp::create(b, loc, asIndex(b, loc, selection.start),
                                    arith::MulIOp::create(b, loc, here, step));
          // What is beyond the last one is not used, but read.
          here = clampTo(b, loc, here, knownNumber(from[selection.axis]));
        }
        return tensor::ExtractOp::create(b, loc, data, place);
      });
}

LogicalResult ashlar::onnx_import::importComputedSlice(NodeImporter &node) {
  FailureOr<SmallVector<Selection>> selections = readSelections(node);
  if (failed(selections))
    return failure();
  for (unsigned i : {1, 2})
    if (!node.constantOperand(i))
      node.readAtRunTime(i);
  if (node.tensorType(0).getNumElements() == 0)
    return node.unsupportedSize("starts or ends that depend on data, of a "
                                "tensor without elements");
  SmallVector<Number> result;
  for (int64_t axis = 0; axis != node.rank(0); ++axis)
    result.push_back(sizeOf(node, 0, axis));
  for (const Selection &selection : *selections)
    result[selection.axis] = selection.count;
  FailureOr<SizedShape> shape = boundShape(node, result, 2, "the end");
  if (failed(shape))
    return failure();
  Value sliced = takeSelected(node, *selections, shape->bounds);
  node.setResult(0, {sliced, node.operandType(0), shape->sizes});
  return success();
}

/// How large the parts are: given, or as equal as they can be.
static FailureOr<SmallVector<Number>> readParts(NodeImporter &node,
                                                const Number &dim) {
  int64_t count = node.numResults();
  SmallVector<Number> parts;
  if (node.hasOperand(1)) {
    FailureOr<SmallVector<Number>> given =
        numbersOf(node, 1, "the sizes of the parts");
    if (failed(given))
      return failure();
    parts = *given;
  } else if (node.hasAttribute("split")) {
    for (int64_t size : node.intsAttribute("split"))
      parts.push_back(knownNumber(size));
  } else {
    if (int64_t asked = node.intAttribute("num_outputs", count); asked != count)
      return node.invalid("attribute 'num_outputs' is " + Twine(asked) +
                          ", but the node has " + Twine(count) + " outputs");
    Number part =
        div(node, add(node, dim, knownNumber(count - 1)), knownNumber(count));
    Number left = dim;
    for (int64_t i = 0; i != count; ++i) {
      parts.push_back(min(node, part, left));
      left = sub(node, left, parts.back());
    }
  }
  if (int64_t(parts.size()) != count)
    return node.invalid("has " + Twine(parts.size()) + " sizes for " +
                        Twine(count) + " outputs");
  for (Number &part : parts)
    part = min(node, max(node, part, knownNumber(0)), knownNumber(dim.high));
  return parts;
}

LogicalResult ashlar::onnx_import::importComputedSplit(NodeImporter &node,
                                                       int64_t axis) {
  Number dim = sizeOf(node, 0, axis), start = knownNumber(0);
  FailureOr<SmallVector<Number>> parts = readParts(node, dim);
  if (failed(parts))
    return failure();
  if (node.tensorType(0).getNumElements() == 0)
    return node.unsupportedSize("parts whose sizes depend on data, of a tensor "
                                "without elements");
  SmallVector<Number> sizes;
  for (int64_t i = 0; i != node.rank(0); ++i)
    sizes.push_back(sizeOf(node, 0, i));
  for (auto [i, part] : llvm::enumerate(*parts)) {
    sizes[axis] = part;
    FailureOr<SizedShape> shape =
        boundShape(node, sizes, 1, "the size of a part");
    if (failed(shape))
      return failure();
    if (node.hasResult(i))
      node.setResult(
          i, {takeSelected(node, {{start, part, axis, 1}}, shape->bounds),
              node.operandType(0), shape->sizes});
    start = add(node, start, part);
  }
  return success();
}
