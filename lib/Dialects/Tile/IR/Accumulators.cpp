// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is done with accumulators element by element, and along their dims.
#include "CheckMap.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace ashlar::tile;

/// One element of what is mapped.
static Type mappedElement(Type type) {
  if (auto acc = dyn_cast<AccType>(type))
    return acc.getElementType();
  return cast<MemRefType>(type).getElementType();
}

/// Of an accumulator, whose elements are all there: the map's results lie in
/// it, each a dim as long as its own or the beginning.
static LogicalResult checkAccMap(MapOp op, unsigned number, AccType acc) {
  Location operand = op.getInputs()[number].getLoc();
  AffineMap map = op.getMap(number);
  ArrayRef<int64_t> shape = op.getAcc().getType().getShape();
  if (map.getNumSymbols() != 0 || map.getNumDims() != shape.size() ||
      map.getNumResults() != acc.getShape().size())
    return noteAt(op.emitOpError("expected the map of operand ")
                      << number << " over " << shape.size() << " dims, with "
                      << acc.getShape().size() << " results, found "
                      << AffineMapAttr::get(map),
                  operand, "the operand is here");
  for (auto [expr, size] : llvm::zip(map.getResults(), acc.getShape())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    auto constant = dyn_cast<AffineConstantExpr>(expr);
    if (!(dim && shape[dim.getPosition()] <= size) &&
        !(constant && constant.getValue() == 0))
      return noteAt(op.emitOpError("expected dims of the result, no longer "
                                   "than the operand's, or 0 in the map of "
                                   "operand ")
                        << number << ", found " << AffineMapAttr::get(map)
                        << " into " << acc,
                    operand, "the operand is here");
  }
  return success();
}

YieldOp MapOp::getYield() {
  return cast<YieldOp>(getBody().front().getTerminator());
}

LogicalResult MapOp::verify() {
  AccType acc = getAcc().getType();
  if (getMaps().size() != getInputs().size())
    return emitOpError("expected a map for each operand, ")
           << getInputs().size() << " in all, found " << getMaps().size();
  SmallVector<Type> elements;
  for (auto [i, input] : llvm::enumerate(getInputs())) {
    elements.push_back(mappedElement(input.getType()));
    auto from = dyn_cast<AccType>(input.getType());
    LogicalResult fits =
        from ? checkAccMap(*this, i, from)
             : checkMap(*this, "operand " + std::to_string(i), getMap(i),
                        acc.getShape().size(), input);
    if (failed(fits))
      return failure();
  }
  return checkElements(*this, getBody().front(), elements,
                       acc.getElementType());
}

void MapOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  for (OpOperand &operand : getInputsMutable())
    if (isa<MemRefType>(operand.get().getType()))
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
}

LogicalResult ReduceOp::verify() {
  AccType from = getAcc().getType(), to = getResult().getType();
  SmallVector<int64_t> shape(from.getShape());
  if (getDims().empty())
    return emitOpError("expected at least one dim");
  for (int64_t d : getDims()) {
    if (d < 0 || d >= int64_t(shape.size()) || llvm::count(getDims(), d) != 1)
      return emitOpError("expected different dims below ")
             << shape.size() << ", found " << d;
    shape[d] = 1;
  }
  Type element = from.getElementType();
  if (to.getShape() != ArrayRef(shape) || to.getElementType() != element)
    return emitOpError("expected a result as the operand is, with a size of 1 "
                       "along the dims, found ")
           << to << " of " << from;
  return checkElements(*this, getBody().front(), {element, element}, element);
}

LogicalResult IndexOp::verify() {
  int64_t rank;
  if (auto map = dyn_cast<MapOp>((*this)->getParentOp())) {
    rank = map.getAcc().getType().getShape().size();
  } else {
    auto attention = cast<AttentionOp>((*this)->getParentOp());
    if ((*this)->getParentRegion() != &attention.getHide())
      return noteAt(emitOpError("expected to be where scores are hidden"),
                    attention.getLoc(), "the attention is here");
    rank = attention.getScoresParallel().size();
  }
  if (int64_t(getDim()) >= rank)
    return noteAt(emitOpError("expected a dim below ")
                      << rank << ", found " << getDim(),
                  (*this)->getParentOp()->getLoc(), "of this op");
  return success();
}
