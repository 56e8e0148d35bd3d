// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Slice, Split, Concat, Expand, Tile and Transpose: parts and copies of tensors
// at places known at compile time.
#include "../ComputedSizes.h"
#include "../OperandRules.h"
#include "../RunTimeSizes.h"
#include "../TensorBuilder.h"
#include "ComputedShapes.h"
#include "ComputedSlices.h"

using namespace mlir;
using namespace ashlar::onnx_import;

namespace {
/// Elements start, start + step, ... of one axis.
struct Selection {
  int64_t start = 0, count = 0, step = 1;
};
} // namespace

/// What NumPy's start:end:step selects of `dim` elements; step is not zero.
static Selection selectRange(int64_t dim, int64_t start, int64_t end,
                             int64_t step) {
  auto place = [&](int64_t at, int64_t least, int64_t most) {
    // What is below -dim stays negative.
    return std::clamp(at < 0 ? std::max(at, -dim - 1) + dim : at, least, most);
  };
  Selection range;
  if (step > 0) {
    range.start = place(start, 0, dim);
    end = place(end, 0, dim);
    if (end > range.start)
      range.count = (end - range.start - 1) / step + 1;
  } else {
    step = std::max(step, -std::numeric_limits<int64_t>::max());
    range.start = place(start, -1, dim - 1);
    end = place(end, -1, dim - 1);
    if (range.start > end)
      range.count = (range.start - end - 1) / -step + 1;
  }
  range.step = range.count > 1 ? step : 1;
  if (range.count == 0)
    range.start = 0;
  return range;
}

/// A view of what is selected forwards, and a copy of it where an axis is
/// walked backwards, which no view does.
static Value select(ImplicitLocOpBuilder &b, Value input,
                    ArrayRef<Selection> ranges) {
  SmallVector<int64_t> offsets, sizes, strides;
  for (auto [range, dim] :
       llvm::zip(ranges, cast<RankedTensorType>(input.getType()).getShape())) {
    bool forwards = range.step > 0;
    offsets.push_back(forwards ? range.start : 0);
    sizes.push_back(forwards ? range.count : dim);
    strides.push_back(forwards ? range.step : 1);
  }
  Value view = slice(b, input, offsets, sizes, strides);
  SmallVector<AffineExpr> places;
  bool reverses = false;
  for (auto [i, range] : llvm::enumerate(ranges)) {
    AffineExpr place = b.getAffineDimExpr(i);
    if (range.step < 0) {
      place = place * range.step + range.start;
      sizes[i] = range.count;
      reverses = true;
    }
    places.push_back(place);
  }
  if (!reverses)
    return view;
  return parallel(
      b, sizes, getElementTypeOrSelf(input), view,
      AffineMap::get(ranges.size(), 0, places, b.getContext()),
      [](OpBuilder &, Location, ValueRange args) { return args[0]; });
}

static LogicalResult importSlice(NodeImporter &node) {
  bool byAttributes = node.opset() < 10;
  if (failed(expectOperands(node, byAttributes ? 1 : 3, byAttributes ? 1 : 5)))
    return failure();
  if (!byAttributes && (!node.constantOperand(1) || !node.constantOperand(2)))
    return importComputedSlice(node);
  SmallVector<int64_t> starts, ends, axes, steps;
  int64_t rank = node.rank(0);
  if (byAttributes) {
    starts = node.intsAttribute("starts");
    ends = node.intsAttribute("ends");
    axes = node.intsAttribute("axes");
  } else {
    auto read = [&](unsigned i, StringRef role, SmallVector<int64_t> &to) {
      if (!node.hasOperand(i))
        return success();
      FailureOr<SmallVector<int64_t>> values = node.constantInts(i, role);
      if (succeeded(values))
        to = *values;
      return LogicalResult(values);
    };
    if (failed(read(1, "the starts", starts)) ||
        failed(read(2, "the ends", ends)) ||
        failed(read(3, "the axes", axes)) ||
        failed(read(4, "the steps", steps)))
      return failure();
  }
  if (axes.empty())
    axes = llvm::to_vector(llvm::seq<int64_t>(0, starts.size()));
  if (steps.empty())
    steps.assign(starts.size(), 1);
  if (starts.size() != ends.size() || axes.size() != starts.size() ||
      steps.size() != starts.size())
    return node.invalid("has " + Twine(starts.size()) + " starts, " +
                        Twine(ends.size()) + " ends, " + Twine(axes.size()) +
                        " axes and " + Twine(steps.size()) +
                        " steps; expected as many of each");
  SmallVector<Selection> ranges;
  for (int64_t dim : node.shape(0))
    ranges.push_back({0, dim, 1});
  llvm::SmallDenseSet<int64_t> seen;
  for (auto [start, end, axis, step] : llvm::zip(starts, ends, axes, steps)) {
    FailureOr<int64_t> at = node.normalizeAxis(axis, rank);
    if (failed(at))
      return failure();
    if (step == 0)
      return node.invalid("the step of axis " + Twine(axis) +
                          " is 0; expected a positive or negative number");
    if (!seen.insert(*at).second)
      return node.invalid("axis " + Twine(axis) + " is named twice");
    if (!sizeOf(node, 0, *at).isKnown())
      return byAttributes
                 ? node.unsupportedSize("it slices axis " + Twine(axis) +
                                        ", whose size depends on data")
                 : importComputedSlice(node);
    ranges[*at] = selectRange(node.shape(0)[*at], start, end, step);
  }
  SmallVector<Value, 0> sizes(node.sizes(0).begin(), node.sizes(0).end());
  node.setResult(
      0, {select(node.b, node.operand(0), ranges), node.operandType(0), sizes});
  return success();
}

