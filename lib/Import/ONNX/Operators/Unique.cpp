// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Unique: the elements, or the slices along an axis, that differ from each
// other. Where the values are known at compile time they are sorted then;
// otherwise each is compared with each, which tells how many come before it.
#include "../ComputedSizes.h"
#include "../OperandRules.h"
#include "../RunTimeSizes.h"
#include "../ScalarBuilder.h"
#include "../SizedTensors.h"
#include "Gathers.h"
#include "LoopNest.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ashlar::onnx_import;

/// Comparisons that finding what is unique at run time may take.
static constexpr int64_t maximumComparisons = 1 << 26;

/// Whether one element sorts before another; NaN is the last.
static bool isLess(Attribute x, Attribute y, bool natural) {
  if (auto real = dyn_cast<FloatAttr>(x)) {
    APFloat left = real.getValue(), right = cast<FloatAttr>(y).getValue();
    if (left.isNaN() || right.isNaN())
      return !left.isNaN() && right.isNaN();
    return left < right;
  }
  const APInt &left = cast<IntegerAttr>(x).getValue();
  const APInt &right = cast<IntegerAttr>(y).getValue();
  return natural ? left.ult(right) : left.slt(right);
}

/// Of values that are known.
static LogicalResult importKnown(NodeImporter &node, DenseElementsAttr constant,
                                 bool flat, int64_t axis) {
  SmallVector<Attribute> values =
      llvm::to_vector(constant.getValues<Attribute>());
  ArrayRef<int64_t> shape = node.shape(0);
  // Slices along the axis; inner and outer walk what a slice holds.
  int64_t count = flat ? int64_t(values.size()) : shape[axis];
  int64_t inner =
      flat ? 1 : ShapedType::getNumElements(shape.drop_front(axis + 1));
  int64_t outer = flat ? 1 : ShapedType::getNumElements(shape.take_front(axis));
  auto element = [&](int64_t slice, int64_t i) {
    return values[(i / inner * count + slice) * inner + i % inner];
  };
  bool natural = isUnsigned(node.operandType(0)) ||
                 node.operandType(0) == ElementType::Bool;
  auto precedes = [&](int64_t x, int64_t y) {
    for (int64_t i = 0; i != inner * outer; ++i) {
      if (isLess(element(x, i), element(y, i), natural))
        return true;
      if (isLess(element(y, i), element(x, i), natural))
        return false;
    }
    return false;
  };
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, count));
  llvm::sort(order, [&](int64_t x, int64_t y) {
    if (precedes(x, y) || precedes(y, x))
      return precedes(x, y);
    return x < y;
  });
  // Runs of equal slices, each known by the first of its members.
  SmallVector<int64_t> first, counts, runOf(count);
  for (auto [i, slice] : llvm::enumerate(order)) {
    if (i == 0 || precedes(order[i - 1], slice)) {
      first.push_back(slice);
      counts.push_back(0);
    }
    runOf[slice] = first.size() - 1;
    ++counts.back();
  }
  SmallVector<int64_t> sequence =
      llvm::to_vector(llvm::seq<int64_t>(0, first.size()));
  if (node.intAttribute("sorted", 1) == 0)
    llvm::sort(sequence,
               [&](int64_t x, int64_t y) { return first[x] < first[y]; });
  SmallVector<int64_t> firsts, sizes, place(first.size());
  for (auto [i, run] : llvm::enumerate(sequence)) {
    firsts.push_back(first[run]);
    sizes.push_back(counts[run]);
    place[run] = i;
  }
  SmallVector<int64_t> inverse;
  for (int64_t run : runOf)
    inverse.push_back(place[run]);
  SmallVector<Attribute> kept;
  for (int64_t o = 0; o != outer; ++o)
    for (int64_t slice : firsts)
      for (int64_t i = 0; i != inner; ++i)
        kept.push_back(element(slice, o * inner + i));
  SmallVector<int64_t> result(shape);
  int64_t found = firsts.size();
  if (flat)
    result = {found};
  else
    result[axis] = found;
  Value unique = constantOf(
      node.b,
      DenseElementsAttr::get(
          RankedTensorType::get(result, node.tensorType(0).getElementType()),
          kept));
  node.setResult(0, unique, node.operandType(0));
  node.setResult(1, constantTensor(node.b, firsts, {found}), ElementType::I64);
  node.setResult(2, constantTensor(node.b, inverse, {count}), ElementType::I64);
  node.setResult(3, constantTensor(node.b, sizes, {found}), ElementType::I64);
  return success();
}

