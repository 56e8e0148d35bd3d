// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ArgMax and ArgMin: where along an axis the extreme element stands. NaN is
// more extreme than any number, as in NumPy. An element and its place become
// one integer, whose maximum is found in any order; those of 64 bits are
// compared one after the other.
#include "../OperandRules.h"
#include "../ReductionBuilder.h"
#include "SortKeys.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace ashlar::onnx_import;

/// Whether `x`, met later than `best`, takes its place.
static Value takesPlace(OpBuilder &b, Location loc, ElementType type,
                        bool isMax, bool selectLast, Value x, Value best) {
  if (!isFloat(type)) {
    Value low = isMax ? best : x, high = isMax ? x : best;
    if (!selectLast)
      return scalarLess(b, loc, type, low, high);
    Value ones = scalarIntConstant(b, loc, b.getI1Type(), -1);
    Value worse = scalarLess(b, loc, type, high, low);
    return arith::XOrIOp::create(b, loc, worse, ones);
  }
  FloatScalars s(b, loc, x.getType());
  using Predicate = FloatScalars::Predicate;
  Predicate predicate = isMax ? (selectLast ? Predicate::OGE : Predicate::OGT)
                              : (selectLast ? Predicate::OLE : Predicate::OLT);
  Value better = s.compare(predicate, x, best);
  Value unordered = s.isNaN(x);
  if (!selectLast) {
    Value bestIsNumber = s.compare(Predicate::ORD, best, best);
    unordered = arith::AndIOp::create(b, loc, unordered, bestIsNumber);
  }
  return arith::OrIOp::create(b, loc, better, unordered);
}

/// Signed integers that are greater where elements are more extreme.
static Value extremeKey(OpBuilder &b, Location loc, ElementType type,
                        bool isMax, Value x) {
  Value key = orderedKey(b, loc, type, x);
  if (isMax)
    return key;
  Type integer = key.getType();
  Value ones = scalarIntConstant(b, loc, integer, -1);
  Value turned = arith::XOrIOp::create(b, loc, key, ones);
  if (!isFloat(type))
    return turned;
  // NaN, the greatest key, stays so.
  Value nan = arith::ConstantOp::create(
      b, loc,
      IntegerAttr::get(
          integer, APInt::getSignedMaxValue(integer.getIntOrFloatBitWidth())));
  Value isNaN =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, key, nan);
  return arith::SelectOp::create(b, loc, isNaN, nan, turned);
}

static Value packedExtreme(ImplicitLocOpBuilder &b, Value input,
                           ElementType type, int64_t axis, bool isMax,
                           bool selectLast) {
  Ties ties = selectLast ? Ties::LastIsGreater : Ties::FirstIsGreater;
  Type wide = b.getI64Type();
  Value best =
      reduce(b, input, {axis}, /*keepDims=*/false, lowestOf(wide, false),
             [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
               Value at = linalg::IndexOp::create(b, loc, axis);
               at = arith::IndexCastOp::create(b, loc, wide, at);
               Value key = extremeKey(b, loc, type, isMax, args[0]);
               return arith::MaxSIOp::create(
                   b, loc, packKey(b, loc, key, at, ties), args[1]);
             });
  return elementwise(b, wide, {best},
                     [&](OpBuilder &b, Location loc, ValueRange args) {
                       return placeOfPacked(b, loc, args[0], ties);
                     });
}

Value ashlar::onnx_import::argExtreme(ImplicitLocOpBuilder &b, Value input,
                                      ElementType type, int64_t axis,
                                      bool isMax, bool selectLast) {
  auto inputType = cast<RankedTensorType>(input.getType());
  int64_t rank = inputType.getRank();
  Type element = inputType.getElementType();
  if (fitPacked(element.getIntOrFloatBitWidth(), inputType.getDimSize(axis)))
    return packedExtreme(b, input, type, axis, isMax, selectLast);
  SmallVector<int64_t> kept = otherAxes(rank, axis), shape;
  SmallVector<AffineExpr> exprs;
  for (int64_t dim : kept) {
    shape.push_back(inputType.getDimSize(dim));
    exprs.push_back(b.getAffineDimExpr(dim));
  }
  bool asUnsigned = isUnsigned(type);
  TypedAttr worst =
      isMax ? lowestOf(element, asUnsigned) : highestOf(element, asUnsigned);
  Value values = fill(b, shape, arith::ConstantOp::create(b, worst));
  Value indices =
      fill(b, shape, arith::ConstantOp::create(b, b.getI64IntegerAttr(0)));
  AffineMap identity = b.getMultiDimIdentityMap(rank);
  AffineMap result = AffineMap::get(rank, 0, exprs, b.getContext());
  AffineMap maps[] = {identity, result, result};
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  iterators[axis] = utils::IteratorType::reduction;
  return linalg::GenericOp::create(
             b, TypeRange{values.getType(), indices.getType()},
             ValueRange{input}, ValueRange{values, indices}, maps, iterators,
             [&](OpBuilder &b, Location loc, ValueRange args) {
               Value wins = takesPlace(b, loc, type, isMax, selectLast, args[0],
                                       args[1]);
               Value at = linalg::IndexOp::create(b, loc, axis);
               at = arith::IndexCastOp::create(b, loc, b.getI64Type(), at);
               Value best =
                   arith::SelectOp::create(b, loc, wins, args[0], args[1]);
               Value index = arith::SelectOp::create(b, loc, wins, at, args[2]);
               linalg::YieldOp::create(b, loc, ValueRange{best, index});
             })
      .getResult(1);
}

template <bool isMax>
static LogicalResult importArgExtreme(NodeImporter &node) {
  FailureOr<int64_t> axis =
      node.normalizeAxis(node.intAttribute("axis", 0), node.rank(0));
  if (failed(axis))
    return failure();
  if (node.shape(0)[*axis] == 0)
    return node.invalid("expected elements along axis " + Twine(*axis) +
                        ", found shape " + spellShape(node.shape(0)));
  Value indices =
      argExtreme(node.b, node.operand(0), node.operandType(0), *axis, isMax,
                 node.intAttribute("select_last_index", 0) != 0);
  if (node.intAttribute("keepdims", 1)) {
    SmallVector<int64_t> shape(node.shape(0));
    shape[*axis] = 1;
    indices = reshape(node.b, indices, shape);
  }
  node.setResult(0, indices, ElementType::I64);
  return success();
}

void ashlar::onnx_import::registerArgExtremesOperators(
    OperatorRegistry &registry) {
  registry.add("ArgMax", 1, importArgExtreme<true>);
  registry.add("ArgMin", 1, importArgExtreme<false>);
}
