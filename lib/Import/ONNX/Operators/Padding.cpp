// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pad in all its modes, and CenterCropPad.
#include "../ComputedSizes.h"
#include "../OperandRules.h"
#include "../TensorBuilder.h"
#include "ComputedShapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ashlar::onnx_import;

namespace {
struct Pads {
  SmallVector<int64_t> low, high;
};
} // namespace

/// Amounts before and after each axis, from attribute or operand.
static FailureOr<Pads> readPads(NodeImporter &node) {
  int64_t rank = node.rank(0);
  SmallVector<int64_t> amounts = node.intsAttribute("pads");
  SmallVector<int64_t> axes;
  if (node.opset() >= 11) {
    FailureOr<SmallVector<int64_t>> given = node.constantInts(1, "the pads");
    if (failed(given))
      return failure();
    amounts = *given;
    if (node.hasOperand(3)) {
      FailureOr<SmallVector<int64_t>> named = node.axes(3, rank);
      if (failed(named))
        return failure();
      axes = *named;
    }
  }
  if (!node.hasOperand(3))
    axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (amounts.size() != 2 * axes.size())
    return node.invalid("has " + Twine(amounts.size()) +
                        " pads; expected two for each of " +
                        Twine(axes.size()) + " axes");
  Pads pads{SmallVector<int64_t>(rank, 0), SmallVector<int64_t>(rank, 0)};
  SmallVector<int64_t> shape(node.shape(0));
  constexpr int64_t limit = int64_t(1) << 40;
  for (auto [i, axis] : llvm::enumerate(axes)) {
    int64_t low = amounts[i], high = amounts[i + axes.size()];
    if (low < -limit || low > limit || high < -limit || high > limit)
      return node.invalid("the pads of axis " + Twine(axis) + " are " +
                          Twine(low) + " and " + Twine(high) +
                          "; expected less than 2^40");
    pads.low[axis] = low;
    pads.high[axis] = high;
    shape[axis] += low + high;
  }
  if (failed(expectSize(node, shape)))
    return failure();
  return pads;
}

/// The place in an axis of `dim` elements that element `at` of the padded axis
/// repeats, `low` being the padding before it.
static Value sourceIndex(OpBuilder &b, Location loc, Value at, StringRef mode,
                         int64_t dim, int64_t low) {
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  if (mode == "edge") {
    at = arith::SubIOp::create(b, loc, at, index(low));
    at = arith::MaxSIOp::create(b, loc, at, index(0));
    return arith::MinSIOp::create(b, loc, at, index(dim - 1));
  }
  // Both others are periodic; the shift makes the remainder's operand positive.
  bool reflect = mode == "reflect";
  int64_t period = reflect ? std::max<int64_t>(2 * (dim - 1), 1) : dim;
  int64_t shift = (period - low % period) % period;
  at = arith::AddIOp::create(b, loc, at, index(shift));
  at = arith::RemUIOp::create(b, loc, at, index(period));
  if (!reflect)
    return at;
  Value mirrored = arith::SubIOp::create(b, loc, index(period), at);
  return arith::MinSIOp::create(b, loc, at, mirrored);
}

/// What surrounds the elements in mode `constant`.
static FailureOr<Value> readPadding(NodeImporter &node) {
  ImplicitLocOpBuilder &b = node.b;
  Type element = node.tensorType(0).getElementType();
  if (!node.hasOperand(2)) {
    if (!isa<FloatType>(element))
      return arith::ConstantOp::create(b, zeroOf(element)).getResult();
    return scalarConstant(b, b.getLoc(), element,
                          node.floatAttribute("value", 0));
  }
  if (failed(expectSameType(node, 2)))
    return failure();
  if (node.tensorType(2).getNumElements() != 1)
    return expectShape(node, 2, {});
  if (DenseElementsAttr constant = node.constantOperand(2))
    return arith::ConstantOp::create(
               b, cast<TypedAttr>(*constant.getValues<Attribute>().begin()))
        .getResult();
  return tensor::ExtractOp::create(b, reshape(b, node.operand(2), {}),
                                   ValueRange{})
      .getResult();
}

namespace {
/// One axis whose padding, or whose size, is known when the model runs. What
/// negative padding takes away goes first; `length` elements are left from
/// `first` on.
struct ComputedPad {
  Number size = knownNumber(0), low = knownNumber(0), high = knownNumber(0);
  Number first = low, length = low;
  bool isNone() const { return low.is(0) && high.is(0); }
};
} // namespace

