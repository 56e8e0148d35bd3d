// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TopK. Every value becomes an integer key whose order is the one asked for,
// with its place below it; then each result takes the greatest key below the
// one before it. Equal keys go by their index, and NaN counts as greater than
// all numbers. Keys of 64 bits have no room for a place and are compared one
// after the other.
#include "../ComputedSizes.h"
#include "../OperandRules.h"
#include "../TensorBuilder.h"
#include "IndexArithmetic.h"
#include "LoopNest.h"
#include "SortKeys.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ashlar::onnx_import;

/// Signed integers that are greater where `type`'s values come earlier.
static Value earlierKey(OpBuilder &b, Location loc, ElementType type,
                        bool largest, Value value) {
  Value key = orderedKey(b, loc, type, value);
  if (largest)
    return key;
  Value ones = scalarIntConstant(b, loc, key.getType(), -1);
  return arith::XOrIOp::create(b, loc, key, ones);
}

static Value makeKeys(ImplicitLocOpBuilder &b, Value input, ElementType type,
                      bool largest) {
  unsigned width = getElementTypeOrSelf(input).getIntOrFloatBitWidth();
  return elementwise(b, b.getIntegerType(width), {input},
                     [&](OpBuilder &b, Location loc, ValueRange args) {
                       return earlierKey(b, loc, type, largest, args[0]);
                     });
}

/// The same with their places along the last of two axes, no two of a row
/// equal.
static Value makePackedKeys(ImplicitLocOpBuilder &b, Value input,
                            ElementType type, bool largest) {
  auto shape = cast<RankedTensorType>(input.getType()).getShape();
  return parallel(b, shape, b.getI64Type(), input, b.getMultiDimIdentityMap(2),
                  [&](OpBuilder &b, Location loc, ValueRange args) {
                    Value at = linalg::IndexOp::create(b, loc, 1);
                    at = arith::IndexCastOp::create(b, loc, b.getI64Type(), at);
                    Value key = earlierKey(b, loc, type, largest, args[0]);
                    return packKey(b, loc, key, at, Ties::FirstIsGreater);
                  });
}

/// Of each row, the greatest key below `last`.
static Value greatestBelow(ImplicitLocOpBuilder &b, Value keys, Value last) {
  Value least = arith::ConstantOp::create(b, lowestOf(b.getI64Type(), false));
  Value init =
      fill(b, cast<RankedTensorType>(last.getType()).getShape(), least);
  AffineMap both = b.getMultiDimIdentityMap(2);
  AffineMap rows = AffineMap::get(2, 0, b.getAffineDimExpr(0));
  utils::IteratorType iterators[] = {utils::IteratorType::parallel,
                                     utils::IteratorType::reduction};
  return linalg::GenericOp::create(
             b, init.getType(), ValueRange{keys, last}, init,
             ArrayRef<AffineMap>{both, rows, rows}, iterators,
             [&](OpBuilder &b, Location loc, ValueRange args) {
               Value isLeft = arith::CmpIOp::create(
                   b, loc, arith::CmpIPredicate::slt, args[0], args[1]);
               Value key =
                   arith::SelectOp::create(b, loc, isLeft, args[0], least);
               key = arith::MaxSIOp::create(b, loc, key, args[2]);
               linalg::YieldOp::create(b, loc, key);
             })
      .getResult(0);
}

/// The first `k` packed keys of each row: each the greatest below the one
/// before it.
static Value selectPacked(ImplicitLocOpBuilder &b, Value keys, int64_t k) {
  int64_t rows = cast<RankedTensorType>(keys.getType()).getDimSize(0);
  Value none =
      fill(b, {rows},
           arith::ConstantOp::create(b, highestOf(b.getI64Type(), false)));
  Value taken =
      tensor::EmptyOp::create(b, ArrayRef<int64_t>{rows, k}, b.getI64Type());
  auto insert = [&](OpBuilder &b, Location loc, Value best, Value into,
                    OpFoldResult at) -> Value {
    return tensor::InsertSliceOp::create(
        b, loc, best, into, {b.getIndexAttr(0), at},
        {b.getIndexAttr(rows), b.getIndexAttr(1)},
        {b.getIndexAttr(1), b.getIndexAttr(1)});
  };
  if (k == 1)
    return reshape(b, greatestBelow(b, keys, none), {rows, 1});
  return loopOver(b, b.getLoc(), {k}, {taken, none},
                  [&](OpBuilder &inner, Location loc, ValueRange at,
                      ValueRange carried) -> SmallVector<Value> {
                    ImplicitLocOpBuilder b(loc, inner);
                    Value best = greatestBelow(b, keys, carried[1]);
                    return {insert(b, loc, best, carried[0], at[0]), best};
                  })[0];
}

