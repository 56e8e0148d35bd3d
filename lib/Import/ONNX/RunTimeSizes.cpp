// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RunTimeSizes.h"
#include "ComputedSizes.h"
#include "OperandRules.h"
#include "TensorBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace ashlar::onnx_import;

using Sizes = SmallVectorImpl<Value>;

bool ashlar::onnx_import::isSized(ArrayRef<Value> sizes, int64_t axis) {
  return axis < int64_t(sizes.size()) && sizes[axis];
}

/// Operators that make each element of their result from the elements at its
/// place, broadcast as NumPy does.
static constexpr StringLiteral elementwiseOperators =
    "Abs Acos Acosh Add And Asin Asinh Atan Atanh BitShift BitwiseAnd "
    "BitwiseNot BitwiseOr BitwiseXor Cast CastLike Ceil Celu Clip Cos "
    "Cosh Div Dropout Elu Equal Erf Exp Floor Gelu Greater GreaterOrEqual "
    "HardSigmoid HardSwish Identity IsInf IsNaN LeakyRelu Less "
    "LessOrEqual Log Max Min Mish Mod Mul Neg Not Or Pow PRelu Reciprocal "
    "Relu Round Selu Shrink Sigmoid Sign Sin Sinh Softplus Softsign Sqrt "
    "Sub Tan Tanh ThresholdedRelu Where Xor";

static bool mapsElements(StringRef op) {
  static const llvm::StringSet<> all = [] {
    llvm::StringSet<> names;
    for (StringRef name : llvm::split(elementwiseOperators, ' '))
      names.insert(name);
    return names;
  }();
  return all.contains(op);
}

/// Operand i with the sizes that a broadcast gives it where these are not its
/// own: along such an axis it may have one element, or as many.
static ImportedValue spread(NodeImporter &node, unsigned i,
                            ArrayRef<Number> result) {
  ImportedValue given = node.importedOperand(i);
  int64_t rank = node.rank(i), lead = result.size() - rank;
  SmallVector<int64_t> shape(node.shape(i));
  SmallVector<Number> own;
  bool isOther = false;
  for (int64_t d = 0; d != rank; ++d) {
    own.push_back(sizeOf(node, i, d));
    if (own[d].is(1) || own[d] == result[lead + d])
      continue;
    isOther = true;
    shape[d] = result[lead + d].high;
    given.sizes.resize(rank);
    given.sizes[d] = result[lead + d].tensor;
  }
  if (!isOther || node.tensorType(i).getNumElements() == 0)
    return given;
  Value data = given.value;
  given.value =
      generate(node.b, shape, getElementTypeOrSelf(data),
               [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
                 SmallVector<Value> place;
                 for (auto [index, size] : llvm::zip(at, own))
                   place.push_back(clampTo(b, loc, index, size));
                 return tensor::ExtractOp::create(b, loc, data, place);
               });
  return given;
}

static LogicalResult broadcastSizes(NodeImporter &node, Sizes &sizes) {
  // Of the second operand only the type counts.
  unsigned count = node.opType() == "CastLike" ? 1 : node.numOperands();
  int64_t rank = 0;
  for (unsigned i = 0; i != count; ++i)
    if (node.hasOperand(i))
      rank = std::max(rank, node.rank(i));
  SmallVector<Number> result(rank, knownNumber(1));
  for (unsigned i = 0; i != count; ++i)
    for (int64_t d = 0; node.hasOperand(i) && d != node.rank(i); ++d) {
      Number &size = result[rank - node.rank(i) + d];
      Number own = sizeOf(node, i, d);
      // One that is known, and not one, is what all have.
      if (size.is(1) || (own.isKnown() && own.low != 1))
        size = own;
      else if (!size.isKnown())
        size = unlessOne(node, own, size);
    }
  for (unsigned i = 0; i != count; ++i)
    if (node.hasOperand(i))
      node.replaceOperand(i, spread(node, i, result));
  for (const Number &size : result)
    sizes.push_back(size.tensor);
  return success();
}

