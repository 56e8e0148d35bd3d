// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "OperandRules.h"
#include "TensorBuilder.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ashlar::onnx_import;

std::string ashlar::onnx_import::spellShape(ArrayRef<int64_t> shape) {
  if (shape.empty())
    return "scalar";
  return llvm::join(
      llvm::map_range(shape, [](int64_t dim) { return std::to_string(dim); }),
      "x");
}

LogicalResult ashlar::onnx_import::expectSize(NodeImporter &node,
                                              ArrayRef<int64_t> shape,
                                              Type element) {
  int64_t bytes = llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  // A size of zero does not excuse the others: strides multiply them all.
  for (int64_t dim : shape)
    if (llvm::MulOverflow(bytes, std::max<int64_t>(dim, 1), bytes) ||
        bytes >> 40)
      return node.invalid("a tensor of shape " + spellShape(shape) +
                          " is larger than memory can address");
  return success();
}

FailureOr<SmallVector<int64_t>>
ashlar::onnx_import::expectBroadcast(NodeImporter &node,
                                     ArrayRef<unsigned> operands) {
  SmallVector<ArrayRef<int64_t>> shapes;
  for (unsigned i : operands)
    shapes.push_back(node.shape(i));
  FailureOr<SmallVector<int64_t>> shape = broadcastShapes(shapes);
  if (failed(shape)) {
    std::string spelled =
        llvm::join(llvm::map_range(shapes, spellShape), " and ");
    return node.invalid("expected operands whose shapes broadcast, found " +
                        spelled);
  }
  // The widest type that an operator makes of its operands.
  if (failed(expectSize(node, *shape, node.b.getI64Type())))
    return failure();
  return shape;
}

LogicalResult ashlar::onnx_import::expectBroadcastTo(NodeImporter &node,
                                                     unsigned i,
                                                     ArrayRef<int64_t> shape) {
  FailureOr<SmallVector<int64_t>> result =
      broadcastShapes({node.shape(i), shape});
  if (failed(result) || ArrayRef<int64_t>(*result) != shape)
    return node.invalid("expected input " + Twine(i) +
                        " to broadcast to shape " + spellShape(shape) +
                        ", found shape " + spellShape(node.shape(i)));
  return success();
}

LogicalResult ashlar::onnx_import::expectShape(NodeImporter &node, unsigned i,
                                               ArrayRef<int64_t> shape) {
  if (node.shape(i) != shape)
    return node.invalid("expected input " + Twine(i) + " of shape " +
                        spellShape(shape) + ", found " +
                        spellShape(node.shape(i)));
  return success();
}

LogicalResult ashlar::onnx_import::expectRankAtLeast(NodeImporter &node,
                                                     unsigned i, int64_t rank) {
  if (node.rank(i) < rank)
    return node.invalid("expected input " + Twine(i) + " of rank " +
                        Twine(rank) + " or more, found shape " +
                        spellShape(node.shape(i)));
  return success();
}

LogicalResult ashlar::onnx_import::expectOneElement(NodeImporter &node,
                                                    unsigned i) {
  if (node.hasOperand(i) && node.tensorType(i).getNumElements() != 1)
    return node.invalid("expected input " + Twine(i) +
                        " of one element, found shape " +
                        spellShape(node.shape(i)));
  return success();
}
