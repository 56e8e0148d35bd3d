// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "OperandChecks.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ashlar::onnx_import;

/// A terabyte of single bytes is more than anybody means.
static constexpr int64_t maximumElements = int64_t(1) << 40;

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

LogicalResult ashlar::onnx_import::expectRank(NodeImporter &node, unsigned i,
                                              int64_t rank) {
  if (node.rank(i) == rank)
    return success();
  return node.invalid("input " + Twine(i) + " has shape " +
                      spellShape(node.shape(i)) + "; expected rank " +
                      Twine(rank));
}

LogicalResult ashlar::onnx_import::expectMinimumRank(NodeImporter &node,
                                                     unsigned i, int64_t rank) {
  if (node.rank(i) >= rank)
    return success();
  return node.invalid("input " + Twine(i) + " has shape " +
                      spellShape(node.shape(i)) + "; expected rank " +
                      Twine(rank) + " or more");
}

LogicalResult ashlar::onnx_import::expectSize(NodeImporter &node,
                                              ArrayRef<int64_t> shape) {
  int64_t elements = 1;
  for (int64_t dim : shape) {
    if (dim < 0)
      return node.invalid("a tensor would have shape " + spellShape(shape) +
                          "; expected sizes of zero or more");
    // Strides are products too, even where the tensor has no elements.
    if (llvm::MulOverflow(elements, std::max<int64_t>(dim, 1), elements) ||
        elements >= maximumElements)
      return node.invalid("a tensor would have shape " + spellShape(shape) +
                          ", which is larger than memory; expected fewer "
                          "than 2^40 elements");
  }
  return success();
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
