// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ComputedShapes.h"
#include "../ComputedSizes.h"
#include "../OperandRules.h"
#include "../SizedTensors.h"
#include "../TensorBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ashlar::onnx_import;

bool ashlar::onnx_import::isComputed(NodeImporter &node, unsigned shape) {
  return !node.sizes(0).empty() ||
         (node.hasOperand(shape) && !node.constantOperand(shape));
}

static void setShaped(NodeImporter &node, Value value,
                      const SizedShape &shape) {
  node.setResult(0, {value, node.operandType(0), shape.sizes});
}

/// The sizes of operand 0.
static SmallVector<Number> ownSizes(NodeImporter &node) {
  SmallVector<Number> sizes;
  for (int64_t axis = 0; axis != node.rank(0); ++axis)
    sizes.push_back(sizeOf(node, 0, axis));
  return sizes;
}

/// Fails where a result would have elements, but there is none to read.
static LogicalResult expectElements(NodeImporter &node) {
  if (node.tensorType(0).getNumElements() != 0)
    return success();
  return node.unsupportedSize("its shape depends on data, and input 0 has no "
                              "elements");
}

LogicalResult ashlar::onnx_import::importComputedExpand(NodeImporter &node) {
  FailureOr<SmallVector<Number>> asked = numbersOf(node, 1, "the shape");
  if (failed(asked) || failed(expectElements(node)))
    return failure();
  SmallVector<Number> own = ownSizes(node);
  int64_t rank = std::max(own.size(), asked->size());
  own.insert(own.begin(), rank - own.size(), knownNumber(1));
  asked->insert(asked->begin(), rank - asked->size(), knownNumber(1));
  SmallVector<Number> result;
  bool isPlain = true;
  for (auto [from, to] : llvm::zip(own, *asked)) {
    if (from.isKnown() && to.isKnown() && from.low != 1 && to.low != 1 &&
        from.low != to.low)
      return node.invalid("a size of " + Twine(from.low) +
                          " does not broadcast with " + Twine(to.low));
    // A size that is known, and not one, is what the result has.
    result.push_back(unlessOne(node, to, from));
    isPlain &= from.is(1) || result.back() == from;
  }
  FailureOr<SizedShape> shape = boundShape(node, result, 1, "the shape");
  if (failed(shape))
    return failure();
  if (isPlain) {
    setShaped(node, broadcastTo(node.b, node.operand(0), shape->bounds),
              *shape);
    return success();
  }
  int64_t lead = rank - node.rank(0);
  Value data = node.operand(0);
  Value expanded =
      generate(node.b, shape->bounds, node.tensorType(0).getElementType(),
               [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
                 SmallVector<Value> place;
                 for (int64_t d = lead; d != rank; ++d)
                   place.push_back(clampTo(b, loc, at[d], own[d]));
                 return tensor::ExtractOp::create(b, loc, data, place);
               });
  setShaped(node, expanded, *shape);
  return success();
}

LogicalResult ashlar::onnx_import::importComputedTile(NodeImporter &node) {
  FailureOr<SmallVector<Number>> repeats = numbersOf(node, 1, "the repeats");
  if (failed(repeats) || failed(expectElements(node)))
    return failure();
  SmallVector<Number> own = ownSizes(node), result;
  for (auto [size, count] : llvm::zip(own, *repeats))
    result.push_back(mul(node, size, max(node, count, knownNumber(0))));
  FailureOr<SizedShape> shape = boundShape(node, result, 1, "the repeats");
  if (failed(shape))
    return failure();
  Value data = node.operand(0);
  Value tiled = generate(
      node.b, shape->bounds, node.tensorType(0).getElementType(),
      [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        SmallVector<Value> place;
        for (auto [index, size, count] : llvm::zip(at, own, *repeats)) {
          if (count.is(1)) {
            place.push_back(index);
            continue;
          }
          Value one = arith::ConstantIndexOp::create(b, loc, 1);
          Value period =
              arith::MaxSIOp::create(b, loc, asIndex(b, loc, size), one);
          place.push_back(arith::RemUIOp::create(b, loc, index, period));
        }
        return tensor::ExtractOp::create(b, loc, data, place);
      });
  setShaped(node, tiled, *shape);
  return success();
}