/// Element [i, j] is -1, 0 or 1: how rows i and j sort. NaN is the last.
static Value compareRows(ImplicitLocOpBuilder &b, Value rows,
                         ElementType type) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(rows.getType()).getShape();
  Type i64 = b.getI64Type();
  Value zero = scalarIntConstant(b, b.getLoc(), i64, 0);
  auto step = [&](OpBuilder &b, Location loc, ValueRange at,
                  ValueRange carried) -> SmallVector<Value> {
    auto read = [&](Value row) -> Value {
      return tensor::ExtractOp::create(b, loc, rows, ValueRange{row, at[2]});
    };
    auto precedes = [&](Value x, Value y) -> Value {
      Value less = scalarLess(b, loc, type, x, y);
      if (!isFloat(type))
        return less;
      FloatScalars s(b, loc, x.getType());
      Value isNumber = s.compare(FloatScalars::Predicate::ORD, x, x);
      Value isLast = arith::AndIOp::create(b, loc, isNumber, s.isNaN(y));
      return arith::OrIOp::create(b, loc, less, isLast);
    };
    auto integer = [&](int64_t value) {
      return scalarIntConstant(b, loc, i64, value);
    };
    Value x = read(at[0]), y = read(at[1]);
    Value order = arith::SelectOp::create(
        b, loc, precedes(x, y), integer(-1),
        arith::SelectOp::create(b, loc, precedes(y, x), integer(1),
                                integer(0)));
    Value before =
        tensor::ExtractOp::create(b, loc, carried[0], at.take_front(2));
    Value isOpen = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                         before, integer(0));
    Value now = arith::SelectOp::create(b, loc, isOpen, order, before);
    return {
        tensor::InsertOp::create(b, loc, now, carried[0], at.take_front(2))};
  };
  return loopOver(b, b.getLoc(), {shape[0], shape[0], shape[1]},
                  {fill(b, {shape[0], shape[0]}, zero)}, step)[0];
}

namespace {
/// What makes a number of a row and another one, and folds those of a row.
struct RowFold {
  ImplicitLocOpBuilder &b;
  int64_t count;

  /// Folds over j what `term` makes of i and j, both i64.
  Value operator()(int64_t initial, arith::AtomicRMWKind kind,
                   llvm::function_ref<Value(OpBuilder &, Location, Value i,
                                            Value j, ValueRange places)>
                       term) {
    Type i64 = b.getI64Type();
    Value terms = generate(
        b, {count, count}, i64, [&](OpBuilder &b, Location loc, ValueRange at) {
          Value i = arith::IndexCastOp::create(b, loc, i64, at[0]);
          Value j = arith::IndexCastOp::create(b, loc, i64, at[1]);
          return term(b, loc, i, j, at);
        });
    return reduce(
        b, terms, {1}, /*keepDims=*/false, b.getI64IntegerAttr(initial),
        [&](OpBuilder &b, Location loc, ValueRange args) {
          return arith::getReductionOp(kind, b, loc, args[1], args[0]);
        });
  }
};
} // namespace

static Value integer(OpBuilder &b, Location loc, int64_t value) {
  return scalarIntConstant(b, loc, b.getI64Type(), value);
}

static Value asNumber(OpBuilder &b, Location loc, Value flag) {
  return arith::ExtUIOp::create(b, loc, b.getI64Type(), flag);
}

namespace {
using Predicate = arith::CmpIPredicate;

/// Rows of a tensor beside each other, of which the first `there` exist.
struct ComparedRows {
  ImplicitLocOpBuilder &b;
  int64_t count;
  Value order;  ///< for each two, negative, zero or positive
  Number there; ///< rows beyond a size that depends on data are none

