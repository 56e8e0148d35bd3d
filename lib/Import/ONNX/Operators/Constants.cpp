// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is known without any input: Constant, ConstantOfShape, Shape, Size,
// EyeLike and Range.
#include "../ComputedSizes.h"
#include "../OperandRules.h"
#include "../SizedTensors.h"
#include "../TensorBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "onnx-ml.pb.h"
#include <cmath>

using namespace mlir;
using namespace ashlar::onnx_import;

/// The tensor in an attribute that the node must have.
static FailureOr<std::pair<Value, ElementType>> readTensor(NodeImporter &node,
                                                           StringRef name) {
  const onnx::AttributeProto *attribute = node.attribute(name);
  if (!attribute || !attribute->has_t())
    return node.invalid("attribute '" + name + "' is no tensor");
  auto type = static_cast<ElementType>(attribute->t().data_type());
  if (!convertElementType(node.b.getContext(), type))
    return node.unsupported("a constant of type " + elementTypeName(type));
  auto tensor = node.tensorAttribute(name);
  if (!tensor.first)
    return node.invalid("attribute '" + name +
                        "' holds a tensor whose data cannot be read: "
                        "expected as many values as its shape says");
  return tensor;
}

static LogicalResult importConstant(NodeImporter &node) {
  ImplicitLocOpBuilder &b = node.b;
  auto floats = [&](ArrayRef<double> values, ArrayRef<int64_t> shape) {
    SmallVector<float> narrow(values.begin(), values.end());
    Value constant = constantOf(
        b, DenseElementsAttr::get(RankedTensorType::get(shape, b.getF32Type()),
                                  ArrayRef<float>(narrow)));
    node.setResult(0, constant, ElementType::F32);
    return success();
  };
  auto ints = [&](ArrayRef<int64_t> values, ArrayRef<int64_t> shape) {
    node.setResult(0, constantTensor(b, values, shape), ElementType::I64);
    return success();
  };
  if (node.hasAttribute("value")) {
    auto tensor = readTensor(node, "value");
    if (failed(tensor))
      return failure();
    node.setResult(0, tensor->first, tensor->second);
    return success();
  }
  if (node.hasAttribute("value_float"))
    return floats({node.floatAttribute("value_float", 0)}, {});
  if (node.hasAttribute("value_floats")) {
    SmallVector<double> values = node.floatsAttribute("value_floats");
    return floats(values, {int64_t(values.size())});
  }
  if (node.hasAttribute("value_int"))
    return ints({node.intAttribute("value_int", 0)}, {});
  if (node.hasAttribute("value_ints")) {
    SmallVector<int64_t> values = node.intsAttribute("value_ints");
    return ints(values, {int64_t(values.size())});
  }
  if (node.hasAttribute("sparse_value"))
    return node.unsupported("a sparse constant");
  if (node.hasAttribute("value_string") || node.hasAttribute("value_strings"))
    return node.unsupported("a constant of strings");
  return node.invalid("expected an attribute 'value', found none");
}

static LogicalResult importConstantOfShape(NodeImporter &node) {
  ImplicitLocOpBuilder &b = node.b;
  if (failed(expectOperands(node, 1, 1)) || failed(expectRank(node, 0, 1)))
    return failure();
  FailureOr<SizedShape> asked = readShape(node, 0, "the shape");
  if (failed(asked))
    return failure();
  ArrayRef<int64_t> shape = asked->bounds;
  if (!node.hasAttribute("value")) {
    node.setResult(0, {splat(b, shape, b.getF32FloatAttr(0)), ElementType::F32,
                       asked->sizes});
    return success();
  }
  auto tensor = readTensor(node, "value");
  if (failed(tensor))
    return failure();
  auto type = cast<RankedTensorType>(tensor->first.getType());
  if (type.getNumElements() != 1)
    return node.invalid("attribute 'value' has shape " +
                        spellShape(type.getShape()) + "; expected one element");
  DenseElementsAttr value;
  Value result =
      matchPattern(tensor->first, m_Constant(&value))
          ? splat(b, shape,
                  cast<TypedAttr>(*value.getValues<Attribute>().begin()))
          : broadcastTo(b, reshape(b, tensor->first, {}), shape);
  node.setResult(0, {result, tensor->second, asked->sizes});
  return success();
}

