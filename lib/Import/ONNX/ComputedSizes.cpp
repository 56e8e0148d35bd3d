// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ComputedSizes.h"
#include "OperandRules.h"
#include "TensorBuilder.h"
#include "ashlar/Analysis/ElementRanges.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::onnx_import;

/// No axis is longer, or its tensor would be larger than memory.
static constexpr int64_t maximumBound = int64_t(1) << 31;

Number ashlar::onnx_import::knownNumber(int64_t value) {
  return {value, value, {}};
}

/// What is known of an element, which `tensor` holds as one i64.
static Number describe(const ElementRange &range, Value tensor) {
  if (std::optional<APInt> known = range.integer.getConstantValue())
    return knownNumber(known->getSExtValue());
  return {range.integer.smin().getSExtValue(),
          range.integer.smax().getSExtValue(),
          range.original() ? range.original() : tensor};
}

Number ashlar::onnx_import::numberOf(NodeImporter &node, Value tensor) {
  ArrayRef<ElementRange> found = node.elementRanges(tensor);
  return describe(found.empty() ? ElementRange::any(node.b.getI64Type())
                                : found.front(),
                  tensor);
}

FailureOr<SmallVector<Number>>
ashlar::onnx_import::numbersOf(NodeImporter &node, unsigned i, StringRef role) {
  if (!isInteger(node.operandType(i)))
    return node.invalid(Twine(role) + " (input " + Twine(i) +
                        ") must be integers, but is " +
                        elementTypeName(node.operandType(i)));
  ImplicitLocOpBuilder &b = node.b;
  if (node.rank(i) > 1)
    return expectRank(node, i, 1);
  int64_t count = node.tensorType(i).getNumElements();
  if (count > 64)
    return node.unsupported(Twine(role) + " (input " + Twine(i) + ") are " +
                            Twine(count) +
                            " numbers that are computed when the model runs");
  SmallVector<Number> numbers;
  for (int64_t at = 0; at != count; ++at) {
    Value one = node.operand(i);
    if (node.rank(i) == 1)
      one = reshape(b, slice(b, one, {at}, {1}, {1}), {});
    numbers.push_back(numberOf(
        node, castTensor(b, one, node.operandType(i), ElementType::I64)));
  }
  if (!node.constantOperand(i))
    node.readAtRunTime(i);
  return numbers;
}

Number ashlar::onnx_import::sizeOf(NodeImporter &node, unsigned i,
                                   int64_t axis) {
  ArrayRef<Value> sizes = node.sizes(i);
  if (sizes.empty() || !sizes[axis])
    return knownNumber(node.shape(i)[axis]);
  return numberOf(node, sizes[axis]);
}

Value ashlar::onnx_import::asTensor(NodeImporter &node, const Number &number) {
  return number.isKnown() ? constantTensor(node.b, {number.low}, {})
                          : number.tensor;
}

Value ashlar::onnx_import::asIndex(OpBuilder &b, Location loc,
                                   const Number &number) {
  if (number.isKnown())
    return arith::ConstantIndexOp::create(b, loc, number.low);
  Value scalar = tensor::ExtractOp::create(b, loc, number.tensor, ValueRange());
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), scalar);
}

Value ashlar::onnx_import::clampTo(OpBuilder &b, Location loc, Value index,
                                   const Number &size) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  Value last =
      arith::SubIOp::create(b, loc, asIndex(b, loc, size), constant(1));
  index = arith::MinSIOp::create(b, loc, index, last);
  return arith::MaxSIOp::create(b, loc, index, constant(0));
}

static Number combine(NodeImporter &node, const Number &x, const Number &y,
                      ScalarBody body) {
  Value result = elementwise(node.b, node.b.getI64Type(),
                             {asTensor(node, x), asTensor(node, y)}, body);
  return numberOf(node, result);
}

template <typename Op>
static Number apply(NodeImporter &node, const Number &x, const Number &y) {
  return combine(node, x, y,
                 [](OpBuilder &b, Location loc, ValueRange args) -> Value {
                   return Op::create(b, loc, args[0], args[1]);
                 });
}

Number ashlar::onnx_import::add(NodeImporter &node, const Number &x,
                                const Number &y) {
  return y.is(0) ? x : x.is(0) ? y : apply<arith::AddIOp>(node, x, y);
}

Number ashlar::onnx_import::sub(NodeImporter &node, const Number &x,
                                const Number &y) {
  return y.is(0) ? x : apply<arith::SubIOp>(node, x, y);
}

Number ashlar::onnx_import::mul(NodeImporter &node, const Number &x,
                                const Number &y) {
  return y.is(1) ? x : x.is(1) ? y : apply<arith::MulIOp>(node, x, y);
}

Number ashlar::onnx_import::div(NodeImporter &node, const Number &x,
                                const Number &y) {
  return y.is(1) ? x : apply<arith::DivSIOp>(node, x, max(node, y, {1, 1, {}}));
}

Number ashlar::onnx_import::max(NodeImporter &node, const Number &x,
                                const Number &y) {
  return x.low >= y.high   ? x
         : y.low >= x.high ? y
                           : apply<arith::MaxSIOp>(node, x, y);
}

Number ashlar::onnx_import::min(NodeImporter &node, const Number &x,
                                const Number &y) {
  return x.high <= y.low   ? x
         : y.high <= x.low ? y
                           : apply<arith::MinSIOp>(node, x, y);
}

Number ashlar::onnx_import::unlessOne(NodeImporter &node, const Number &x,
                                      const Number &y) {
  if (y.is(1) || x == y)
    return x;
  if (y.low > 1 || y.high < 1)
    return y;
  return combine(
      node, x, y, [](OpBuilder &b, Location loc, ValueRange args) -> Value {
        Value isOne =
            arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, args[1],
                                  scalarIntConstant(b, loc, b.getI64Type(), 1));
        return arith::SelectOp::create(b, loc, isOne, args[0], args[1]);
      });
}

FailureOr<SizedShape>
ashlar::onnx_import::boundShape(NodeImporter &node,
                                MutableArrayRef<Number> shape, unsigned from,
                                StringRef role) {
  SizedShape result;
  for (auto [axis, size] : llvm::enumerate(shape)) {
    if (!size.isKnown())
      size = max(node, size, knownNumber(0));
    if (size.high > maximumBound && !size.isKnown())
      return node.unsupportedSize(
          Twine(role) + " (input " + Twine(from) +
              ") depends on the model's inputs, and nothing says how large "
              "axis " +
              Twine(axis) +
              " can get; Min or Clip would bound it, or it must be known at "
              "compile time",
          size.tensor);
    result.bounds.push_back(size.high);
    result.sizes.push_back(size.tensor);
  }
  if (failed(expectSize(node, result.bounds)))
    return failure();
  return result;
}

FailureOr<SizedShape>
ashlar::onnx_import::readShape(NodeImporter &node, unsigned i, StringRef role) {
  if (node.constantOperand(i)) {
    FailureOr<SmallVector<int64_t>> known = node.constantInts(i, role);
    if (failed(known) || failed(expectSize(node, *known)))
      return failure();
    return SizedShape{*known, SmallVector<Value, 0>(known->size())};
  }
  FailureOr<SmallVector<Number>> numbers = numbersOf(node, i, role);
  if (failed(numbers))
    return failure();
  return boundShape(node, *numbers, i, role);
}
