// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TopK. Every value becomes an integer key whose order is the one asked for,
// with its place below it; then each result takes the greatest key below the
// one before it. Equal keys go by their index, and NaN counts as greater than
// all numbers. Keys of 64 bits have no room for a place, which is found behind
// the key.
#include "../ComputedSizes.h"
#include "../OperandRules.h"
#include "../TensorBuilder.h"
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

/// Of each row, what `body` makes of its elements, what is given of each row,
/// and the result so far, which begins with `first`.
static Value
reduceRows(ImplicitLocOpBuilder &b, Value table, ValueRange ofRows,
           TypedAttr first,
           llvm::function_ref<Value(ImplicitLocOpBuilder &, ValueRange)> body) {
  int64_t rows = cast<RankedTensorType>(table.getType()).getDimSize(0);
  Value init = fill(b, {rows}, arith::ConstantOp::create(b, first));
  SmallVector<Value> inputs = {table};
  llvm::append_range(inputs, ofRows);
  SmallVector<AffineMap> maps(inputs.size() + 1,
                              AffineMap::get(2, 0, b.getAffineDimExpr(0)));
  maps.front() = b.getMultiDimIdentityMap(2);
  utils::IteratorType iterators[] = {utils::IteratorType::parallel,
                                     utils::IteratorType::reduction};
  return linalg::GenericOp::create(
             b, init.getType(), inputs, init, maps, iterators,
             [&](OpBuilder &inner, Location loc, ValueRange args) {
               ImplicitLocOpBuilder own(loc, inner);
               linalg::YieldOp::create(own, body(own, args));
             })
      .getResult(0);
}

static Value compare(ImplicitLocOpBuilder &b, arith::CmpIPredicate predicate,
                     Value x, Value y) {
  return arith::CmpIOp::create(b, predicate, x, y);
}

/// Of each row, the greatest key below `last`.
static Value greatestBelow(ImplicitLocOpBuilder &b, Value keys, Value last) {
  TypedAttr least = lowestOf(b.getI64Type(), false);
  return reduceRows(
      b, keys, last, least,
      [&](ImplicitLocOpBuilder &b, ValueRange args) -> Value {
        Value isLeft = compare(b, arith::CmpIPredicate::slt, args[0], args[1]);
        Value key = arith::SelectOp::create(
            b, isLeft, args[0], arith::ConstantOp::create(b, least));
        return arith::MaxSIOp::create(b, key, args[2]);
      });
}

/// Whether an element of a row is still to be taken: its key is less than the
/// one before, or equal and stands behind it.
static Value isLeft(ImplicitLocOpBuilder &b, Value key, Value place,
                    Value lastKey, Value lastPlace) {
  using arith::CmpIPredicate;
  Value less = compare(b, CmpIPredicate::slt, key, lastKey);
  Value same = compare(b, CmpIPredicate::eq, key, lastKey);
  Value behind = compare(b, CmpIPredicate::sgt, place, lastPlace);
  return arith::OrIOp::create(b, less, arith::AndIOp::create(b, same, behind));
}

static Value placeInRow(ImplicitLocOpBuilder &b) {
  return arith::IndexCastOp::create(b, b.getI64Type(),
                                    linalg::IndexOp::create(b, 1));
}

/// Of each row, the greatest key that is left behind what was taken last, and
/// the first place that has it.
static std::pair<Value, Value> nextOf(ImplicitLocOpBuilder &b, Value keys,
                                      Value lastKey, Value lastPlace) {
  TypedAttr least = lowestOf(getElementTypeOrSelf(keys), false),
            beyond = highestOf(b.getI64Type(), false);
  Value last[] = {lastKey, lastPlace};
  Value key =
      reduceRows(b, keys, last, least,
                 [&](ImplicitLocOpBuilder &b, ValueRange args) -> Value {
                   Value left =
                       isLeft(b, args[0], placeInRow(b), args[1], args[2]);
                   Value own = arith::SelectOp::create(
                       b, left, args[0], arith::ConstantOp::create(b, least));
                   return arith::MaxSIOp::create(b, own, args[3]);
                 });
  Value known[] = {lastKey, lastPlace, key};
  Value place = reduceRows(
      b, keys, known, beyond,
      [&](ImplicitLocOpBuilder &b, ValueRange args) -> Value {
        Value at = placeInRow(b);
        Value left = isLeft(b, args[0], at, args[1], args[2]);
        Value isIt = compare(b, arith::CmpIPredicate::eq, args[0], args[3]);
        Value own =
            arith::SelectOp::create(b, arith::AndIOp::create(b, left, isIt), at,
                                    arith::ConstantOp::create(b, beyond));
        return arith::MinSIOp::create(b, own, args[4]);
      });
  return {key, place};
}