static LogicalResult importShape(NodeImporter &node) {
  if (failed(expectOperands(node, 1, 1)))
    return failure();
  int64_t rank = node.rank(0);
  auto bound = [&](int64_t at) {
    return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  int64_t start = bound(node.intAttribute("start", 0));
  int64_t end = std::max(start, bound(node.intAttribute("end", rank)));
  if (!node.sizes(0).empty()) {
    Value shape = shapeAsTensor(node.b, node.shape(0), node.sizes(0));
    node.setResult(0, slice(node.b, shape, {start}, {end - start}, {1}),
                   ElementType::I64);
    return success();
  }
  ArrayRef<int64_t> sizes = node.shape(0).slice(start, end - start);
  node.setResult(0, constantTensor(node.b, sizes, {end - start}),
                 ElementType::I64);
  return success();
}

static LogicalResult importSize(NodeImporter &node) {
  if (failed(expectOperands(node, 1, 1)))
    return failure();
  Number count = knownNumber(1);
  for (int64_t axis = 0; axis != node.rank(0); ++axis)
    count = mul(node, count, sizeOf(node, 0, axis));
  node.setResult(0, copyOfSize(node.b, asTensor(node, count)),
                 ElementType::I64);
  return success();
}

static LogicalResult importEyeLike(NodeImporter &node) {
  if (failed(expectOperands(node, 1, 1)) || failed(expectRank(node, 0, 2)))
    return failure();
  auto type = static_cast<ElementType>(
      node.intAttribute("dtype", static_cast<int>(node.operandType(0))));
  Type element = convertElementType(node.b.getContext(), type);
  if (!element)
    return node.unsupported("a result of type " + elementTypeName(type));
  int64_t k = node.intAttribute("k", 0);
  // No tensor has a diagonal that far out.
  k = std::clamp<int64_t>(k, -(int64_t(1) << 41), int64_t(1) << 41);
  Value result =
      generate(node.b, node.shape(0), element,
               [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
                 Value shift = arith::ConstantIndexOp::create(b, loc, k);
                 Value column = arith::AddIOp::create(b, loc, at[0], shift);
                 Value onDiagonal = arith::CmpIOp::create(
                     b, loc, arith::CmpIPredicate::eq, column, at[1]);
                 return castScalar(b, loc, onDiagonal, ElementType::Bool, type);
               });
  node.setResult(0, result, type);
  return success();
}

/// The number of steps from start to limit, or -1 when there are too many.
static int64_t countSteps(NodeImporter &node, int64_t start, int64_t limit,
                          int64_t delta) {
  __int128 span = __int128(limit) - start;
  __int128 steps = (span + delta + (delta > 0 ? -1 : 1)) / delta;
  if (span == 0 || (span > 0) != (delta > 0))
    return 0;
  return steps > (int64_t(1) << 40) ? -1 : int64_t(steps);
}

/// How many steps a range of integers has that are computed.
static FailureOr<Number> countComputedSteps(NodeImporter &node) {
  static constexpr StringLiteral roles[] = {"the start", "the limit",
                                            "the step"};
  Number parts[3];
  for (unsigned i : {0, 1, 2}) {
    FailureOr<SmallVector<Number>> number = numbersOf(node, i, roles[i]);
    if (failed(number))
      return failure();
    parts[i] = number->front();
  }
  auto &[start, limit, delta] = parts;
  if (delta.is(0))
    return node.invalid("the step is zero");
  if (delta.low <= 0 && delta.high >= 0)
    return node.unsupportedSize("the step (input 2) depends on the model's "
                                "inputs, and may be positive or negative; it "
                                "must be known at compile time",
                                delta.tensor);
  bool isDown = delta.high < 0;
  Number zero = knownNumber(0), one = knownNumber(1);
  Number span = isDown ? sub(node, start, limit) : sub(node, limit, start);
  Number width = isDown ? sub(node, zero, delta) : delta;
  return div(node, add(node, max(node, span, zero), sub(node, width, one)),
             width);
}

/// The same of floats.
static Number countComputedFloats(NodeImporter &node) {
  ImplicitLocOpBuilder &b = node.b;
  SmallVector<Value> parts;
  for (unsigned i : {0, 1, 2}) {
    node.readAtRunTime(i);
    parts.push_back(reshape(b, node.operand(i), {}));
  }
  ElementType type = node.operandType(0);
  Value steps = elementwise(
      b, b.getI64Type(), parts,
      [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
        SmallVector<Value> wide;
        for (Value part : x)
          wide.push_back(castScalar(b, loc, part, type, ElementType::F64));
        Value span = arith::SubFOp::create(b, loc, wide[1], wide[0]);
        Value exact = arith::DivFOp::create(b, loc, span, wide[2]);
        Value count = castScalar(b, loc, math::CeilOp::create(b, loc, exact),
                                 ElementType::F64, ElementType::I64);
        return arith::MaxSIOp::create(
            b, loc, count, scalarIntConstant(b, loc, b.getI64Type(), 0));
      });
  return numberOf(node, steps);
}

/// Element i is start + i * step, both of which may be computed.
static Value makeSteps(NodeImporter &node, int64_t count) {
  ElementType type = node.operandType(0);
  return generate(
      node.b, {count}, node.tensorType(0).getElementType(),
      [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        auto part = [&](unsigned i) -> Value {
          if (DenseElementsAttr known = node.constantOperand(i))
            return arith::ConstantOp::create(
                b, loc, cast<TypedAttr>(*known.getValues<Attribute>().begin()));
          return tensor::ExtractOp::create(
              b, loc, node.operand(i),
              SmallVector<Value>(node.rank(i),
                                 arith::ConstantIndexOp::create(b, loc, 0)));
        };
        Value i = arith::IndexCastOp::create(b, loc, b.getI64Type(), at[0]);
        i = castScalar(b, loc, i, ElementType::I64, type);
        Value from = part(0), by = part(2);
        if (isFloat(type)) {
          Value offset = arith::MulFOp::create(b, loc, i, by);
          return arith::AddFOp::create(b, loc, from, offset);
        }
        Value offset = arith::MulIOp::create(b, loc, i, by);
        return arith::AddIOp::create(b, loc, from, offset);
      });
}

/// The number of steps where all is known.
static FailureOr<int64_t> countKnownSteps(NodeImporter &node) {
  int64_t count;
  if (isFloat(node.operandType(0))) {
    auto start = node.constantFloats(0, "the start");
    auto limit = node.constantFloats(1, "the limit");
    auto delta = node.constantFloats(2, "the step");
    if (failed(start) || failed(limit) || failed(delta))
      return failure();
    double steps = std::ceil(((*limit)[0] - (*start)[0]) / (*delta)[0]);
    if (!std::isfinite(steps))
      return node.invalid("the range has no finite number of elements");
    if (steps > double(int64_t(1) << 40))
      return node.invalid("the range has 2^40 or more elements");
    count = std::max<int64_t>(int64_t(std::max(steps, 0.0)), 0);
  } else {
    auto start = node.constantInts(0, "the start");
    auto limit = node.constantInts(1, "the limit");
    auto delta = node.constantInts(2, "the step");
    if (failed(start) || failed(limit) || failed(delta))
      return failure();
    if ((*delta)[0] == 0)
      return node.invalid("the step is zero");
    count = countSteps(node, (*start)[0], (*limit)[0], (*delta)[0]);
    if (count < 0)
      return node.invalid("the range has 2^40 or more elements");
  }
  return count;
}

static LogicalResult importRange(NodeImporter &node) {
  if (failed(expectOperands(node, 3, 3)) || failed(expectSameType(node, 1)) ||
      failed(expectSameType(node, 2)))
    return failure();
  bool isKnown = true;
  for (unsigned i = 0; i != 3; ++i) {
    if (node.tensorType(i).getNumElements() != 1)
      return expectShape(node, i, {});
    isKnown &= bool(node.constantOperand(i));
  }
  FailureOr<Number> count;
  if (isKnown) {
    FailureOr<int64_t> steps = countKnownSteps(node);
    if (failed(steps))
      return failure();
    count = knownNumber(*steps);
  } else if (isFloat(node.operandType(0))) {
    count = countComputedFloats(node);
  } else {
    count = countComputedSteps(node);
  }
  if (failed(count))
    return failure();
  FailureOr<SizedShape> shape = boundShape(node, *count, 1, "the limit");
  if (failed(shape))
    return failure();
  node.setResult(0, {makeSteps(node, shape->bounds[0]), node.operandType(0),
                     shape->sizes});
  return success();
}

void ashlar::onnx_import::registerConstantsOperators(
    OperatorRegistry &registry) {
  registry.add("Constant", 1, importConstant);
  registry.add("ConstantOfShape", 9, importConstantOfShape);
  registry.add("Shape", 1, importShape);
  registry.add("Size", 1, importSize);
  registry.add("EyeLike", 9, importEyeLike);
  registry.add("Range", 11, importRange);
}