/// What is left of the product of `all` after those of `others` are divided
/// out: what is in both is not multiplied at all, so that it keeps its bounds.
static FailureOr<Number> quotient(NodeImporter &node, ArrayRef<Number> all,
                                  ArrayRef<Number> others) {
  SmallVector<Number> above;
  SmallVector<Number> below(others);
  int64_t known = 1, divisor = 1;
  auto multiply = [](int64_t &product, int64_t by) {
    return !llvm::MulOverflow(product, by, product);
  };
  for (const Number &size : all) {
    auto *same = llvm::find(below, size);
    if (same != below.end() && !size.isKnown())
      below.erase(same);
    else if (!size.isKnown())
      above.push_back(size);
    else if (!multiply(known, size.low))
      return failure();
  }
  Number unknown = knownNumber(1);
  for (const Number &size : below) {
    if (!size.isKnown())
      unknown = mul(node, unknown, size);
    else if (!multiply(divisor, size.low))
      return failure();
  }
  if (divisor == 0)
    return failure();
  bool divides = known % divisor == 0;
  Number result = knownNumber(divides ? known / divisor : known);
  for (const Number &size : above)
    result = mul(node, result, size);
  if (!divides)
    result = div(node, result, knownNumber(divisor));
  return unknown.is(1) ? result : div(node, result, unknown);
}

/// The sizes that a Reshape asks for.
static FailureOr<SmallVector<Number>> askedSizes(NodeImporter &node,
                                                 ArrayRef<Number> own) {
  FailureOr<SmallVector<Number>> asked = numbersOf(node, 1, "the shape");
  if (failed(asked))
    return failure();
  bool zeroMeansZero = node.intAttribute("allowzero", 0) != 0;
  SmallVector<Number> others;
  Number *inferred = nullptr;
  for (auto [i, size] : llvm::enumerate(*asked)) {
    if (size.is(0) && !zeroMeansZero) {
      if (i >= own.size())
        return node.invalid("dimension " + Twine(i) +
                            " of the shape is 0, which copies the input's; "
                            "the input has rank " +
                            Twine(node.rank(0)));
      size = own[i];
    }
    if (size.is(-1)) {
      if (inferred)
        return node.invalid("the shape holds -1 twice");
      inferred = &size;
      continue;
    }
    if (size.isKnown() && size.low < 0)
      return node.invalid("the shape holds " + Twine(size.low));
    // That a computed number stands for another one, as -1 does, nobody does.
    if (!size.isKnown())
      size = max(node, size, knownNumber(0));
    others.push_back(size);
  }
  if (inferred) {
    FailureOr<Number> left = quotient(node, own, others);
    if (failed(left))
      return node.unsupportedSize("the size that -1 stands for is not "
                                  "determined");
    *inferred = *left;
  }
  return asked;
}

static bool onlyOutermost(ArrayRef<Number> sizes) {
  return llvm::all_of(sizes.drop_front(sizes.empty() ? 0 : 1),
                      [](const Number &size) { return size.isKnown(); });
}

/// A flat tensor with as many elements as `count`: the first ones, or with
/// anything behind them.
static Value resizeFlat(ImplicitLocOpBuilder &b, Value flat, int64_t count) {
  auto type = cast<RankedTensorType>(flat.getType());
  int64_t have = type.getNumElements();
  if (have >= count)
    return slice(b, flat, {0}, {count}, {1});
  Value zero = arith::ConstantOp::create(b, zeroOf(type.getElementType()));
  return pad(b, flat, {0}, {count - have}, zero);
}

/// The elements in order in another shape; `asked` has as many.
static LogicalResult reshapeTo(NodeImporter &node, SmallVector<Number> asked) {
  ImplicitLocOpBuilder &b = node.b;
  if (failed(expectElements(node)))
    return failure();
  FailureOr<SizedShape> shape = boundShape(node, asked, 1, "the shape");
  if (failed(shape))
    return failure();
  int64_t count = node.tensorType(0).getNumElements();
  Value flat = reshape(b, makeDense(b, node.importedOperand(0)), {count});
  ArrayRef<int64_t> bounds = shape->bounds;
  if (onlyOutermost(asked)) {
    flat = resizeFlat(b, flat, ShapedType::getNumElements(bounds));
    setShaped(node, reshape(b, flat, bounds), *shape);
    return success();
  }
  Value spread = generate(
      b, bounds, node.tensorType(0).getElementType(),
      [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        Value number = at.front();
        for (auto [index, size] : llvm::drop_begin(llvm::zip(at, asked)))
          number = arith::AddIOp::create(
              b, loc,
              arith::MulIOp::create(b, loc, number, asIndex(b, loc, size)),
              index);
        return tensor::ExtractOp::create(
            b, loc, flat, clampTo(b, loc, number, knownNumber(count)));
      });
  setShaped(node, spread, *shape);
  return success();
}

