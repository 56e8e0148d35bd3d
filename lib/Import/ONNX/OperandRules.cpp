// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "OperandRules.h"
#include "TensorBuilder.h"
#include "ashlar/Analysis/ByteSize.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace ashlar::onnx_import;

std::string ashlar::onnx_import::spellShape(ArrayRef<int64_t> shape) {
  if (shape.empty())
    return "scalar";
  return llvm::join(
      llvm::map_range(shape, [](int64_t dim) { return std::to_string(dim); }),
      "x");
}

LogicalResult ashlar::onnx_import::expectOperands(NodeImporter &node,
                                                  unsigned required,
                                                  unsigned most) {
  if (node.numOperands() > most)
    return node.invalid("has " + Twine(node.numOperands()) +
                        " inputs; expected " + Twine(most) + " at most");
  for (unsigned i = 0; i != required; ++i)
    if (!node.hasOperand(i))
      return node.invalid("input " + Twine(i) +
                          " is missing; expected at "
                          "least " +
                          Twine(required) + " inputs");
  return success();
}

LogicalResult ashlar::onnx_import::expectSameType(NodeImporter &node,
                                                  unsigned i) {
  if (!node.hasOperand(i) || node.operandType(i) == node.operandType(0))
    return success();
  return node.invalid("input " + Twine(i) + " has type " +
                      elementTypeName(node.operandType(i)) +
                      "; expected the type of input 0, " +
                      elementTypeName(node.operandType(0)));
}

LogicalResult ashlar::onnx_import::expectIndexType(NodeImporter &node,
                                                   unsigned i) {
  ElementType type = node.operandType(i);
  if (type == ElementType::I32 || type == ElementType::I64)
    return success();
  return node.invalid("input " + Twine(i) + " has type " +
                      elementTypeName(type) + "; expected int32 or int64");
}

LogicalResult ashlar::onnx_import::expectFloat(NodeImporter &node, unsigned i) {
  if (isFloat(node.operandType(i)))
    return success();
  return node.invalid("input " + Twine(i) + " has type " +
                      elementTypeName(node.operandType(i)) +
                      "; expected floating point");
}

LogicalResult
ashlar::onnx_import::expectOneOf(NodeImporter &node, llvm::StringRef what,
                                 llvm::StringRef value,
                                 ArrayRef<llvm::StringRef> allowed) {
  if (llvm::is_contained(allowed, value))
    return success();
  std::string list;
  for (llvm::StringRef word : allowed)
    list += (list.empty() ? "" : ", ") + word.str();
  return node.invalid(what + " is '" + value + "'; expected one of " + list);
}

LogicalResult ashlar::onnx_import::expectSize(NodeImporter &node,
                                              ArrayRef<int64_t> shape,
                                              Type element) {
  if (llvm::any_of(shape, [](int64_t dim) { return dim < 0; }))
    return node.invalid("a tensor would have shape " + spellShape(shape) +
                        "; expected sizes of zero or more");
  if (!checkedByteSize(element ? element : node.b.getI64Type(), shape))
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
  if (failed(expectSize(node, *shape)))
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

LogicalResult ashlar::onnx_import::expectRank(NodeImporter &node, unsigned i,
                                              int64_t rank) {
  if (node.rank(i) == rank)
    return success();
  return node.invalid("input " + Twine(i) + " has shape " +
                      spellShape(node.shape(i)) + "; expected rank " +
                      Twine(rank));
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