static FailureOr<SmallVector<ComputedPad>>
readComputedPads(NodeImporter &node) {
  int64_t rank = node.rank(0);
  auto amounts = numbersOf(node, 1, "the pads");
  if (failed(amounts))
    return failure();
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (node.hasOperand(3)) {
    FailureOr<SmallVector<int64_t>> named = node.axes(3, rank);
    if (failed(named))
      return failure();
    axes = *named;
  }
  if (amounts->size() != 2 * axes.size())
    return node.invalid("has " + Twine(amounts->size()) +
                        " pads; expected two for each of " +
                        Twine(axes.size()) + " axes");
  SmallVector<ComputedPad> pads(rank);
  Number zero = knownNumber(0);
  for (auto [axis, pad] : llvm::enumerate(pads))
    pad.size = pad.length = sizeOf(node, 0, axis);
  for (auto [i, axis] : llvm::enumerate(axes)) {
    ComputedPad &pad = pads[axis];
    pad.low = (*amounts)[i];
    pad.high = (*amounts)[i + axes.size()];
    pad.first = sub(node, zero, min(node, pad.low, zero));
    pad.length =
        add(node, sub(node, pad.size, pad.first), min(node, pad.high, zero));
  }
  return pads;
}

static LogicalResult importComputedPad(NodeImporter &node, StringRef mode) {
  FailureOr<SmallVector<ComputedPad>> pads = readComputedPads(node);
  if (failed(pads))
    return failure();
  if (node.tensorType(0).getNumElements() == 0)
    return node.unsupportedSize("its pads depend on data, and input 0 has no "
                                "elements");
  FailureOr<Value> around = Value();
  if (mode == "constant")
    around = readPadding(node);
  SmallVector<Number> sizes;
  for (const ComputedPad &pad : *pads)
    sizes.push_back(add(node, add(node, pad.size, pad.low), pad.high));
  FailureOr<SizedShape> shape = boundShape(node, sizes, 1, "the pads");
  if (failed(around) || failed(shape))
    return failure();
  Value data = node.operand(0);
  Value padded = generate(
      node.b, shape->bounds, node.tensorType(0).getElementType(),
      [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        auto constant = [&](int64_t value) -> Value {
          return arith::ConstantIndexOp::create(b, loc, value);
        };
        auto modulo = [&](Value x, Value period) -> Value {
          Value rest = arith::RemSIOp::create(b, loc, x, period);
          rest = arith::AddIOp::create(b, loc, rest, period);
          return arith::RemSIOp::create(b, loc, rest, period);
        };
        SmallVector<Value> place;
        Value inside;
        for (auto [i, pad] : llvm::zip(at, *pads)) {
          if (pad.isNone()) {
            place.push_back(i);
            continue;
          }
          Value x = arith::SubIOp::create(b, loc, i, asIndex(b, loc, pad.low));
          Value size = asIndex(b, loc, pad.size);
          if (mode == "constant") {
            // Below zero is far above when there is no sign.
            Value isHere = arith::CmpIOp::create(
                b, loc, arith::CmpIPredicate::ult, x, size);
            inside =
                inside
                    ? arith::AndIOp::create(b, loc, inside, isHere).getResult()
                    : isHere;
          } else {
            Value first = asIndex(b, loc, pad.first);
            Value length = arith::MaxSIOp::create(
                b, loc, asIndex(b, loc, pad.length), constant(1));
            x = arith::SubIOp::create(b, loc, x, first);
            if (mode == "wrap")
              x = modulo(x, length);
            if (mode == "edge")
              x = clampTo(b, loc, x,
                          {pad.length.low, pad.length.high, pad.length.tensor});
            if (mode == "reflect") {
              Value period = arith::SubIOp::create(b, loc, length, constant(1));
              period = arith::MulIOp::create(b, loc, period, constant(2));
              period = arith::MaxSIOp::create(b, loc, period, constant(1));
              x = modulo(x, period);
              x = arith::MinSIOp::create(
                  b, loc, x, arith::SubIOp::create(b, loc, period, x));
            }
            x = arith::AddIOp::create(b, loc, x, first);
          }
          place.push_back(clampTo(b, loc, x, pad.size));
        }
        Value element = tensor::ExtractOp::create(b, loc, data, place);
        return inside
                   ? arith::SelectOp::create(b, loc, inside, element, *around)
                         .getResult()
                   : element;
      });
  node.setResult(0, {padded, node.operandType(0), shape->sizes});
  return success();
}

