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
  static const llvm::StringSet<> all = {
      "Abs",         "Acos",      "Acosh",      "Add",
      "And",         "Asin",      "Asinh",      "Atan",
      "Atanh",       "BitShift",  "Cast",       "CastLike",
      "Ceil",        "Cos",       "Cosh",       "Div",
      "Elu",         "Equal",     "Erf",        "Exp",
      "Floor",       "Gelu",      "Greater",    "GreaterOrEqual",
      "HardSigmoid", "HardSwish", "Identity",   "IsInf",
      "IsNaN",       "LeakyRelu", "Less",       "LessOrEqual",
      "Log",         "Max",       "Min",        "Mish",
      "Mod",         "Mul",       "Neg",        "Not",
      "Or",          "Pow",       "Reciprocal", "Relu",
      "Round",       "Selu",      "Sigmoid",    "Sign",
      "Sin",         "Sinh",      "Softplus",   "Softsign",
      "Sqrt",        "Sub",       "Tan",        "Tanh",
      "Where",       "Xor"};
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
        return node.unsupported("two of its inputs have sizes that depend on "
                                "data in different ways");
      if (found)
        size = found;
      isKnown |= !found && fromEnd(node.shape(i), d) != 1;
    }
    if (size && isKnown)
      return node.unsupported("the size of one input depends on data, that of "
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
    return node.unsupported("the size of the axis that it gathers from depends "
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
    return node.unsupported("its sizes depend on data in another way than by "
                            "the number of places");
  int64_t depth = node.shape(1).back();
  if (depth < 1 || depth > node.rank(0))
    return success();
  sizes.append(places.begin(), std::prev(places.end()));
  sizes.append(node.rank(0) - depth, Value());
  return success();
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
  if (mapsElements(op))
    done = broadcastSizes(node, sizes);
  else if (op == "Transpose")
    done = permuteSizes(node, sizes);
  else if (op == "Gather")
    done = gatherSizes(node, sizes);
  else if (op == "GatherND")
    done = gatherNDSizes(node, sizes);
  else if (op != "Shape")
    done = node.unsupported("the size of input " + Twine(sized) +
                            " depends on data; at most it is " +
                            spellShape(node.shape(sized)));
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