/// The index of the first key of a row that is still to be taken, as a tensor
/// of one element: between kernels only tensors flow, and a loop of one step is
/// no loop. `lastKey` and `lastIndex` were taken before.
static Value findNext(OpBuilder &b, Location loc, Value keys, Value row,
                      Value lastKey, Value lastIndex) {
  using arith::CmpIPredicate;
  auto compare = [](OpBuilder &b, Location loc, CmpIPredicate predicate,
                    Value x, Value y) -> Value {
    return arith::CmpIOp::create(b, loc, predicate, x, y);
  };
  int64_t dim = cast<RankedTensorType>(keys.getType()).getDimSize(1);
  Value none = scalarIntConstant(b, loc, b.getI64Type(), -1);
  Value start = tensor::FromElementsOp::create(
      b, loc, RankedTensorType::get({}, b.getI64Type()), none);
  return loopOver(
      b, loc, {dim}, start,
      [&](OpBuilder &b, Location loc, ValueRange at,
          ValueRange carried) -> SmallVector<Value> {
        Value x =
            tensor::ExtractOp::create(b, loc, keys, ValueRange{row, at[0]});
        // Still to be taken: less, or equal and behind.
        Value less = compare(b, loc, CmpIPredicate::slt, x, lastKey);
        Value same = compare(b, loc, CmpIPredicate::eq, x, lastKey);
        Value behind = compare(b, loc, CmpIPredicate::sgt, at[0], lastIndex);
        same = arith::AndIOp::create(b, loc, same, behind);
        Value left = arith::OrIOp::create(b, loc, less, same);
        Value best =
            tensor::ExtractOp::create(b, loc, carried[0], ValueRange{});
        Value first = compare(b, loc, CmpIPredicate::slt, best,
                              scalarIntConstant(b, loc, b.getI64Type(), 0));
        Value place = boundedIndex(b, loc, best, dim);
        Value bestKey =
            tensor::ExtractOp::create(b, loc, keys, ValueRange{row, place});
        Value greater = compare(b, loc, CmpIPredicate::sgt, x, bestKey);
        Value better = arith::OrIOp::create(b, loc, greater, first);
        better = arith::AndIOp::create(b, loc, better, left);
        Value index = arith::IndexCastOp::create(b, loc, b.getI64Type(), at[0]);
        Value next = arith::SelectOp::create(b, loc, better, index, best);
        return {
            tensor::InsertOp::create(b, loc, next, carried[0], ValueRange{})};
      })[0];
}

/// The indices of the first `k` keys of each row.
static Value selectFirst(ImplicitLocOpBuilder &b, Value keys, int64_t k) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(keys.getType()).getShape();
  auto key = cast<IntegerType>(getElementTypeOrSelf(keys));
  Value empty = tensor::EmptyOp::create(b, ArrayRef<int64_t>{shape[0], k},
                                        b.getI64Type());
  return loopOver(
      b, b.getLoc(), {shape[0], k}, empty,
      [&](OpBuilder &b, Location loc, ValueRange at,
          ValueRange carried) -> SmallVector<Value> {
        // What was taken last; before the first place, what precedes all.
        Value zero = arith::ConstantIndexOp::create(b, loc, 0);
        Value one = arith::ConstantIndexOp::create(b, loc, 1);
        Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                              at[1], zero);
        Value before = arith::SubIOp::create(b, loc, at[1], one);
        before = arith::MaxSIOp::create(b, loc, before, zero);
        Value last = tensor::ExtractOp::create(b, loc, carried[0],
                                               ValueRange{at[0], before});
        Value place = boundedIndex(b, loc, last, shape[1]);
        Value lastKey =
            tensor::ExtractOp::create(b, loc, keys, ValueRange{at[0], place});
        Value greatest = arith::ConstantOp::create(
            b, loc,
            IntegerAttr::get(key, APInt::getSignedMaxValue(key.getWidth())));
        Value none = arith::ConstantIndexOp::create(b, loc, -1);
        lastKey = arith::SelectOp::create(b, loc, isFirst, greatest, lastKey);
        place = arith::SelectOp::create(b, loc, isFirst, none, place);
        Value next = findNext(b, loc, keys, at[0], lastKey, place);
        Value index = tensor::ExtractOp::create(b, loc, next, ValueRange{});
        return {tensor::InsertOp::create(b, loc, index, carried[0], at)};
      })[0];
}