  Value isOrder(OpBuilder &b, Location loc, Predicate predicate,
                ValueRange at) const {
    Value found = tensor::ExtractOp::create(b, loc, order, at);
    return arith::CmpIOp::create(b, loc, predicate, found, integer(b, loc, 0));
  }
  Value isThere(OpBuilder &b, Location loc, Value i) const {
    Value end =
        there.isKnown()
            ? integer(b, loc, there.low)
            : tensor::ExtractOp::create(b, loc, there.tensor, ValueRange())
                  .getResult();
    return arith::CmpIOp::create(b, loc, Predicate::slt, i, end);
  }
  Value equals(OpBuilder &b, Location loc, Value j, ValueRange at) const {
    return arith::AndIOp::create(b, loc, isOrder(b, loc, Predicate::eq, at),
                                 isThere(b, loc, j));
  }

  /// Of each row, the first that equals it.
  Value firstEqual() const {
    return RowFold{b, count}(count, arith::AtomicRMWKind::mins,
                             [&](OpBuilder &b, Location loc, Value, Value j,
                                 ValueRange at) -> Value {
                               return arith::SelectOp::create(
                                   b, loc, equals(b, loc, j, at), j,
                                   integer(b, loc, count));
                             });
  }
  /// Of each row, how many equal it.
  Value countEqual() const {
    return RowFold{b, count}(
        0, arith::AtomicRMWKind::addi,
        [&](OpBuilder &b, Location loc, Value, Value j, ValueRange at) {
          return asNumber(b, loc, equals(b, loc, j, at));
        });
  }
  /// Of each row, how many different ones come before it: its place in the
  /// result.
  Value places(Value first, bool isSorted) const {
    return RowFold{b, count}(
        0, arith::AtomicRMWKind::addi,
        [&](OpBuilder &b, Location loc, Value, Value j, ValueRange at) {
          Value firstOfJ = tensor::ExtractOp::create(b, loc, first, at[1]);
          // Which is no other than one that is there.
          Value counts =
              arith::CmpIOp::create(b, loc, Predicate::eq, firstOfJ, j);
          Value before;
          if (isSorted)
            before = isOrder(b, loc, Predicate::sgt, at);
          else
            before = arith::CmpIOp::create(
                b, loc, Predicate::slt, j,
                tensor::ExtractOp::create(b, loc, first, at[0]));
          return asNumber(b, loc,
                          arith::AndIOp::create(b, loc, counts, before));
        });
  }
};

/// The first of equal rows, how often each is there, and how many there are.
struct DistinctRows {
  Value rows, equal, found;
};
} // namespace

/// Each first row goes to its place.
static DistinctRows putFirsts(ImplicitLocOpBuilder &b, int64_t count,
                              Value first, Value equal, Value place) {
  Value zero = integer(b, b.getLoc(), 0);
  Value none = fill(b, {count}, zero);
  auto step = [&](OpBuilder &b, Location loc, ValueRange at,
                  ValueRange carried) -> SmallVector<Value> {
    Value i = arith::IndexCastOp::create(b, loc, b.getI64Type(), at[0]);
    Value isFirst =
        arith::CmpIOp::create(b, loc, Predicate::eq, i,
                              tensor::ExtractOp::create(b, loc, first, at[0]));
    Value to = tensor::ExtractOp::create(b, loc, place, at[0]);
    to = arith::IndexCastOp::create(b, loc, b.getIndexType(), to);
    auto put = [&](Value value, Value into) -> Value {
      Value old = tensor::ExtractOp::create(b, loc, into, to);
      Value now = arith::SelectOp::create(b, loc, isFirst, value, old);
      return tensor::InsertOp::create(b, loc, now, into, to);
    };
    Value found = tensor::ExtractOp::create(b, loc, carried[2], ValueRange());
    found = arith::AddIOp::create(b, loc, found, asNumber(b, loc, isFirst));
    return {put(i, carried[0]),
            put(tensor::ExtractOp::create(b, loc, equal, at[0]), carried[1]),
            tensor::InsertOp::create(b, loc, found, carried[2], ValueRange())};
  };
  SmallVector<Value> made =
      loopOver(b, b.getLoc(), {count}, {none, none, fill(b, {}, zero)}, step);
  return {made[0], made[1], made[2]};
}

