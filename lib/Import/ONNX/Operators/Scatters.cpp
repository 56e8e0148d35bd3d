// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scatter, ScatterElements, ScatterND and MaxUnpool: elements written to places
// that a tensor holds. Places may repeat, so the writes keep their order.
#include "../ComputedSizes.h"
#include "../OperandRules.h"
#include "../RunTimeSizes.h"
#include "../TensorBuilder.h"
#include "IndexArithmetic.h"
#include "LoopNest.h"
#include "WindowGeometry.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ashlar::onnx_import;

static LogicalResult readReduction(NodeImporter &node, std::string &reduction) {
  reduction = node.stringAttribute("reduction", "none");
  if (failed(expectOneOf(node, "attribute 'reduction'", reduction,
                         {"none", "add", "mul", "max", "min"})))
    return failure();
  if (reduction != "none" && node.operandType(0) == ElementType::Bool)
    return node.unsupported("a reduction of values of type bool");
  return success();
}

/// What is stored where `old` is and `update` arrives.
static Value reduceInto(OpBuilder &b, Location loc, llvm::StringRef reduction,
                        ElementType type, Value old, Value update) {
  bool real = isFloat(type), natural = isUnsigned(type);
  if (reduction == "add")
    return real ? arith::AddFOp::create(b, loc, old, update).getResult()
                : arith::AddIOp::create(b, loc, old, update).getResult();
  if (reduction == "mul")
    return real ? arith::MulFOp::create(b, loc, old, update).getResult()
                : arith::MulIOp::create(b, loc, old, update).getResult();
  if (reduction == "max")
    return real ? arith::MaximumFOp::create(b, loc, old, update).getResult()
           : natural ? arith::MaxUIOp::create(b, loc, old, update).getResult()
                     : arith::MaxSIOp::create(b, loc, old, update).getResult();
  if (reduction == "min")
    return real ? arith::MinimumFOp::create(b, loc, old, update).getResult()
           : natural ? arith::MinUIOp::create(b, loc, old, update).getResult()
                     : arith::MinSIOp::create(b, loc, old, update).getResult();
  return update;
}

/// `isWritten`: null, or whether the element is.
static Value store(OpBuilder &b, Location loc, llvm::StringRef reduction,
                   ElementType type, Value update, Value target, ValueRange at,
                   Value isWritten) {
  if (reduction != "none" || isWritten) {
    Value old = tensor::ExtractOp::create(b, loc, target, at);
    update = reduceInto(b, loc, reduction, type, old, update);
    if (isWritten)
      update = arith::SelectOp::create(b, loc, isWritten, update, old);
  }
  return tensor::InsertOp::create(b, loc, update, target, at);
}

/// The shape of what is written: `updates`, or less along axes whose size
/// depends on data. Those from `lead` on are the last ones of input 0.
static FailureOr<SmallVector<int64_t>>
shapeToWrite(NodeImporter &node, ArrayRef<int64_t> updates, int64_t lead) {
  if (failed(expectRank(node, 2, updates.size())))
    return failure();
  for (int64_t axis = lead; axis < node.rank(1); ++axis)
    if (isSized(node.sizes(1), axis))
      return node.unsupportedSize("the size of input 1 along axis " +
                                  Twine(axis) + " depends on data");
  SmallVector<int64_t> shape(updates);
  int64_t before = node.rank(0) - int64_t(updates.size());
  for (auto [axis, size] : llvm::enumerate(shape)) {
    int64_t given = node.shape(2)[axis];
    bool isRest = int64_t(axis) >= lead;
    if (isSized(node.sizes(isRest ? 0 : 1), isRest ? axis + before : axis) ||
        isSized(node.sizes(2), axis))
      size = std::min(size, given);
    else if (size != given)
      return expectShape(node, 2, updates);
  }
  return shape;
}

/// Whether the update at these places is one of those that count; null where
/// all do.
static Value countsAt(OpBuilder &b, Location loc, NodeImporter &node,
                      ValueRange at) {
  Value counts;
  for (unsigned i : {1, 2})
    for (auto [axis, index] : llvm::enumerate(at)) {
      if (!isSized(node.sizes(i), axis))
        continue;
      Value isInside =
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, index,
                                asIndex(b, loc, sizeOf(node, i, axis)));
      counts = counts
                   ? arith::AndIOp::create(b, loc, counts, isInside).getResult()
                   : isInside;
    }
  return counts;
}