LogicalResult ashlar::onnx_import::importComputedReshape(NodeImporter &node) {
  FailureOr<SmallVector<Number>> asked = askedSizes(node, ownSizes(node));
  return failed(asked) ? failure() : reshapeTo(node, *asked);
}

LogicalResult ashlar::onnx_import::importComputedFlatten(NodeImporter &node,
                                                         int64_t axis) {
  SmallVector<Number> result = {knownNumber(1), knownNumber(1)};
  for (auto [i, size] : llvm::enumerate(ownSizes(node))) {
    Number &side = result[int64_t(i) < axis ? 0 : 1];
    side = mul(node, side, size);
  }
  return reshapeTo(node, result);
}

/// The sizes of a concatenation and where along `axis` each part starts.
static FailureOr<SmallVector<Number>>
joinSizes(NodeImporter &node, int64_t axis, SmallVector<Number> &starts) {
  SmallVector<Number> shape = ownSizes(node);
  shape[axis] = knownNumber(0);
  for (unsigned i = 0; i != node.numOperands(); ++i)
    for (auto [d, size] : llvm::enumerate(shape)) {
      Number own = sizeOf(node, i, d);
      if (int64_t(d) == axis) {
        starts.push_back(size);
        size = add(node, size, own);
      } else if (size.isKnown() && own.isKnown() && size.low != own.low) {
        return node.invalid("input " + Twine(i) + " has size " +
                            Twine(own.low) + " along axis " + Twine(d) +
                            ", another input has " + Twine(size.low));
      } else if (own.isKnown()) {
        size = own;
      }
    }
  return shape;
}

LogicalResult ashlar::onnx_import::importComputedConcat(NodeImporter &node,
                                                        int64_t axis) {
  SmallVector<Number> starts;
  FailureOr<SmallVector<Number>> shape = joinSizes(node, axis, starts);
  if (failed(shape))
    return failure();
  FailureOr<SizedShape> result = boundShape(node, *shape, 0, "its size");
  if (failed(result))
    return failure();
  SmallVector<Value> parts;
  bool isPlain = true;
  for (unsigned i = 0; i != node.numOperands(); ++i) {
    parts.push_back(node.operand(i));
    for (int64_t d = 0; d != node.rank(0); ++d)
      isPlain &= d == axis ? sizeOf(node, i, d).isKnown()
                           : node.shape(i)[d] == result->bounds[d];
  }
  if (isPlain) {
    setShaped(node, concat(node.b, parts, axis), *result);
    return success();
  }
  Value joined = generate(
      node.b, result->bounds, node.tensorType(0).getElementType(),
      [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        // The last part that begins here or before.
        Value element;
        for (unsigned i = 0; i != node.numOperands(); ++i) {
          if (node.tensorType(i).getNumElements() == 0)
            continue;
          Value start = asIndex(b, loc, starts[i]);
          SmallVector<Value> place(at.begin(), at.end());
          for (auto [d, index] : llvm::enumerate(place)) {
            if (int64_t(d) == axis)
              index = arith::SubIOp::create(b, loc, index, start);
            index = clampTo(b, loc, index, knownNumber(node.shape(i)[d]));
          }
          Value here =
              tensor::ExtractOp::create(b, loc, node.operand(i), place);
          Value begins = arith::CmpIOp::create(
              b, loc, arith::CmpIPredicate::sge, at[axis], start);
          element = element
                        ? arith::SelectOp::create(b, loc, begins, here, element)
                              .getResult()
                        : here;
        }
        if (!element)
          element = arith::ConstantOp::create(
              b, loc, zeroOf(node.tensorType(0).getElementType()));
        return element;
      });
  setShaped(node, joined, *result);
  return success();
}
