// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operators whose result is another view of their input's elements in order.
#include "../OperandRules.h"
#include "../TensorBuilder.h"
#include "ComputedShapes.h"

using namespace mlir;
using namespace ashlar::onnx_import;

static LogicalResult setView(NodeImporter &node, ArrayRef<int64_t> shape) {
  node.setResult(0, reshape(node.b, node.operand(0), shape),
                 node.operandType(0));
  return success();
}

static LogicalResult importReshape(NodeImporter &node) {
  if (failed(expectOperands(node, 2, 2)) || failed(expectRank(node, 1, 1)))
    return failure();
  if (isComputed(node, 1))
    return importComputedReshape(node);
  FailureOr<SmallVector<int64_t>> asked = node.constantInts(1, "the shape");
  if (failed(asked))
    return failure();
  SmallVector<int64_t> shape = *asked;
  bool zeroMeansZero = node.intAttribute("allowzero", 0) != 0;
  int inferred = -1;
  for (auto [i, dim] : llvm::enumerate(shape)) {
    if (dim == 0 && !zeroMeansZero) {
      if (int64_t(i) >= node.rank(0))
        return node.invalid("dimension " + Twine(i) +
                            " of the shape is 0, which copies the input's; "
                            "the input has rank " +
                            Twine(node.rank(0)));
      dim = node.shape(0)[i];
    } else if (dim == -1) {
      if (inferred != -1)
        return node.invalid("the shape " + spellShape(*asked) +
                            " holds -1 twice");
      inferred = i;
      dim = 1;
    }
  }
  if (failed(expectSize(node, shape)))
    return failure();
  int64_t elements = node.tensorType(0).getNumElements();
  int64_t others = ShapedType::getNumElements(shape);
  if (inferred != -1 && others != 0)
    shape[inferred] = elements / others;
  if (inferred != -1 && others == 0)
    return node.invalid("the size that -1 stands for is not determined, as "
                        "another size of the shape is 0");
  if (ShapedType::getNumElements(shape) != elements)
    return node.invalid("the input has shape " + spellShape(node.shape(0)) +
                        ", " + Twine(elements) +
                        " elements, which do not fit into shape " +
                        spellShape(*asked));
  return setView(node, shape);
}

static LogicalResult importFlatten(NodeImporter &node) {
  if (failed(expectOperands(node, 1, 1)))
    return failure();
  int64_t rank = node.rank(0), axis = node.intAttribute("axis", 1);
  if (axis < -rank || axis > rank)
    return node.invalid("axis " + Twine(axis) + " is outside [" + Twine(-rank) +
                        ", " + Twine(rank) + "]");
  if (axis < 0)
    axis += rank;
  if (!node.sizes(0).empty())
    return importComputedFlatten(node, axis);
  ArrayRef<int64_t> shape = node.shape(0);
  return setView(node, {ShapedType::getNumElements(shape.take_front(axis)),
                        ShapedType::getNumElements(shape.drop_front(axis))});
}

static LogicalResult importSqueeze(NodeImporter &node) {
  if (failed(expectOperands(node, 1, 2)))
    return failure();
  FailureOr<SmallVector<int64_t>> axes = node.axes(1, node.rank(0));
  if (failed(axes))
    return failure();
  SmallVector<int64_t> shape;
  for (auto [i, dim] : llvm::enumerate(node.shape(0))) {
    bool named = llvm::is_contained(*axes, int64_t(i));
    if (named && dim != 1)
      return node.invalid("axis " + Twine(i) + " has size " + Twine(dim) +
                          "; expected 1");
    if (!(named || (axes->empty() && dim == 1)))
      shape.push_back(dim);
  }
  return setView(node, shape);
}

static LogicalResult importUnsqueeze(NodeImporter &node) {
  if (failed(expectOperands(node, 1, 2)))
    return failure();
  int64_t count = node.intsAttribute("axes").size();
  if (node.hasOperand(1))
    count = node.tensorType(1).getNumElements();
  FailureOr<SmallVector<int64_t>> axes = node.axes(1, node.rank(0) + count);
  if (failed(axes))
    return failure();
  SmallVector<int64_t> shape;
  ArrayRef<int64_t> left = node.shape(0);
  for (int64_t i = 0; i != node.rank(0) + count; ++i) {
    if (llvm::is_contained(*axes, i)) {
      shape.push_back(1);
      continue;
    }
    shape.push_back(left.front());
    left = left.drop_front();
  }
  return setView(node, shape);
}

void ashlar::onnx_import::registerReshapesOperators(
    OperatorRegistry &registry) {
  registry.add("Reshape", 5, importReshape);
  registry.add("Flatten", 1, importFlatten);
  registry.add("Squeeze", 1, importSqueeze);
  registry.add("Unsqueeze", 1, importUnsqueeze);
}
