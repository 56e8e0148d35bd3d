// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RunTimeSizes.h"
#include "OperandRules.h"
#include "TensorBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace ashlar::onnx_import;

using Sizes = SmallVectorImpl<Value>;

/// Operators that make each element of their result from the elements at its
/// place, broadcast as NumPy does.
static bool mapsElements(StringRef op) {
  static const llvm::StringSet<> all = {"Abs",
                                        "Acos",
                                        "Acosh",
                                        "Add",
                                        "And",
                                        "Asin",
                                        "Asinh",
                                        "Atan",
                                        "Atanh",
                                        "BitShift",
                                        "BitwiseAnd",
                                        "BitwiseNot",
                                        "BitwiseOr",
                                        "BitwiseXor",
                                        "Cast",
                                        "CastLike",
                                        "Ceil",
                                        "Celu",
                                        "Clip",
                                        "Cos",
                                        "Cosh",
                                        "Div",
                                        "Dropout",
                                        "Elu",
                                        "Equal",
                                        "Erf",
                                        "Exp",
                                        "Floor",
                                        "Gelu",
                                        "Greater",
                                        "GreaterOrEqual",
                                        "HardSigmoid",
                                        "HardSwish",
                                        "Identity",
                                        "IsInf",
                                        "IsNaN",
                                        "LeakyRelu",
                                        "Less",
                                        "LessOrEqual",
                                        "Log",
                                        "Max",
                                        "Min",
                                        "Mish",
                                        "Mod",
                                        "Mul",
                                        "Neg",
                                        "Not",
                                        "Or",
                                        "Pow",
                                        "PRelu",
                                        "Reciprocal",
                                        "Relu",
                                        "Round",
                                        "Selu",
                                        "Shrink",
                                        "Sigmoid",
                                        "Sign",
                                        "Sin",
                                        "Sinh",
                                        "Softplus",
                                        "Softsign",
                                        "Sqrt",
                                        "Sub",
                                        "Tan",
                                        "Tanh",
                                        "ThresholdedRelu",
                                        "Where",
                                        "Xor"};
  return all.contains(op);
}

/// Dimension d of an operand, counted from the end.
static int64_t fromEnd(ArrayRef<int64_t> shape, int64_t d) {
  return d < int64_t(shape.size()) ? shape[shape.size() - 1 - d] : 1;
}

