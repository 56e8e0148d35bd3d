// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operators as they were before opset 7, where they meant something else than
// today: an operand lines up with another one at an axis that is named.
#include "../Composition.h"
#include "../OperandRules.h"

using namespace mlir;
using namespace ashlar::onnx_import;

/// Operand `i` with sizes of one after its own, so that its first axis is axis
/// `axis` of operand 0; its last is the last one where none is named.
static FailureOr<Composition::Name> lineUp(NodeImporter &node, Composition &c,
                                           unsigned i, int64_t axis) {
  int64_t after = node.rank(0) - axis - node.rank(i);
  if (axis < 0 || after < 0)
    return node.invalid("input " + Twine(i) + " of shape " +
                        spellShape(node.shape(i)) + " does not fit into " +
                        spellShape(node.shape(0)) + " from axis " +
                        Twine(axis) + " on");
  SmallVector<int64_t> shape(node.shape(i));
  shape.append(after, 1);
  return c.reshape(c.operand(i), shape);
}

static LogicalResult importBroadcasting(NodeImporter &node) {
  if (failed(expectOperands(node, 2, 2)))
    return failure();
  Composition c(node);
  Composition::Name other = c.operand(1);
  if (node.intAttribute("broadcast", 0) == 0) {
    if (failed(expectShape(node, 1, node.shape(0))))
      return failure();
  } else {
    if (node.hasAttribute("axis")) {
      int64_t axis = node.intAttribute("axis", 0);
      auto placed = lineUp(node, c, 1, axis < 0 ? axis + node.rank(0) : axis);
      if (failed(placed))
        return failure();
      other = *placed;
    }
  }
  return c.import({c.add(node.opType(), {c.operand(0), other})});
}

static LogicalResult importPRelu(NodeImporter &node) {
  if (failed(expectOperands(node, 2, 2)))
    return failure();
  Composition c(node);
  Composition::Name slope = c.operand(1);
  // One slope, or one for each channel.
  if (node.tensorType(1).getNumElements() != 1) {
    if (failed(expectRank(node, 1, 1)))
      return failure();
    auto placed = lineUp(node, c, 1, 1);
    if (failed(placed))
      return failure();
    slope = *placed;
  }
  return c.import({c.add("PRelu", {c.operand(0), slope})});
}

static LogicalResult importGemm(NodeImporter &node) {
  if (failed(expectOperands(node, 3, 3)))
    return failure();
  Composition c(node);
  return c.import(
      {c.addLike("Gemm", {c.operand(0), c.operand(1), c.operand(2)})});
}

static LogicalResult importBatchNormalization(NodeImporter &node) {
  if (failed(expectOperands(node, 5, 5)))
    return failure();
  if (node.intAttribute("is_test", 0) == 0)
    return node.unsupported("training mode");
  if (node.intAttribute("spatial", 1) == 0)
    return node.unsupported("with a mean for each element");
  Composition c(node);
  return c.import({c.addLike(
      "BatchNormalization",
      {c.operand(0), c.operand(1), c.operand(2), c.operand(3), c.operand(4)})});
}

void ashlar::onnx_import::registerOlderOperators(OperatorRegistry &registry) {
  for (StringRef op : {"Add", "Sub", "Mul", "Div", "Pow"})
    registry.add(op, 1, importBroadcasting);
  registry.add("BatchNormalization", 1, importBatchNormalization);
  registry.add("Gemm", 1, importGemm);
  registry.add("PRelu", 1, importPRelu);
}