static LogicalResult importSplit(NodeImporter &node) {
  if (failed(expectOperands(node, 1, 2)) ||
      failed(expectRankAtLeast(node, 0, 1)))
    return failure();
  int64_t rank = node.rank(0);
  FailureOr<int64_t> axis =
      node.normalizeAxis(node.intAttribute("axis", 0), rank);
  if (failed(axis))
    return failure();
  int64_t dim = node.shape(0)[*axis], count = node.numResults();
  SmallVector<int64_t> sizes = node.intsAttribute("split");
  if (node.hasOperand(1) && failed(expectRank(node, 1, 1)))
    return failure();
  if (isSized(node.sizes(0), *axis) ||
      (node.hasOperand(1) && !node.constantOperand(1)))
    return importComputedSplit(node, *axis);
  if (node.hasOperand(1)) {
    FailureOr<SmallVector<int64_t>> given =
        node.constantInts(1, "the sizes of the parts");
    if (failed(given))
      return failure();
    sizes = *given;
  }
  if (sizes.empty()) {
    if (node.intAttribute("num_outputs", count) != count)
      return node.invalid("attribute 'num_outputs' is " +
                          Twine(node.intAttribute("num_outputs", count)) +
                          ", but the node has " + Twine(count) + " outputs");
    if (count == 0 || (dim % count != 0 && node.opset() < 18))
      return node.invalid("axis " + Twine(*axis) + " has size " + Twine(dim) +
                          "; expected a multiple of the " + Twine(count) +
                          " outputs");
    int64_t part = llvm::divideCeil(dim, count), left = dim;
    for (int64_t i = 0; i != count; ++i) {
      sizes.push_back(std::min(part, left));
      left -= sizes.back();
    }
  }
  if (int64_t(sizes.size()) != count)
    return node.invalid("has " + Twine(sizes.size()) + " sizes for " +
                        Twine(count) + " outputs");
  int64_t sum = 0;
  for (auto [i, size] : llvm::enumerate(sizes)) {
    if (size < 0 || llvm::AddOverflow(sum, size, sum))
      return node.invalid("the size of part " + Twine(i) + " is " +
                          Twine(size) + "; expected sizes from 0 to " +
                          Twine(dim));
  }
  if (sum != dim)
    return node.invalid("the parts' sizes add up to " + Twine(sum) +
                        ", but axis " + Twine(*axis) + " has size " +
                        Twine(dim));
  SmallVector<int64_t> offsets(rank, 0), shape(node.shape(0)), strides(rank, 1);
  for (auto [i, size] : llvm::enumerate(sizes)) {
    shape[*axis] = size;
    if (node.hasResult(i)) {
      ImportedValue part = node.importedOperand(0);
      part.value = slice(node.b, part.value, offsets, shape, strides);
      node.setResult(i, part);
    }
    offsets[*axis] += size;
  }
  return success();
}

