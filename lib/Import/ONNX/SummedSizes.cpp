// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes that depend on data of operators that work along an axis: what lies
// beyond becomes an element that changes nothing.
#include "ComputedSizes.h"
#include "OperandRules.h"
#include "SizeRules.h"
#include "TensorBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace ashlar::onnx_import;

/// What lies beyond the sizes of operand i along some axes becomes `neutral`,
/// which changes nothing.
static void maskBeyond(NodeImporter &node, unsigned i, ArrayRef<int64_t> along,
                       TypedAttr neutral) {
  ImportedValue masked = node.importedOperand(i);
  SmallVector<std::pair<int64_t, Number>> bounds;
  for (int64_t axis : along)
    if (isSized(masked.sizes, axis))
      bounds.emplace_back(axis, sizeOf(node, i, axis));
  if (bounds.empty())
    return;
  masked.value = parallel(
      node.b, node.shape(i), neutral.getType(), masked.value,
      node.b.getMultiDimIdentityMap(node.rank(i)),
      [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
        Value none = arith::ConstantOp::create(b, loc, neutral);
        Value element = x[0];
        for (auto &[axis, size] : bounds) {
          Value isInside = arith::CmpIOp::create(
              b, loc, arith::CmpIPredicate::slt,
              linalg::IndexOp::create(b, loc, axis), asIndex(b, loc, size));
          element = arith::SelectOp::create(b, loc, isInside, element, none);
        }
        return element;
      });
  node.replaceOperand(i, masked);
}

/// What of the elements along an axis has no part in what an operator makes of
/// them, or null where there is no such value.
static TypedAttr neutralElement(NodeImporter &node) {
  StringRef op = node.opType();
  Type type = node.tensorType(0).getElementType();
  bool asUnsigned = isUnsigned(node.operandType(0)) || type.isInteger(1);
  bool isSmallest = op == "ReduceMin" || op == "ArgMin" ||
                    (op == "TopK" && node.intAttribute("largest", 1) == 0);
  bool isLargest = op == "ReduceMax" || op == "ReduceLogSumExp" ||
                   op == "ArgMax" || op == "Softmax" || op == "LogSoftmax" ||
                   op == "Hardmax" || op == "TopK";
  if (op == "LayerNormalization" ||
      ((op == "ArgMax" || op == "ArgMin") &&
       node.intAttribute("select_last_index", 0) != 0))
    return {};
  if (op == "ReduceProd")
    return isa<FloatType>(type) ? TypedAttr(FloatAttr::get(type, 1.0))
                                : TypedAttr(IntegerAttr::get(type, 1));
  return isSmallest  ? highestOf(type, asUnsigned)
         : isLargest ? lowestOf(type, asUnsigned)
                     : zeroOf(type);
}

/// The operator works along some axes of operand 0; the others keep their
/// sizes, those that it takes away (`drops`) or makes one of do not count.
static LogicalResult keepSizes(NodeImporter &node, ArrayRef<int64_t> along,
                               bool drops, Sizes &sizes) {
  SmallVector<Value> own(node.sizes(0));
  for (int64_t axis : along) {
    if (!isSized(own, axis))
      continue;
    TypedAttr neutral = neutralElement(node);
    if (!neutral)
      return node.unsupportedSize("it works along axis " + Twine(axis) +
                                  ", whose size depends on data");
    maskBeyond(node, 0, along, neutral);
    break;
  }
  bool isFolded =
      node.opType().starts_with("Reduce") || node.opType().starts_with("Arg");
  for (int64_t axis = 0; axis != int64_t(own.size()); ++axis) {
    bool works = llvm::is_contained(along, axis);
    if (!works || !drops)
      sizes.push_back(works && isFolded ? Value() : own[axis]);
  }
  return success();
}

LogicalResult ashlar::onnx_import::alongAxis(NodeImporter &node, Sizes &sizes) {
  StringRef op = node.opType();
  bool isArg = op == "ArgMax" || op == "ArgMin";
  bool isSoft = op == "Softmax" || op == "LogSoftmax" || op == "Hardmax";
  SmallVector<int64_t> along = axisOf(node, isArg                         ? 0
                                            : isSoft && node.opset() < 13 ? 1
                                                                          : -1);
  // These work on all axes from one on.
  if ((op == "LayerNormalization" || (isSoft && node.opset() < 13)) &&
      !along.empty())
    for (int64_t axis = along[0] + 1; axis != node.rank(0); ++axis)
      along.push_back(axis);
  return keepSizes(node, along, isArg && node.intAttribute("keepdims", 1) == 0,
                   sizes);
}

/// It says by itself how many it takes; what lies beyond is taken last.
LogicalResult ashlar::onnx_import::topKSizes(NodeImporter &node, Sizes &) {
  SmallVector<Value> unused;
  return alongAxis(node, unused);
}