/// How many rows there are, if their number depends on data.
static LogicalResult countRows(NodeImporter &node, bool flat, int64_t axis,
                               int64_t count, Number &there) {
  bool isSizedFlat = flat && !node.sizes(0).empty();
  there = knownNumber(isSizedFlat ? 1 : count);
  for (int64_t d = 0; d != int64_t(node.sizes(0).size()); ++d) {
    if (flat)
      there = mul(node, there, sizeOf(node, 0, d));
    else if (d == axis)
      there = sizeOf(node, 0, d);
    else if (isSized(node.sizes(0), d))
      return node.unsupportedSize("the size of input 0 along axis " + Twine(d) +
                                  " depends on data");
  }
  return success();
}

static LogicalResult importAtRunTime(NodeImporter &node, bool flat,
                                     int64_t axis) {
  ImplicitLocOpBuilder &b = node.b;
  ArrayRef<int64_t> shape = node.shape(0);
  int64_t total = node.tensorType(0).getNumElements();
  int64_t count = flat ? total : shape[axis];
  assert(total != 0 && "what has no elements is known");
  if (count > maximumComparisons / count ||
      count * count > maximumComparisons / (total / count))
    return node.unsupported("on " + spellShape(shape) +
                            " whose values are not known at compile time: "
                            "more than 2^26 comparisons");
  Value data = node.operand(0);
  if (flat)
    data = reshape(b, makeDense(b, node.importedOperand(0)), {total});
  Number there;
  if (failed(countRows(node, flat, axis, count, there)))
    return failure();
  SmallVector<int64_t> toFront = {axis};
  for (int64_t i = 0; i != (flat ? 1 : int64_t(shape.size())); ++i)
    if (i != axis)
      toFront.push_back(i);
  Value rows = reshape(b, transpose(b, data, toFront), {count, total / count});
  ComparedRows compared{b, count, compareRows(b, rows, node.operandType(0)),
                        there};
  Value first = compared.firstEqual(), equal = compared.countEqual();
  Value place = compared.places(first, node.intAttribute("sorted", 1) != 0);
  DistinctRows distinct = putFirsts(b, count, first, equal, place);
  SmallVector<Value, 0> sizes(flat ? 1 : shape.size());
  sizes[axis] = distinct.found;
  node.setResult(0, {gatherAxis(b, data, distinct.rows, axis),
                     node.operandType(0), sizes});
  node.setResult(1, {distinct.rows, ElementType::I64, {distinct.found}});
  SmallVector<Value, 0> places = {there.tensor};
  node.setResult(2, {place, ElementType::I64, places});
  // No row is there more often than there are rows, which bounds sizes that a
  // model computes of it.
  Value often = elementwise(
      b, b.getI64Type(), distinct.equal,
      [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
        Value low = arith::MaxSIOp::create(b, loc, x[0], integer(b, loc, 0));
        return arith::MinSIOp::create(b, loc, low, integer(b, loc, count));
      });
  node.setResult(3, {often, ElementType::I64, {distinct.found}});
  return success();
}

static LogicalResult importUnique(NodeImporter &node) {
  bool flat = !node.hasAttribute("axis");
  int64_t axis = 0;
  if (!flat) {
    FailureOr<int64_t> named =
        node.normalizeAxis(node.intAttribute("axis", 0), node.rank(0));
    if (failed(named))
      return failure();
    axis = *named;
  }
  DenseElementsAttr known = node.constantOperand(0);
  if (known && known.getNumElements() <= 1 << 20)
    return importKnown(node, known, flat, axis);
  return importAtRunTime(node, flat, axis);
}

void ashlar::onnx_import::registerUniqueOperators(OperatorRegistry &registry) {
  registry.add("Unique", 11, importUnique);
}