/// The indices of the first `count` values of each row.
static Value chooseFirst(ImplicitLocOpBuilder &b, Value table, ElementType type,
                         bool largest, int64_t count) {
  auto given = cast<RankedTensorType>(table.getType());
  if (!fitPacked(given.getElementTypeBitWidth(), given.getDimSize(1)))
    return selectFirst(b, makeKeys(b, table, type, largest), count);
  Value taken = selectPacked(b, makePackedKeys(b, table, type, largest), count);
  return elementwise(b, b.getI64Type(), {taken},
                     [](OpBuilder &b, Location loc, ValueRange args) {
                       return placeOfPacked(b, loc, args[0],
                                            Ties::FirstIsGreater);
                     });
}

/// How many are asked for; of the `dim` that there are where that is computed.
static FailureOr<Number> readCount(NodeImporter &node, int64_t dim) {
  if (node.opset() < 10)
    return knownNumber(node.intAttribute("k", -1));
  if (failed(expectOperands(node, 2, 2)))
    return failure();
  if (node.tensorType(1).getNumElements() != 1)
    return expectShape(node, 1, {1});
  auto given = numbersOf(node, 1, "the count");
  if (failed(given) || given->front().isKnown())
    return failed(given) ? FailureOr<Number>() : given->front();
  return min(node, max(node, given->front(), knownNumber(0)), knownNumber(dim));
}

static LogicalResult importTopK(NodeImporter &node) {
  if (failed(expectOperands(node, 1, 2)) ||
      failed(expectRankAtLeast(node, 0, 1)))
    return failure();
  ImplicitLocOpBuilder &b = node.b;
  ElementType type = node.operandType(0);
  if (type == ElementType::Bool)
    return node.invalid("input 0 has type bool; expected numbers");
  int64_t rank = node.rank(0);
  FailureOr<int64_t> axis =
      node.normalizeAxis(node.intAttribute("axis", -1), rank);
  if (failed(axis))
    return failure();
  int64_t dim = node.shape(0)[*axis];
  FailureOr<Number> asked = readCount(node, dim);
  if (failed(asked))
    return failure();
  // The first of as many as there can be.
  int64_t count = asked->high;
  if (count < 0 || count > dim)
    return node.invalid("the count is " + Twine(count) + "; expected 0 to " +
                        Twine(dim) + ", the size of axis " + Twine(*axis));
  bool largest = node.intAttribute("largest", 1) != 0;
  // Rows to choose from, with the axis last.
  SmallVector<int64_t> toLast = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  toLast.erase(toLast.begin() + *axis);
  toLast.push_back(*axis);
  Value moved = transpose(b, node.operand(0), toLast);
  SmallVector<int64_t> shape(
      cast<RankedTensorType>(moved.getType()).getShape());
  int64_t rows = ShapedType::getNumElements(ArrayRef(shape).drop_back());
  Value table = reshape(b, moved, {rows, dim});
  shape.back() = count;
  Value indices, values;
  if (ShapedType::getNumElements(shape) == 0) {
    indices = tensor::EmptyOp::create(b, ArrayRef<int64_t>{rows, count},
                                      b.getI64Type());
    values = tensor::EmptyOp::create(b, ArrayRef<int64_t>{rows, count},
                                     node.tensorType(0).getElementType());
  } else {
    indices = chooseFirst(b, table, type, largest, count);
    values =
        parallel(b, {rows, count}, node.tensorType(0).getElementType(), indices,
                 b.getMultiDimIdentityMap(2),
                 [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                   Value row = linalg::IndexOp::create(b, loc, 0);
                   Value place = arith::IndexCastOp::create(
                       b, loc, b.getIndexType(), args[0]);
                   return tensor::ExtractOp::create(b, loc, table,
                                                    ValueRange{row, place});
                 });
  }
  SmallVector<int64_t> back = llvm::to_vector(llvm::seq<int64_t>(0, rank - 1));
  back.insert(back.begin() + *axis, rank - 1);
  auto restore = [&](Value value) {
    return transpose(b, reshape(b, value, shape), back);
  };
  SmallVector<Value, 0> sizes(node.sizes(0).begin(), node.sizes(0).end());
  sizes.resize(rank);
  sizes[*axis] = asked->tensor;
  node.setResult(0, {restore(values), type, sizes});
  node.setResult(1, {restore(indices), ElementType::I64, sizes});
  return success();
}

void ashlar::onnx_import::registerTopKOperators(OperatorRegistry &registry) {
  registry.add("TopK", 1, importTopK);
}