/// Single elements of a short list, at places that are known: what computes
/// sizes. As parts of lists, whose numbers are followed. Null: otherwise.
static Value replaceInList(NodeImporter &node, StringRef reduction) {
  constexpr int64_t longest = 64;
  if (node.rank(0) != 1 || reduction != "none" || node.shape(0)[0] > longest ||
      !node.constantOperand(1) || node.shape(1)[0] == 0 ||
      isSized(node.sizes(2), 0))
    return {};
  auto places = node.constantInts(1, "places");
  if (failed(places))
    return {};
  int64_t length = node.shape(0)[0];
  SmallVector<std::pair<unsigned, int64_t>> sources;
  for (int64_t i = 0; i != length; ++i)
    sources.emplace_back(0, i);
  for (auto [i, place] : llvm::enumerate(*places))
    sources[std::clamp<int64_t>(place < 0 ? place + length : place, 0,
                                length - 1)] = {2, int64_t(i)};
  SmallVector<Value> elements;
  for (auto [operand, at] : sources)
    elements.push_back(slice(node.b, node.operand(operand), {at}, {1}, {1}));
  return elements.size() == 1 ? elements[0] : concat(node.b, elements, 0);
}

static LogicalResult importScatterElements(NodeImporter &node) {
  if (failed(expectOperands(node, 3, 3)) || failed(expectIndexType(node, 1)) ||
      failed(expectSameType(node, 2)) || failed(expectRankAtLeast(node, 0, 1)))
    return failure();
  ArrayRef<int64_t> data = node.shape(0);
  FailureOr<int64_t> axis =
      node.normalizeAxis(node.intAttribute("axis", 0), data.size());
  std::string reduction;
  if (failed(axis) || failed(expectRank(node, 1, data.size())))
    return failure();
  auto shape = shapeToWrite(node, node.shape(1), data.size());
  if (failed(shape) || failed(readReduction(node, reduction)))
    return failure();
  int64_t elements = ShapedType::getNumElements(*shape);
  for (auto [i, dim] : llvm::enumerate(*shape)) {
    // As many as count fit; that there may be more is only a bound.
    if (int64_t(i) != *axis &&
        (isSized(node.sizes(1), i) || isSized(node.sizes(2), i)))
      dim = std::min(dim, data[i]);
    if (elements != 0 && (int64_t(i) == *axis ? data[i] == 0 : dim > data[i]))
      return node.invalid("input 1 has shape " + spellShape(node.shape(1)) +
                          ", which does not fit into input 0 of shape " +
                          spellShape(data));
  }
  Value result = node.operand(0);
  ElementType type = node.operandType(0);
  if (Value list = replaceInList(node, reduction))
    result = list;
  else if (elements != 0)
    result = loopOver(
        node.b, node.b.getLoc(), *shape, result,
        [&](OpBuilder &b, Location loc, ValueRange at,
            ValueRange carried) -> SmallVector<Value> {
          SmallVector<Value> place(at);
          Value index = tensor::ExtractOp::create(b, loc, node.operand(1), at);
          place[*axis] = boundedIndex(b, loc, index, data[*axis]);
          Value update = tensor::ExtractOp::create(b, loc, node.operand(2), at);
          return {store(b, loc, reduction, type, update, carried[0], place,
                        countsAt(b, loc, node, at))};
        })[0];
  node.setResult(0, result, type);
  return success();
}