LogicalResult ashlar::onnx_import::reduceSizes(NodeImporter &node,
                                               Sizes &sizes) {
  FailureOr<SmallVector<int64_t>> axes = node.axes(1, node.rank(0));
  if (failed(axes))
    return failure();
  if (axes->empty() && node.intAttribute("noop_with_empty_axes", 0) == 0)
    axes = llvm::to_vector(llvm::seq<int64_t>(0, node.rank(0)));
  return keepSizes(node, *axes, node.intAttribute("keepdims", 1) == 0, sizes);
}

/// What is beyond the axis that a product sums over becomes zero; the others
/// are those of the result. `inner`: that axis of both operands.
static LogicalResult sumOverProducts(NodeImporter &node,
                                     const int64_t (&inner)[2]) {
  bool isKnown = true;
  for (unsigned i : {0, 1}) {
    isKnown &= !isSized(node.sizes(i), inner[i]);
    maskBeyond(node, i, inner[i], zeroOf(node.tensorType(i).getElementType()));
  }
  if (isKnown || node.shape(0)[inner[0]] == node.shape(1)[inner[1]])
    return success();
  return node.unsupportedSize(
      "it sums over an axis whose size depends on data, and is at most " +
      Twine(node.shape(0)[inner[0]]) + " in one operand and " +
      Twine(node.shape(1)[inner[1]]) + " in the other");
}

static Value sizeAt(NodeImporter &node, unsigned i, int64_t axis) {
  return isSized(node.sizes(i), axis) ? node.sizes(i)[axis] : Value();
}

LogicalResult ashlar::onnx_import::gemmSizes(NodeImporter &node, Sizes &sizes) {
  if (node.rank(0) != 2 || node.rank(1) != 2)
    return success(); // the operator will say so
  if (node.numOperands() > 2 && !node.sizes(2).empty())
    return node.unsupportedSize("the size of input 2 depends on data");
  int64_t inner[] = {node.intAttribute("transA", 0) ? 0 : 1,
                     node.intAttribute("transB", 0) ? 1 : 0};
  for (unsigned i : {0, 1})
    sizes.push_back(sizeAt(node, i, 1 - inner[i]));
  return sumOverProducts(node, inner);
}

LogicalResult ashlar::onnx_import::matMulSizes(NodeImporter &node,
                                               Sizes &sizes) {
  int64_t ranks[] = {node.rank(0), node.rank(1)};
  if (ranks[0] < 2 || ranks[1] < 2)
    return node.unsupportedSize("a size of a vector depends on data");
  int64_t rank = std::max(ranks[0], ranks[1]);
  sizes.assign(rank, Value());
  for (int64_t d = 0; d != rank - 2; ++d) {
    Number batch[2] = {knownNumber(1), knownNumber(1)};
    for (unsigned i : {0, 1})
      if (int64_t own = d - (rank - ranks[i]); own >= 0)
        batch[i] = sizeOf(node, i, own);
    if (batch[0] != batch[1] && !batch[0].is(1) && !batch[1].is(1))
      return node.unsupportedSize("the batches of its inputs have sizes that "
                                  "depend on data in different ways");
    sizes[d] = batch[batch[0].is(1) ? 1 : 0].tensor;
  }
  sizes[rank - 2] = sizeAt(node, 0, ranks[0] - 2);
  sizes[rank - 1] = sizeAt(node, 1, ranks[1] - 1);
  return sumOverProducts(node, {ranks[0] - 1, ranks[1] - 2});
}

/// Each element is made from those before it.
LogicalResult ashlar::onnx_import::cumulativeSizes(NodeImporter &node,
                                                   Sizes &sizes) {
  sizes.assign(node.sizes(0).begin(), node.sizes(0).end());
  FailureOr<SmallVector<int64_t>> axis = node.axes(1, node.rank(0));
  if (failed(axis))
    return failure();
  if (node.intAttribute("reverse", 0) && axis->size() == 1 &&
      isSized(sizes, axis->front()))
    maskBeyond(node, 0, *axis, zeroOf(node.tensorType(0).getElementType()));
  return success();
}

/// What is beyond is zero, and is not found.
LogicalResult ashlar::onnx_import::nonZeroSizes(NodeImporter &node, Sizes &) {
  SmallVector<int64_t> all =
      llvm::to_vector(llvm::seq<int64_t>(0, node.rank(0)));
  maskBeyond(node, 0, all, zeroOf(node.tensorType(0).getElementType()));
  return success();
}

/// What is beyond the condition keeps nothing.
LogicalResult ashlar::onnx_import::compressSizes(NodeImporter &node, Sizes &) {
  maskBeyond(node, 1, {0}, zeroOf(node.b.getI1Type()));
  return success();
}
