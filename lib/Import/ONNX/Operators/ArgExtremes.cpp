// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ArgMax and ArgMin: where along an axis the extreme element stands. NaN is
// more extreme than any number, as in NumPy. An element and its place become
// one integer, whose maximum is found in any order; those of 64 bits have no
// room for a place, which is found behind the maximum.
#include "../OperandRules.h"
#include "../ReductionBuilder.h"
#include "SortKeys.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace ashlar::onnx_import;

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

/// Without room for a place beside the key: the greatest key, and then of its
/// places the first or the last.
static Value wideExtreme(ImplicitLocOpBuilder &b, Value input, ElementType type,
                         int64_t axis, bool isMax, bool selectLast) {
  auto inputType = cast<RankedTensorType>(input.getType());
  int64_t rank = inputType.getRank();
  Type keyType = b.getIntegerType(inputType.getElementTypeBitWidth());
  Value best =
      reduce(b, input, {axis}, /*keepDims=*/false, lowestOf(keyType, false),
             [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
               Value key = extremeKey(b, loc, type, isMax, args[0]);
               return arith::MaxSIOp::create(b, loc, key, args[1]);
             });
  Type placeType = b.getI64Type();
  TypedAttr neutral =
      selectLast ? lowestOf(placeType, false) : highestOf(placeType, false);
  Value none = arith::ConstantOp::create(b, neutral);
  Value init = fill(b, cast<RankedTensorType>(best.getType()).getShape(), none);
  SmallVector<AffineExpr> kept;
  for (int64_t dim : otherAxes(rank, axis))
    kept.push_back(b.getAffineDimExpr(dim));
  AffineMap all = b.getMultiDimIdentityMap(rank),
            result = AffineMap::get(rank, 0, kept, b.getContext());
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  iterators[axis] = utils::IteratorType::reduction;
  return linalg::GenericOp::create(
             b, init.getType(), ValueRange{input, best}, init,
             ArrayRef<AffineMap>{all, result, result}, iterators,
             [&](OpBuilder &b, Location loc, ValueRange args) {
               Value at = linalg::IndexOp::create(b, loc, axis);
               at = arith::IndexCastOp::create(b, loc, placeType, at);
               Value key = extremeKey(b, loc, type, isMax, args[0]);
               Value isBest = arith::CmpIOp::create(
                   b, loc, arith::CmpIPredicate::eq, key, args[1]);
               at = arith::SelectOp::create(b, loc, isBest, at, none);
               Value place =
                   selectLast
                       ? arith::MaxSIOp::create(b, loc, at, args[2]).getResult()
                       : arith::MinSIOp::create(b, loc, at, args[2]);
               linalg::YieldOp::create(b, loc, place);
             })
      .getResult(0);
}

Value ashlar::onnx_import::argExtreme(ImplicitLocOpBuilder &b, Value input,
                                      ElementType type, int64_t axis,
                                      bool isMax, bool selectLast) {
  auto inputType = cast<RankedTensorType>(input.getType());
  bool fits =
      fitPacked(inputType.getElementTypeBitWidth(), inputType.getDimSize(axis));
  return (fits ? packedExtreme : wideExtreme)(b, input, type, axis, isMax,
                                              selectLast);
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