static LogicalResult importScatterND(NodeImporter &node) {
  if (failed(expectOperands(node, 3, 3)) || failed(expectIndexType(node, 1)) ||
      failed(expectSameType(node, 2)) ||
      failed(expectRankAtLeast(node, 0, 1)) ||
      failed(expectRankAtLeast(node, 1, 1)))
    return failure();
  ArrayRef<int64_t> data = node.shape(0), indices = node.shape(1);
  int64_t depth = indices.back(), lead = indices.size() - 1;
  if (depth < 1 || depth > int64_t(data.size()))
    return node.invalid("the last size of input 1 is " + Twine(depth) +
                        "; expected 1 to " + Twine(data.size()));
  SmallVector<int64_t> updates(indices.drop_back());
  llvm::append_range(updates, data.drop_front(depth));
  auto shape = shapeToWrite(node, updates, lead);
  std::string reduction;
  if (failed(shape) || failed(readReduction(node, reduction)))
    return failure();
  Value result = node.operand(0);
  ElementType type = node.operandType(0);
  if (ShapedType::getNumElements(*shape) != 0) {
    if (llvm::is_contained(data.take_front(depth), 0))
      return node.invalid("input 0 has no elements to write");
    result = loopOver(
        node.b, node.b.getLoc(), *shape, result,
        [&](OpBuilder &b, Location loc, ValueRange at,
            ValueRange carried) -> SmallVector<Value> {
          SmallVector<Value> from(at.take_front(lead)), place;
          from.push_back({});
          for (int64_t i = 0; i != depth; ++i) {
            from.back() = arith::ConstantIndexOp::create(b, loc, i);
            Value index =
                tensor::ExtractOp::create(b, loc, node.operand(1), from);
            place.push_back(boundedIndex(b, loc, index, data[i]));
          }
          llvm::append_range(place, at.drop_front(lead));
          Value update = tensor::ExtractOp::create(b, loc, node.operand(2), at);
          return {store(b, loc, reduction, type, update, carried[0], place,
                        countsAt(b, loc, node, at.take_front(lead)))};
        })[0];
  }
  node.setResult(0, result, type);
  return success();
}

static LogicalResult importMaxUnpool(NodeImporter &node) {
  if (failed(expectOperands(node, 2, 3)) ||
      failed(expectRankAtLeast(node, 0, 3)) ||
      failed(expectShape(node, 1, node.shape(0))) ||
      failed(expectIndexType(node, 1)))
    return failure();
  ImplicitLocOpBuilder &b = node.b;
  ArrayRef<int64_t> input = node.shape(0);
  FailureOr<WindowGeometry> window =
      readWindowSizes(node, input.size() - 2, std::nullopt);
  if (failed(window))
    return failure();
  auto pads = readSizes(node, "pads", 2 * window->rank(), 0, 0);
  if (failed(pads))
    return failure();
  // What the indices count in, and where that lies in the result.
  SmallVector<int64_t> counted(input.take_front(2));
  for (unsigned i = 0; i != window->rank(); ++i)
    counted.push_back((input[i + 2] - 1) * window->strides[i] - (*pads)[i] -
                      (*pads)[window->rank() + i] + window->kernel[i]);
  if (failed(expectSize(node, counted)))
    return failure();
  SmallVector<int64_t> result = counted;
  if (node.hasOperand(2)) {
    auto asked = node.constantInts(2, "the result's shape");
    if (failed(asked))
      return failure();
    result = *asked;
  }
  if (result.size() != input.size() || failed(expectSize(node, result)) ||
      result[0] != input[0] || result[1] != input[1])
    return node.invalid("the result's shape is " + spellShape(result) +
                        "; expected rank " + Twine(input.size()) +
                        " and the input's batch and channels");
  Type element = node.tensorType(0).getElementType();
  int64_t elements = ShapedType::getNumElements(counted);
  Value zero = arith::ConstantOp::create(b, zeroOf(element));
  Value flat = fill(b, {elements}, zero);
  if (elements != 0 && node.tensorType(0).getNumElements() != 0)
    flat = loopOver(
        b, b.getLoc(), input, flat,
        [&](OpBuilder &b, Location loc, ValueRange at,
            ValueRange carried) -> SmallVector<Value> {
          Value index = tensor::ExtractOp::create(b, loc, node.operand(1), at);
          Value place = boundedIndex(b, loc, index, elements);
          Value update = tensor::ExtractOp::create(b, loc, node.operand(0), at);
          return {tensor::InsertOp::create(b, loc, update, carried[0], place)};
        })[0];
  SmallVector<int64_t> low(result.size(), 0), high;
  for (auto [to, from] : llvm::zip(result, counted))
    high.push_back(to - from);
  node.setResult(0, padOrCrop(b, reshape(b, flat, counted), low, high, zero),
                 node.operandType(0));
  return success();
}

void ashlar::onnx_import::registerScattersOperators(
    OperatorRegistry &registry) {
  registry.add("Scatter", 9, importScatterElements);
  registry.add("ScatterElements", 11, importScatterElements);
  registry.add("ScatterND", 11, importScatterND);
  registry.add("MaxUnpool", 9, importMaxUnpool);
}
