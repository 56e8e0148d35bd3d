// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Dialects/Tile/IR/Decode.h"
#include "CheckMap.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace ashlar::tile;

#define GET_OP_CLASSES
#include "ashlar/Dialects/Tile/IR/Decode.cpp.inc"

DecodeOp ashlar::tile::decodeOf(Value memory) {
  while (auto view = memory.getDefiningOp<ViewLikeOpInterface>())
    memory = view.getViewSource();
  return memory.getDefiningOp<DecodeOp>();
}

bool ashlar::tile::hasMargins(Value operand) {
  auto decode = operand.getDefiningOp<DecodeOp>();
  return decode && decode.getMargins();
}

std::optional<SmallVector<int64_t>> DecodeOp::getMargins() {
  if (!getPadded() || getInputs().size() != 1 ||
      getElement() != getBody().getArgument(0))
    return std::nullopt;
  AffineMap map = getMap(0);
  if (map.getNumResults() != map.getNumDims())
    return std::nullopt;
  SmallVector<int64_t> margins;
  for (auto [d, place] : llvm::enumerate(map.getResults())) {
    AffineExpr dim = place;
    int64_t before = 0;
    if (auto sum = dyn_cast<AffineBinaryOpExpr>(place))
      if (auto moved = dyn_cast<AffineConstantExpr>(sum.getRHS());
          moved && sum.getKind() == AffineExprKind::Add) {
        dim = sum.getLHS();
        before = -moved.getValue();
      }
    auto own = dyn_cast<AffineDimExpr>(dim);
    if (!own || own.getPosition() != d || before < 0)
      return std::nullopt;
    margins.push_back(before);
  }
  return margins;
}

Value DecodeOp::getElement() {
  return cast<DecodedOp>(getBody().front().getTerminator()).getValue();
}

LogicalResult DecodeOp::verify() {
  if (!getType().hasStaticShape())
    return emitOpError("expected a result of known sizes, found ") << getType();
  if (getMaps().size() != getInputs().size())
    return emitOpError("expected a map for each input, ")
           << getInputs().size() << " in all, found " << getMaps().size();
  for (auto [i, input] : llvm::enumerate(getInputs()))
    if (failed(checkMap(*this, "input " + std::to_string(i), getMap(i),
                        getType().getRank(), input)))
      return failure();
  return success();
}

LogicalResult DecodeOp::verifyRegions() {
  SmallVector<Type> expected;
  for (Value input : getInputs())
    expected.push_back(elementOf(input));
  expected.append(getType().getRank(), IndexType::get(getContext()));
  if (getBody().getArgumentTypes() != TypeRange(expected))
    return emitOpError("expected a body over an element of each input and a "
                       "place along each dim of the result, found ")
           << getBody().getArgumentTypes();
  auto decoded = dyn_cast<DecodedOp>(getBody().front().getTerminator());
  if (!decoded || decoded.getValue().getType() != getType().getElementType())
    return noteAt(
        emitOpError("expected the body to make ")
            << getType().getElementType() << ", an element of the result",
        getBody().front().getTerminator()->getLoc(), "the body ends here");
  return success();
}
