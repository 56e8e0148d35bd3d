// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ArgMax and ArgMin: where along an axis the extreme element stands. NaN is
// more extreme than any number, as in NumPy.
#include "../OperandRules.h"
#include "../ReductionBuilder.h"
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

Value ashlar::onnx_import::argExtreme(ImplicitLocOpBuilder &b, Value input,
                                      ElementType type, int64_t axis,
                                      bool isMax, bool selectLast) {
  auto inputType = cast<RankedTensorType>(input.getType());
  int64_t rank = inputType.getRank();
  Type element = inputType.getElementType();
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