static LogicalResult importPad(NodeImporter &node) {
  bool byAttributes = node.opset() < 11;
  if (failed(expectOperands(node, byAttributes ? 1 : 2, byAttributes ? 1 : 4)))
    return failure();
  ImplicitLocOpBuilder &b = node.b;
  std::string mode = node.stringAttribute("mode", "constant");
  if (failed(expectOneOf(node, "attribute 'mode'", mode,
                         {"constant", "reflect", "edge", "wrap"})))
    return failure();
  if (!byAttributes && isComputed(node, 1))
    return importComputedPad(node, mode);
  FailureOr<Pads> pads = readPads(node);
  if (failed(pads))
    return failure();
  if (mode == "constant") {
    FailureOr<Value> scalar = readPadding(node);
    if (failed(scalar))
      return failure();
    node.setResult(
        0, padOrCrop(b, node.operand(0), pads->low, pads->high, *scalar),
        node.operandType(0));
    return success();
  }

  Type element = node.tensorType(0).getElementType();
  // Negative pads crop first; what is left is repeated.
  SmallVector<int64_t> offsets, sizes, result, low;
  for (auto [i, dim] : llvm::enumerate(node.shape(0))) {
    int64_t before = pads->low[i], after = pads->high[i];
    offsets.push_back(std::max<int64_t>(-before, 0));
    sizes.push_back(dim - offsets[i] - std::max<int64_t>(-after, 0));
    low.push_back(std::max<int64_t>(before, 0));
    result.push_back(dim + before + after);
  }
  for (auto [i, size] : llvm::enumerate(sizes))
    if (size <= 0 && result[i] > 0)
      return node.invalid("axis " + Twine(i) + " has no elements that mode '" +
                          mode + "' could repeat");
  SmallVector<int64_t> strides(sizes.size(), 1);
  if (ShapedType::getNumElements(result) == 0) {
    node.setResult(0, tensor::EmptyOp::create(b, result, element),
                   node.operandType(0));
    return success();
  }
  Value source = slice(b, node.operand(0), offsets, sizes, strides);
  Value padded = generate(
      b, result, element, [&](OpBuilder &b, Location loc, ValueRange at) {
        SmallVector<Value> from(at);
        for (auto [i, size] : llvm::enumerate(sizes))
          if (size != result[i])
            from[i] = sourceIndex(b, loc, from[i], mode, size, low[i]);
        return tensor::ExtractOp::create(b, loc, source, from).getResult();
      });
  node.setResult(0, padded, node.operandType(0));
  return success();
}

static LogicalResult importCenterCropPad(NodeImporter &node) {
  if (failed(expectOperands(node, 2, 2)) || failed(expectRank(node, 1, 1)))
    return failure();
  ImplicitLocOpBuilder &b = node.b;
  int64_t rank = node.rank(0);
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (node.hasAttribute("axes")) {
    FailureOr<SmallVector<int64_t>> named = node.axes(node.numOperands(), rank);
    if (failed(named))
      return failure();
    axes = *named;
  }
  FailureOr<SmallVector<int64_t>> asked = node.constantInts(1, "the shape");
  if (failed(asked) || failed(expectSize(node, *asked)))
    return failure();
  if (asked->size() != axes.size())
    return node.invalid("the shape has " + Twine(asked->size()) +
                        " sizes; expected one for each of " +
                        Twine(axes.size()) + " axes");
  SmallVector<int64_t> low(rank, 0), high(rank, 0), result(node.shape(0));
  for (auto [axis, size] : llvm::zip(axes, *asked)) {
    int64_t more = size - result[axis];
    // The smaller half is taken or put in front.
    low[axis] = more / 2;
    high[axis] = more - low[axis];
    result[axis] = size;
  }
  if (failed(expectSize(node, result)))
    return failure();
  Value zero =
      arith::ConstantOp::create(b, zeroOf(node.tensorType(0).getElementType()));
  node.setResult(0, padOrCrop(b, node.operand(0), low, high, zero),
                 node.operandType(0));
  return success();
}

void ashlar::onnx_import::registerPaddingOperators(OperatorRegistry &registry) {
  registry.add("Pad", 2, importPad);
  registry.add("CenterCropPad", 18, importCenterCropPad);
}
