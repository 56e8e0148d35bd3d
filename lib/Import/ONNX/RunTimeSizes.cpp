// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RunTimeSizes.h"
#include "ComputedSizes.h"
#include "OperandRules.h"
#include "SizeRules.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace ashlar::onnx_import;

bool ashlar::onnx_import::isSized(ArrayRef<Value> sizes, int64_t axis) {
  return axis < int64_t(sizes.size()) && sizes[axis];
}

SmallVector<int64_t> ashlar::onnx_import::axisOf(NodeImporter &node,
                                                 int64_t otherwise) {
  int64_t rank = node.rank(0), axis = node.intAttribute("axis", otherwise);
  axis = axis < 0 ? axis + rank : axis;
  return axis < 0 || axis >= rank ? SmallVector<int64_t>()
                                  : SmallVector<int64_t>{axis};
}

/// Every row is made by itself: only how many there are may depend on data.
static LogicalResult rowSizes(NodeImporter &node, Sizes &sizes) {
  for (unsigned i = 0; i != node.numOperands(); ++i)
    for (auto [axis, size] : llvm::enumerate(node.sizes(i)))
      if (size && (i != 0 || axis != 0))
        return node.unsupportedSize(
            "the size of input " + Twine(i) + " along axis " + Twine(axis) +
            " depends on data; only that of the batch may");
  sizes.assign(node.rank(0), Value());
  sizes[0] = node.sizes(0)[0];
  return success();
}

/// A region by itself makes each part of the result: there are as many.
static LogicalResult regionSizes(NodeImporter &node, Sizes &sizes) {
  for (unsigned i : {0, 1, 2})
    for (auto [axis, size] : llvm::enumerate(node.sizes(i)))
      if (size && (i == 0 || axis != 0))
        return node.unsupportedSize("the size of input " + Twine(i) +
                                    " along axis " + Twine(axis) +
                                    " depends on data; only how many regions "
                                    "there are may");
  sizes.assign(4, Value());
  for (unsigned i : {1, 2})
    if (!node.sizes(i).empty())
      sizes[0] = node.sizes(i)[0];
  return success();
}

/// Elements stay where they are; scales may lie along an axis that is known.
static LogicalResult quantizeSizes(NodeImporter &node, Sizes &sizes) {
  ArrayRef<Value> own = node.sizes(0);
  for (int64_t axis : axisOf(node, 1))
    if (isSized(own, axis) && node.hasOperand(1) &&
        node.tensorType(1).getNumElements() != 1)
      return node.unsupportedSize("the size of axis " + Twine(axis) +
                                  ", along which its scales lie, depends on "
                                  "data");
  if (node.intAttribute("block_size", 0) != 0)
    return node.unsupportedSize("its blocks lie in an input whose size depends "
                                "on data");
  sizes.assign(own.begin(), own.end());
  return success();
}

/// Elements stay where they are.
static LogicalResult sameSizes(NodeImporter &node, Sizes &sizes) {
  sizes.assign(node.sizes(0).begin(), node.sizes(0).end());
  return success();
}

/// The operator says by itself what the sizes of its results are.
static LogicalResult ownRule(NodeImporter &, Sizes &) { return success(); }

bool ashlar::onnx_import::sharesSizes(StringRef op) {
  return op == "Dropout" || op == "LayerNormalization";
}

using Rule = LogicalResult (*)(NodeImporter &, Sizes &);

/// How an operator's sizes follow from its operands'; null: it has none.
static Rule ruleOf(StringRef op) {
  static const llvm::StringMap<Rule> rules = {
      {"ArgMax", alongAxis},
      {"ArgMin", alongAxis},
      {"AveragePool", rowSizes},
      {"BatchNormalization", rowSizes},
      {"Compress", compressSizes},
      {"Concat", ownRule},
      {"Conv", rowSizes},
      {"ConvTranspose", rowSizes},
      {"CumSum", cumulativeSizes},
      {"DequantizeLinear", quantizeSizes},
      {"Expand", ownRule},
      {"EyeLike", sameSizes},
      {"Flatten", ownRule},
      {"Gather", gatherSizes},
      {"GatherElements", gatherElementsSizes},
      {"GatherND", gatherNDSizes},
      {"Gemm", gemmSizes},
      {"GlobalAveragePool", rowSizes},
      {"GlobalMaxPool", rowSizes},
      {"Hardmax", alongAxis},
      {"InstanceNormalization", rowSizes},
      {"LayerNormalization", alongAxis},
      {"LogSoftmax", alongAxis},
      {"Loop", ownRule},
      {"MatMul", matMulSizes},
      {"MaxPool", rowSizes},
      {"NonMaxSuppression", ownRule},
      {"NonZero", nonZeroSizes},
      {"OneHot", ownRule},
      {"Pad", ownRule},
      {"QuantizeLinear", quantizeSizes},
      {"Reshape", ownRule},
      {"Resize", ownRule},
      {"RoiAlign", regionSizes},
      {"Scan", ownRule},
      {"ScatterElements", scatterSizes},
      {"ScatterND", scatterSizes},
      {"Shape", ownRule},
      {"Size", ownRule},
      {"Slice", ownRule},
      {"Softmax", alongAxis},
      {"Split", ownRule},
      {"Squeeze", squeezeSizes},
      {"Tile", ownRule},
      {"TopK", topKSizes},
      {"Transpose", permuteSizes},
      {"Trilu", sameSizes},
      {"Unique", ownRule},
      {"Unsqueeze", squeezeSizes}};
  if (mapsElements(op))
    return broadcastSizes;
  if (Rule rule = rules.lookup(op))
    return rule;
  return op.starts_with("Reduce") ? reduceSizes : Rule(nullptr);
}

/// Whether the sizes of all operands count; else those of the first alone.
static bool readsAllSizes(StringRef op) {
  static const llvm::StringSet<> readsAll = {
      "Compress",          "Concat",   "Gather", "GatherElements",
      "GatherND",          "Gemm",     "Loop",   "MatMul",
      "NonMaxSuppression", "RoiAlign", "Scan",   "ScatterElements",
      "ScatterND"};
  return mapsElements(op) || readsAll.contains(op);
}

LogicalResult ashlar::onnx_import::inferSizes(NodeImporter &node,
                                              StringRef domain, Sizes &sizes) {
  int sized = -1;
  for (unsigned i = 0; i != node.numOperands() && sized < 0; ++i)
    if (!node.sizes(i).empty())
      sized = i;
  if (sized < 0)
    return success();
  StringRef op = domain.empty() ? node.opType() : StringRef();
  Rule rule = ruleOf(op);
  if (!rule || (sized != 0 && !readsAllSizes(op)))
    return node.unsupportedSize("the size of input " + Twine(sized) +
                                " depends on data; at most it is " +
                                spellShape(node.shape(sized)));
  if (failed(rule(node, sizes)))
    return failure();
  if (llvm::none_of(sizes, [](Value size) { return bool(size); }))
    sizes.clear();
  return success();
}