static LogicalResult broadcastSizes(NodeImporter &node, Sizes &sizes) {
  int64_t rank = 0;
  for (unsigned i = 0; i != node.numOperands(); ++i)
    if (node.hasOperand(i))
      rank = std::max(rank, node.rank(i));
  sizes.assign(rank, Value());
  for (int64_t d = 0; d != rank; ++d) {
    Value &size = sizes[rank - 1 - d];
    bool isKnown = false;
    for (unsigned i = 0; i != node.numOperands(); ++i) {
      if (!node.hasOperand(i))
        continue;
      ArrayRef<Value> own = node.sizes(i);
      Value found = d < int64_t(own.size()) ? own[own.size() - 1 - d] : Value();
      if (found && size && found != size)
        return node.unsupportedSize(
            "two of its inputs have sizes that depend on "
            "data in different ways");
      if (found)
        size = found;
      isKnown |= !found && fromEnd(node.shape(i), d) != 1;
    }
    if (size && isKnown)
      return node.unsupportedSize(
          "the size of one input depends on data, that of "
          "another is known to be other than 1");
  }
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

/// The places may be as many as the data say; those beyond are brought into
/// bounds like all others.
static LogicalResult gatherSizes(NodeImporter &node, Sizes &sizes) {
  int64_t rank = node.rank(0), axis = node.intAttribute("axis", 0);
  axis = axis < 0 ? axis + rank : axis;
  if (axis < 0 || axis >= rank)
    return success();
  ArrayRef<Value> data = node.sizes(0), places = node.sizes(1);
  if (!data.empty() && data[axis])
    return node.unsupportedSize(
        "the size of the axis that it gathers from depends "
        "on data");
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

static LogicalResult gatherNDSizes(NodeImporter &node, Sizes &sizes) {
  ArrayRef<Value> data = node.sizes(0), places = node.sizes(1);
  if (!data.empty() || node.intAttribute("batch_dims", 0) != 0 ||
      places.empty() || places.back())
    return node.unsupportedSize(
        "its sizes depend on data in another way than by "
        "the number of places");
  int64_t depth = node.shape(1).back();
  if (depth < 1 || depth > node.rank(0))
    return success();
  sizes.append(places.begin(), std::prev(places.end()));
  sizes.append(node.rank(0) - depth, Value());
  return success();
}

/// Whether an axis has a size that depends on data.
static bool isSized(ArrayRef<Value> sizes, int64_t axis) {
  return axis < int64_t(sizes.size()) && sizes[axis];
}

/// The operator works along some axes of operand 0, whose sizes must be known;
/// the others keep theirs, those that it takes away (`drops`) do not count.
static LogicalResult keepSizes(NodeImporter &node, ArrayRef<int64_t> along,
                               bool drops, Sizes &sizes) {
  ArrayRef<Value> own = node.sizes(0);
  for (int64_t axis = 0; axis != int64_t(own.size()); ++axis) {
    bool works = llvm::is_contained(along, axis);
    if (works && own[axis])
      return node.unsupportedSize("it works along axis " + Twine(axis) +
                                  ", whose size depends on data");
    if (!works || !drops)
      sizes.push_back(own[axis]);
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
  SmallVector<int64_t> along = axisOf(node, isArg || op == "Split"        ? 0
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
  for (int64_t axis = 0; axis != rank; ++axis) {
    bool named = llvm::is_contained(*axes, axis);
    if (isIn) {
      sizes.push_back(named ? Value() : own[from++]);
      continue;
    }
    bool goes =
        named || (axes->empty() && !own[axis] && node.shape(0)[axis] == 1);
    if (goes && own[axis])
      return node.unsupportedSize("it takes away axis " + Twine(axis) +
                                  ", whose size depends on data");
    if (!goes)
      sizes.push_back(own[axis]);
  }
  return success();
}

/// What is used comes first where only the outermost size depends on data; so
/// it does in any shape.
static LogicalResult reshapeSizes(NodeImporter &node, Sizes &sizes) {
  ArrayRef<Value> own = node.sizes(0);
  ArrayRef<int64_t> shape = node.shape(0);
  SmallVector<int64_t> rest;
  bool isOutermost =
      bool(own[0]) &&
      llvm::none_of(own.drop_front(), [](Value v) { return bool(v); });
  if (node.opType() == "Flatten") {
    if (node.intAttribute("axis", 1) != 1)
      isOutermost = false;
    else
      rest.push_back(ShapedType::getNumElements(shape.drop_front()));
  } else {
    FailureOr<SmallVector<int64_t>> asked = node.constantInts(1, "the shape");
    if (failed(asked))
      return failure();
    // The outermost size is copied or what is left.
    isOutermost &=
        !asked->empty() &&
        (asked->front() == -1 ||
         (asked->front() == 0 && !node.intAttribute("allowzero", 0)));
    for (auto [i, dim] : llvm::enumerate(*asked))
      if (i != 0)
        rest.push_back(dim == 0 && i < shape.size() ? shape[i] : dim);
  }
  int64_t inner = ShapedType::getNumElements(shape.drop_front()), left = 1;
  for (int64_t &dim : rest)
    isOutermost &= dim > 0 && dim <= inner;
  for (int64_t dim : rest)
    left = isOutermost ? left * std::min(dim, inner + 1) : left;
  if (!isOutermost || left == 0 || inner % left != 0)
    return node.unsupportedSize(
        "a size depends on data; it is reshaped where that is the outermost "
        "one, which becomes what is left");
  Value size = own[0];
  if (inner != left)
    size = elementwise(
        node.b, node.b.getI64Type(), size,
        [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
          return arith::MulIOp::create(
              b, loc, x[0],
              scalarIntConstant(b, loc, b.getI64Type(), inner / left));
        });
  sizes.assign(rest.size() + 1, Value());
  sizes[0] = size;
  return success();
}

static LogicalResult concatSizes(NodeImporter &node, Sizes &sizes) {
  SmallVector<int64_t> along = axisOf(node, 0);
  sizes.assign(node.rank(0), Value());
  for (int64_t d = 0; d != node.rank(0); ++d)
    for (unsigned i = 0; i != node.numOperands(); ++i) {
      ArrayRef<Value> own = node.sizes(i);
      bool known = !isSized(own, d);
      if (llvm::is_contained(along, d) && !known)
        return node.unsupportedSize("it works along axis " + Twine(d) +
                                    ", whose size depends on data");
      if (known || node.rank(i) != node.rank(0))
        continue;
      if (sizes[d] && sizes[d] != own[d])
        return node.unsupportedSize("two of its inputs have sizes that depend "
                                    "on data in different ways");
      sizes[d] = own[d];
    }
  for (int64_t d = 0; d != node.rank(0); ++d)
    for (unsigned i = 0; i != node.numOperands(); ++i)
      if (sizes[d] && !isSized(node.sizes(i), d))
        return node.unsupportedSize(
            "the size of one input depends on data, that of another is known");
  return success();
}

/// The rows of the first matrix and its batch may depend on data.
static LogicalResult productSizes(NodeImporter &node, Sizes &sizes) {
  ArrayRef<Value> own = node.sizes(0);
  int64_t rank = node.rank(0);
  bool swapped = node.intAttribute("transA", 0) != 0;
  if (rank < 2 || node.rank(1) != 2 || swapped || own.empty() || own.back() ||
      !node.sizes(1).empty())
    return node.unsupportedSize("a size depends on data that is not one of the "
                                "rows of its first operand");
  sizes.assign(own.begin(), own.end());
  return success();
}

static LogicalResult sliceSizes(NodeImporter &node, Sizes &sizes) {
  if (node.opset() < 10 || !node.hasOperand(3))
    return node.unsupportedSize("a size depends on data, and its axes are not "
                                "named");
  FailureOr<SmallVector<int64_t>> axes = node.axes(3, node.rank(0));
  return failed(axes) ? failure() : keepSizes(node, *axes, false, sizes);
}

bool ashlar::onnx_import::sharesSizes(StringRef op) {
  return op == "Dropout" || op == "LayerNormalization" || op == "Split" ||
         op == "TopK";
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
  static const llvm::StringMap<Rule> rules = {{"ArgMax", alongAxis},
                                              {"ArgMin", alongAxis},
                                              {"Concat", concatSizes},
                                              {"Flatten", reshapeSizes},
                                              {"Gather", gatherSizes},
                                              {"GatherND", gatherNDSizes},
                                              {"Gemm", productSizes},
                                              {"Hardmax", alongAxis},
                                              {"LayerNormalization", alongAxis},
                                              {"LogSoftmax", alongAxis},
                                              {"MatMul", productSizes},
                                              {"Reshape", reshapeSizes},
                                              {"Slice", sliceSizes},
                                              {"Softmax", alongAxis},
                                              {"Split", alongAxis},
                                              {"Squeeze", squeezeSizes},
                                              {"TopK", alongAxis},
                                              {"Transpose", permuteSizes},
                                              {"Unsqueeze", squeezeSizes}};
  // The others read the sizes of operand 0 alone.
  static const llvm::StringSet<> readsAll = {"Concat", "Gather", "GatherND",
                                             "Gemm", "MatMul"};
  Rule rule = rules.lookup(op);
  if (!rule && op.starts_with("Reduce"))
    rule = reduceSizes;
  if (op == "Shape")
    rule = [](NodeImporter &, Sizes &) { return success(); };
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

Value ashlar::onnx_import::makeDense(ImplicitLocOpBuilder &b,
                                     const ImportedValue &tensor) {
  auto type = cast<RankedTensorType>(tensor.value.getType());
  int64_t rank = type.getRank();
  // The outermost size cuts off the end.
  if (llvm::none_of(ArrayRef(tensor.sizes).drop_front(),
                    [](Value size) { return bool(size); }))
    return tensor.value;
  ArrayRef<int64_t> shape = type.getShape();
  return generate(
      b, shape, type.getElementType(),
      [&](OpBuilder &b, Location loc, ValueRange place) -> Value {
        auto constant = [&](int64_t value) -> Value {
          return arith::ConstantIndexOp::create(b, loc, value);
        };
        // The number of this element, and the place that has it.
        Value number = place[0];
        for (int64_t d = 1; d != rank; ++d)
          number = arith::AddIOp::create(
              b, loc, arith::MulIOp::create(b, loc, number, constant(shape[d])),
              place[d]);
        SmallVector<Value> at(rank);
        for (int64_t d = rank - 1; d >= 0; --d) {
          Value size = constant(shape[d]);
          if (Value found = tensor.sizes[d]) {
            Value scalar =
                tensor::ExtractOp::create(b, loc, found, ValueRange());
            size = arith::IndexCastOp::create(b, loc, b.getIndexType(), scalar);
            size = arith::MaxSIOp::create(b, loc, size, constant(1));
          }
          // Elements beyond the last one have no place; any will do.
          Value left = arith::RemUIOp::create(b, loc, number, size);
          at[d] = d == 0 ? arith::MinUIOp::create(b, loc, number,
                                                  constant(shape[0] - 1))
                               .getResult()
                         : left;
          number = arith::DivUIOp::create(b, loc, number, size);
        }
        return tensor::ExtractOp::create(b, loc, tensor.value, at);
      });
}

Value ashlar::onnx_import::shapeAsTensor(ImplicitLocOpBuilder &b,
                                         ArrayRef<int64_t> shape,
                                         ArrayRef<Value> sizes) {
  SmallVector<Value> parts;
  for (auto [dim, size] : llvm::zip(shape, sizes))
    parts.push_back(size ? reshape(b, size, {1})
                         : constantTensor(b, {dim}, {1}));
  return concat(b, parts, 0);
}

Value ashlar::onnx_import::copyOfSize(ImplicitLocOpBuilder &b, Value size) {
  return parallel(b, {}, b.getI64Type(), size,
                  AffineMap::get(0, 0, {}, b.getContext()),
                  [](OpBuilder &b, Location loc, ValueRange x) -> Value {
                    Value zero = scalarIntConstant(b, loc, b.getI64Type(), 0);
                    return arith::AddIOp::create(b, loc, x[0], zero);
                  });
}