static LogicalResult importConcat(NodeImporter &node) {
  unsigned count = node.numOperands();
  if (failed(expectOperands(node, std::max(count, 1u), count)) ||
      failed(expectRankAtLeast(node, 0, 1)))
    return failure();
  if (!node.hasAttribute("axis"))
    return node.invalid("expected the attribute axis, found none");
  int64_t rank = node.rank(0);
  FailureOr<int64_t> axis =
      node.normalizeAxis(node.intAttribute("axis", 0), rank);
  if (failed(axis))
    return failure();
  bool isComputed = false;
  for (unsigned i = 0; i != count; ++i) {
    if (failed(expectRank(node, i, rank)) || failed(expectSameType(node, i)))
      return failure();
    isComputed |= !node.sizes(i).empty();
  }
  if (isComputed)
    return importComputedConcat(node, *axis);
  SmallVector<int64_t> shape(node.shape(0));
  SmallVector<Value> parts;
  shape[*axis] = 0;
  for (unsigned i = 0; i != count; ++i) {
    SmallVector<int64_t> expected = shape;
    expected[*axis] = node.shape(i)[*axis];
    if (failed(expectShape(node, i, expected)))
      return failure();
    shape[*axis] += expected[*axis];
    parts.push_back(node.operand(i));
    if (failed(expectSize(node, shape)))
      return failure();
  }
  node.setResult(0, concat(node.b, parts, *axis), node.operandType(0));
  return success();
}

static LogicalResult importExpand(NodeImporter &node) {
  if (failed(expectOperands(node, 2, 2)) || failed(expectRank(node, 1, 1)))
    return failure();
  if (isComputed(node, 1))
    return importComputedExpand(node);
  FailureOr<SmallVector<int64_t>> asked = node.constantInts(1, "the shape");
  if (failed(asked) || failed(expectSize(node, *asked)))
    return failure();
  auto shape = broadcastShapes({node.shape(0), *asked});
  if (failed(shape))
    return node.invalid("the input's shape " + spellShape(node.shape(0)) +
                        " does not broadcast with " + spellShape(*asked));
  if (failed(expectSize(node, *shape)))
    return failure();
  node.setResult(0, broadcastTo(node.b, node.operand(0), *shape),
                 node.operandType(0));
  return success();
}

static LogicalResult importTile(NodeImporter &node) {
  if (failed(expectOperands(node, 2, 2)) ||
      failed(expectShape(node, 1, {node.rank(0)})))
    return failure();
  if (isComputed(node, 1))
    return importComputedTile(node);
  FailureOr<SmallVector<int64_t>> repeats = node.constantInts(1, "the repeats");
  if (failed(repeats) || failed(expectSize(node, *repeats)))
    return failure();
  // Copies are a broadcast along a new dimension before the one repeated.
  SmallVector<int64_t> split, repeated, shape;
  for (auto [dim, count] : llvm::zip(node.shape(0), *repeats)) {
    if (count != 1) {
      split.push_back(1);
      repeated.push_back(count);
    }
    split.push_back(dim);
    repeated.push_back(dim);
    if (failed(expectSize(node, {dim, count})))
      return failure();
    shape.push_back(dim * count);
  }
  if (failed(expectSize(node, shape)))
    return failure();
  Value copies =
      broadcastTo(node.b, reshape(node.b, node.operand(0), split), repeated);
  node.setResult(0, reshape(node.b, copies, shape), node.operandType(0));
  return success();
}

static LogicalResult importTranspose(NodeImporter &node) {
  if (failed(expectOperands(node, 1, 1)))
    return failure();
  SmallVector<int64_t> permutation = node.intsAttribute("perm");
  int64_t rank = node.rank(0);
  if (!node.hasAttribute("perm"))
    permutation = llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, rank)));
  SmallVector<bool> seen(rank, false);
  bool isPermutation = int64_t(permutation.size()) == rank;
  for (int64_t &axis : permutation) {
    if (axis < 0)
      axis += rank;
    isPermutation = isPermutation && axis >= 0 && axis < rank && !seen[axis];
    if (isPermutation)
      seen[axis] = true;
  }
  if (!isPermutation)
    return node.invalid(
        "attribute 'perm' is not a permutation of the input's " + Twine(rank) +
        " axes");
  node.setResult(0, transpose(node.b, node.operand(0), permutation),
                 node.operandType(0));
  return success();
}

void ashlar::onnx_import::registerSlicesOperators(OperatorRegistry &registry) {
  registry.add("Slice", 1, importSlice);
  registry.add("Split", 2, importSplit);
  registry.add("Concat", 4, importConcat);
  registry.add("Expand", 8, importExpand);
  registry.add("Tile", 6, importTile);
  registry.add("Transpose", 1, importTranspose);
}
