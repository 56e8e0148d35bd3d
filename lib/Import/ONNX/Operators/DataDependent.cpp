// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NonZero and Unique: the size of their result depends on their input's values,
// so they are computed where those are known at compile time and refused
// elsewhere.
#include "../OperandRules.h"
#include "../TensorBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace ashlar::onnx_import;

static FailureOr<DenseElementsAttr> readKnown(NodeImporter &node) {
  if (failed(expectOperands(node, 1, 1)))
    return failure();
  DenseElementsAttr constant = node.constantOperand(0);
  if (!constant || constant.getNumElements() > 1 << 20)
    return node.unsupported("the size of the result depends on the values of "
                            "input 0, which are not known at compile time");
  return constant;
}

static LogicalResult importNonZero(NodeImporter &node) {
  FailureOr<DenseElementsAttr> constant = readKnown(node);
  if (failed(constant))
    return failure();
  SmallVector<int64_t> found;
  int64_t position = 0;
  if (isFloat(node.operandType(0))) {
    for (const APFloat &value : constant->getValues<APFloat>()) {
      if (!value.isZero())
        found.push_back(position);
      ++position;
    }
  } else {
    for (const APInt &value : constant->getValues<APInt>()) {
      if (!value.isZero())
        found.push_back(position);
      ++position;
    }
  }
  ArrayRef<int64_t> shape = node.shape(0);
  int64_t rank = shape.size(), count = found.size();
  SmallVector<int64_t> indices(rank * count);
  for (int64_t i = 0; i != count; ++i)
    for (int64_t axis = rank - 1; axis >= 0; --axis) {
      indices[axis * count + i] = found[i] % shape[axis];
      found[i] /= shape[axis];
    }
  node.setResult(0, constantTensor(node.b, indices, {rank, count}),
                 ElementType::I64);
  return success();
}

/// Whether one element sorts before another; NaN is the last.
static bool isLess(Attribute x, Attribute y, bool natural) {
  if (auto real = dyn_cast<FloatAttr>(x)) {
    APFloat left = real.getValue(), right = cast<FloatAttr>(y).getValue();
    if (left.isNaN() || right.isNaN())
      return !left.isNaN() && right.isNaN();
    return left < right;
  }
  const APInt &left = cast<IntegerAttr>(x).getValue();
  const APInt &right = cast<IntegerAttr>(y).getValue();
  return natural ? left.ult(right) : left.slt(right);
}

static LogicalResult importUnique(NodeImporter &node) {
  FailureOr<DenseElementsAttr> constant = readKnown(node);
  if (failed(constant))
    return failure();
  SmallVector<Attribute> values =
      llvm::to_vector(constant->getValues<Attribute>());
  ArrayRef<int64_t> shape = node.shape(0);
  bool flat = !node.hasAttribute("axis");
  int64_t axis = 0;
  if (!flat) {
    FailureOr<int64_t> named =
        node.normalizeAxis(node.intAttribute("axis", 0), shape.size());
    if (failed(named))
      return failure();
    axis = *named;
  }
  // Slices along the axis; inner and outer walk what a slice holds.
  int64_t count = flat ? int64_t(values.size()) : shape[axis];
  int64_t inner =
      flat ? 1 : ShapedType::getNumElements(shape.drop_front(axis + 1));
  int64_t outer = flat ? 1 : ShapedType::getNumElements(shape.take_front(axis));
  auto element = [&](int64_t slice, int64_t i) {
    return values[(i / inner * count + slice) * inner + i % inner];
  };
  bool natural = isUnsigned(node.operandType(0)) ||
                 node.operandType(0) == ElementType::Bool;
  auto precedes = [&](int64_t x, int64_t y) {
    for (int64_t i = 0; i != inner * outer; ++i) {
      if (isLess(element(x, i), element(y, i), natural))
        return true;
      if (isLess(element(y, i), element(x, i), natural))
        return false;
    }
    return false;
  };
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, count));
  llvm::sort(order, [&](int64_t x, int64_t y) {
    if (precedes(x, y) || precedes(y, x))
      return precedes(x, y);
    return x < y;
  });
  // Runs of equal slices, each known by the first of its members.
  SmallVector<int64_t> first, counts, runOf(count);
  for (auto [i, slice] : llvm::enumerate(order)) {
    if (i == 0 || precedes(order[i - 1], slice)) {
      first.push_back(slice);
      counts.push_back(0);
    }
    runOf[slice] = first.size() - 1;
    ++counts.back();
  }
  SmallVector<int64_t> sequence =
      llvm::to_vector(llvm::seq<int64_t>(0, first.size()));
  if (node.intAttribute("sorted", 1) == 0)
    llvm::sort(sequence,
               [&](int64_t x, int64_t y) { return first[x] < first[y]; });
  SmallVector<int64_t> firsts, sizes, place(first.size());
  for (auto [i, run] : llvm::enumerate(sequence)) {
    firsts.push_back(first[run]);
    sizes.push_back(counts[run]);
    place[run] = i;
  }
  SmallVector<int64_t> inverse;
  for (int64_t run : runOf)
    inverse.push_back(place[run]);
  SmallVector<Attribute> kept;
  for (int64_t o = 0; o != outer; ++o)
    for (int64_t slice : firsts)
      for (int64_t i = 0; i != inner; ++i)
        kept.push_back(element(slice, o * inner + i));
  SmallVector<int64_t> result(shape);
  int64_t found = firsts.size();
  if (flat)
    result = {found};
  else
    result[axis] = found;
  Value unique = arith::ConstantOp::create(
      node.b,
      DenseElementsAttr::get(
          RankedTensorType::get(result, node.tensorType(0).getElementType()),
          kept));
  node.setResult(0, unique, node.operandType(0));
  node.setResult(1, constantTensor(node.b, firsts, {found}), ElementType::I64);
  node.setResult(2, constantTensor(node.b, inverse, {count}), ElementType::I64);
  node.setResult(3, constantTensor(node.b, sizes, {found}), ElementType::I64);
  return success();
}

void ashlar::onnx_import::registerDataDependentOperators(
    OperatorRegistry &registry) {
  registry.add("NonZero", 9, importNonZero);
  registry.add("Unique", 11, importUnique);
}
