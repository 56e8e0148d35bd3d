// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes that depend on data of operators that move elements: they go where
// their axes do, or are as many as the places are.
#include "ComputedSizes.h"
#include "SizeRules.h"
#include "TensorBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ashlar::onnx_import;

LogicalResult ashlar::onnx_import::permuteSizes(NodeImporter &node,
                                                Sizes &sizes) {
  ArrayRef<Value> own = node.sizes(0);
  SmallVector<int64_t> order = node.intsAttribute("perm");
  if (order.size() != own.size() && !order.empty())
    return success(); // the operator will say so
  for (size_t i = 0; i != own.size(); ++i) {
    int64_t from = order.empty() ? int64_t(own.size() - 1 - i) : order[i];
    if (from < 0 || from >= int64_t(own.size()))
      return success();
    sizes.push_back(own[from]);
  }
  return success();
}

/// Indices that count from the end count from where the data end: `ends`, which
/// broadcasts to the indices.
static void countFromEnd(NodeImporter &node, Value ends) {
  ImplicitLocOpBuilder &b = node.b;
  ImportedValue places = node.importedOperand(1);
  Value wide = castTensor(b, places.value, places.type, ElementType::I64);
  places.type = ElementType::I64;
  places.value = elementwise(
      b, b.getI64Type(), {wide, ends},
      [](OpBuilder &b, Location loc, ValueRange x) -> Value {
        Value zero = scalarIntConstant(b, loc, b.getI64Type(), 0);
        Value isNegative = arith::CmpIOp::create(
            b, loc, arith::CmpIPredicate::slt, x[0], zero);
        Value fromEnd = arith::AddIOp::create(b, loc, x[0], x[1]);
        return arith::SelectOp::create(b, loc, isNegative, fromEnd, x[0]);
      });
  node.replaceOperand(1, places);
}

/// The places may be as many as the data say; those beyond are brought into
/// bounds like all others.
LogicalResult ashlar::onnx_import::gatherSizes(NodeImporter &node,
                                               Sizes &sizes) {
  int64_t rank = node.rank(0), axis = node.intAttribute("axis", 0);
  axis = axis < 0 ? axis + rank : axis;
  if (axis < 0 || axis >= rank)
    return success();
  ArrayRef<Value> data = node.sizes(0), places = node.sizes(1);
  if (isSized(data, axis))
    countFromEnd(node, asTensor(node, sizeOf(node, 0, axis)));
  for (int64_t i = 0; i != rank; ++i) {
    if (i != axis) {
      sizes.push_back(data.empty() ? Value() : data[i]);
      continue;
    }
    if (places.empty())
      sizes.append(node.rank(1), Value());
    else
      sizes.append(places.begin(), places.end());
  }
  return success();
}

/// The same for places that are as many numbers, one for each of the first
/// axes.
static void countFromEnds(NodeImporter &node, int64_t depth) {
  if (depth < 1 || depth > node.rank(0) ||
      llvm::none_of(node.sizes(0).take_front(depth),
                    [](Value size) { return bool(size); }))
    return;
  SmallVector<Value> ends;
  for (int64_t axis = 0; axis != depth; ++axis)
    ends.push_back(reshape(node.b, asTensor(node, sizeOf(node, 0, axis)), {1}));
  countFromEnd(node, concat(node.b, ends, 0));
}

LogicalResult ashlar::onnx_import::gatherNDSizes(NodeImporter &node,
                                                 Sizes &sizes) {
  ArrayRef<Value> data = node.sizes(0), places = node.sizes(1);
  int64_t last = node.rank(1) - 1;
  if (node.intAttribute("batch_dims", 0) != 0 || last < 0 ||
      isSized(places, last))
    return node.unsupportedSize(
        "its sizes depend on data in another way than by the number of places "
        "and the sizes of what is gathered from");
  int64_t depth = node.shape(1).back();
  if (depth < 1 || depth > node.rank(0))
    return success();
  countFromEnds(node, depth);
  for (int64_t axis = 0; axis != last; ++axis)
    sizes.push_back(isSized(places, axis) ? places[axis] : Value());
  for (int64_t axis = depth; axis != node.rank(0); ++axis)
    sizes.push_back(isSized(data, axis) ? data[axis] : Value());
  return success();
}

/// Sizes of one are put in or taken out.
LogicalResult ashlar::onnx_import::squeezeSizes(NodeImporter &node,
                                                Sizes &sizes) {
  ArrayRef<Value> own = node.sizes(0);
  bool isIn = node.opType() == "Unsqueeze";
  int64_t count = node.hasOperand(1) ? node.tensorType(1).getNumElements()
                                     : node.intsAttribute("axes").size();
  int64_t rank = node.rank(0) + (isIn ? count : 0);
  FailureOr<SmallVector<int64_t>> axes = node.axes(1, rank);
  if (failed(axes))
    return failure();
  int64_t from = 0;
  SmallVector<int64_t> leaving;
  for (int64_t axis = 0; axis != rank; ++axis) {
    bool named = llvm::is_contained(*axes, axis);
    if (isIn) {
      sizes.push_back(named ? Value() : own[from++]);
      continue;
    }
    bool goes =
        named || (axes->empty() && !own[axis] && node.shape(0)[axis] == 1);
    if (!goes)
      sizes.push_back(own[axis]);
    else if (own[axis])
      leaving.push_back(axis);
  }
  if (leaving.empty())
    return success();
  // An axis that may be taken away has one element.
  ImportedValue first = node.importedOperand(0);
  SmallVector<int64_t> shape(node.shape(0)), zeros(shape.size(), 0),
      ones(shape.size(), 1);
  for (int64_t axis : leaving)
    if (std::exchange(shape[axis], 1) == 0)
      return node.invalid("axis " + Twine(axis) + " has no elements");
  first.value = slice(node.b, first.value, zeros, shape, ones);
  node.replaceOperand(0, first);
  return success();
}

/// How many places are written may depend on data: the operator looks. Those of
/// what is written into may, too.
LogicalResult ashlar::onnx_import::scatterSizes(NodeImporter &node,
                                                Sizes &sizes) {
  ArrayRef<Value> own = node.sizes(0);
  sizes.assign(own.begin(), own.end());
  if (node.opType() == "ScatterND") {
    if (node.rank(1) > 0)
      countFromEnds(node, node.shape(1).back());
    return success();
  }
  for (int64_t axis : axisOf(node, 0))
    if (isSized(own, axis))
      countFromEnd(node, asTensor(node, sizeOf(node, 0, axis)));
  return success();
}

LogicalResult ashlar::onnx_import::gatherElementsSizes(NodeImporter &node,
                                                       Sizes &sizes) {
  ArrayRef<Value> places = node.sizes(1);
  for (int64_t axis : axisOf(node, 0))
    if (isSized(node.sizes(0), axis))
      countFromEnd(node, asTensor(node, sizeOf(node, 0, axis)));
  sizes.assign(places.begin(), places.end());
  return success();
}