static LogicalResult permuteSizes(NodeImporter &node, Sizes &sizes) {
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
static LogicalResult gatherSizes(NodeImporter &node, Sizes &sizes) {
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

static LogicalResult gatherNDSizes(NodeImporter &node, Sizes &sizes) {
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

/// The axis that an attribute names, or none where the operator will say what
/// is wrong with it.
static SmallVector<int64_t> axisOf(NodeImporter &node, int64_t otherwise) {
  int64_t rank = node.rank(0), axis = node.intAttribute("axis", otherwise);
  axis = axis < 0 ? axis + rank : axis;
  return axis < 0 || axis >= rank ? SmallVector<int64_t>()
                                  : SmallVector<int64_t>{axis};
}

static LogicalResult alongAxis(NodeImporter &node, Sizes &sizes) {
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
static LogicalResult topKSizes(NodeImporter &node, Sizes &) {
  SmallVector<Value> unused;
  return alongAxis(node, unused);
}

static LogicalResult reduceSizes(NodeImporter &node, Sizes &sizes) {
  FailureOr<SmallVector<int64_t>> axes = node.axes(1, node.rank(0));
  if (failed(axes))
    return failure();
  if (axes->empty() && node.intAttribute("noop_with_empty_axes", 0) == 0)
    axes = llvm::to_vector(llvm::seq<int64_t>(0, node.rank(0)));
  return keepSizes(node, *axes, node.intAttribute("keepdims", 1) == 0, sizes);
}

/// Sizes of one are put in or taken out.
static LogicalResult squeezeSizes(NodeImporter &node, Sizes &sizes) {
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

static LogicalResult gemmSizes(NodeImporter &node, Sizes &sizes) {
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

static LogicalResult matMulSizes(NodeImporter &node, Sizes &sizes) {
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

/// Each element is made from those before it.
static LogicalResult cumulativeSizes(NodeImporter &node, Sizes &sizes) {
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
static LogicalResult nonZeroSizes(NodeImporter &node, Sizes &) {
  SmallVector<int64_t> all =
      llvm::to_vector(llvm::seq<int64_t>(0, node.rank(0)));
  maskBeyond(node, 0, all, zeroOf(node.tensorType(0).getElementType()));
  return success();
}

/// What is beyond the condition keeps nothing.
static LogicalResult compressSizes(NodeImporter &node, Sizes &) {
  maskBeyond(node, 1, {0}, zeroOf(node.b.getI1Type()));
  return success();
}

/// How many places are written may depend on data: the operator looks. Those of
/// what is written into may, too.
static LogicalResult scatterSizes(NodeImporter &node, Sizes &sizes) {
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

static LogicalResult gatherElementsSizes(NodeImporter &node, Sizes &sizes) {
  ArrayRef<Value> places = node.sizes(1);
  for (int64_t axis : axisOf(node, 0))
    if (isSized(node.sizes(0), axis))
      countFromEnd(node, asTensor(node, sizeOf(node, 0, axis)));
  sizes.assign(places.begin(), places.end());
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

LogicalResult ashlar::onnx_import::inferSizes(NodeImporter &node,
                                              StringRef domain, Sizes &sizes) {
  int sized = -1;
  for (unsigned i = 0; i != node.numOperands() && sized < 0; ++i)
    if (!node.sizes(i).empty())
      sized = i;
  if (sized < 0)
    return success();
  StringRef op = domain.empty() ? node.opType() : StringRef();
  LogicalResult done = success();
  using Rule = LogicalResult (*)(NodeImporter &, Sizes &);
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
  // The others read the sizes of operand 0 alone.
  static const llvm::StringSet<> readsAll = {
      "Compress",          "Concat",   "Gather", "GatherElements",
      "GatherND",          "Gemm",     "Loop",   "MatMul",
      "NonMaxSuppression", "RoiAlign", "Scan",   "ScatterElements",
      "ScatterND"};
  Rule rule = rules.lookup(op);
  if (!rule && op.starts_with("Reduce"))
    rule = reduceSizes;
  if (mapsElements(op))
    rule = broadcastSizes;
  bool isOther = sized != 0 && !mapsElements(op) && !readsAll.contains(op);
  if (!rule || isOther)
    done = node.unsupportedSize("the size of input " + Twine(sized) +
                                " depends on data; at most it is " +
                                spellShape(node.shape(sized)));
  else
    done = rule(node, sizes);
  if (failed(done))
    return failure();
  if (llvm::none_of(sizes, [](Value size) { return bool(size); }))
    sizes.clear();
  return success();
}