/// What `next` makes of what it was called with before, `k` times, beginning
/// with `first`; its first value is a column of the result, of i64.
static Value takeColumns(
    ImplicitLocOpBuilder &b, int64_t k, ValueRange first,
    llvm::function_ref<SmallVector<Value>(ImplicitLocOpBuilder &, ValueRange)>
        next) {
  int64_t rows = cast<RankedTensorType>(first[0].getType()).getDimSize(0);
  if (k == 1)
    return reshape(b, next(b, first)[0], {rows, 1});
  SmallVector<Value> start = {
      tensor::EmptyOp::create(b, ArrayRef<int64_t>{rows, k}, b.getI64Type())};
  llvm::append_range(start, first);
  return loopOver(b, b.getLoc(), {k}, start,
                  [&](OpBuilder &inner, Location loc, ValueRange at,
                      ValueRange carried) -> SmallVector<Value> {
                    ImplicitLocOpBuilder own(loc, inner);
                    SmallVector<Value> made = next(own, carried.drop_front());
                    SmallVector<Value> all = {tensor::InsertSliceOp::create(
                        own, made[0], carried[0],
                        SmallVector<OpFoldResult>{own.getIndexAttr(0), at[0]},
                        SmallVector<OpFoldResult>{own.getIndexAttr(rows),
                                                  own.getIndexAttr(1)},
                        SmallVector<OpFoldResult>{own.getIndexAttr(1),
                                                  own.getIndexAttr(1)})};
                    llvm::append_range(all, made);
                    return all;
                  })[0];
}

/// The first `k` packed keys of each row: each the greatest below the one
/// before it.
static Value selectPacked(ImplicitLocOpBuilder &b, Value keys, int64_t k) {
  int64_t rows = cast<RankedTensorType>(keys.getType()).getDimSize(0);
  Value none =
      fill(b, {rows},
           arith::ConstantOp::create(b, highestOf(b.getI64Type(), false)));
  return takeColumns(
      b, k, none,
      [&](ImplicitLocOpBuilder &b, ValueRange last) -> SmallVector<Value> {
        return {greatestBelow(b, keys, last[0])};
      });
}

/// The indices of the first `k` keys of each row, where keys have no room for
/// their places.
static Value selectWide(ImplicitLocOpBuilder &b, Value keys, int64_t k) {
  int64_t rows = cast<RankedTensorType>(keys.getType()).getDimSize(0);
  auto filled = [&](TypedAttr value) {
    return fill(b, {rows}, arith::ConstantOp::create(b, value));
  };
  Value first[] = {filled(b.getI64IntegerAttr(-1)),
                   filled(highestOf(getElementTypeOrSelf(keys), false))};
  return takeColumns(
      b, k, first,
      [&](ImplicitLocOpBuilder &b, ValueRange last) -> SmallVector<Value> {
        auto [key, place] = nextOf(b, keys, last[1], last[0]);
        return {place, key};
      });
}

/// The indices of the first `count` values of each row.
static Value chooseFirst(ImplicitLocOpBuilder &b, Value table, ElementType type,
                         bool largest, int64_t count) {
  auto given = cast<RankedTensorType>(table.getType());
  if (!fitPacked(given.getElementTypeBitWidth(), given.getDimSize(1)))
    return selectWide(b, makeKeys(b, table, type, largest), count);
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
