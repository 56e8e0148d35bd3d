// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LowOperands.h"
#include "ashlar/Analysis/MapElements.h"
#include "ashlar/Analysis/Reshapes.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ashlar;

Type ashlar::typeOf(NumberType type, MLIRContext *context) {
  switch (type) {
  case NumberType::F32:
    return Float32Type::get(context);
  case NumberType::BF16:
    return BFloat16Type::get(context);
  case NumberType::F16:
    return Float16Type::get(context);
  }
  llvm_unreachable("covered switch");
}

RankedTensorType ashlar::withElements(Value tensor, Type element) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return RankedTensorType::get(type.getShape(), element);
}

Value ashlar::emptyLike(OpBuilder &b, Value value, Type element) {
  auto sizes = tensor::getMixedSizes(b, value.getLoc(), value);
  return tensor::EmptyOp::create(b, value.getLoc(), sizes, element);
}

Value ashlar::round(OpBuilder &b, Location location, Value value, Type to) {
  return arith::TruncFOp::create(
      b, location, to, value, arith::RoundingModeAttr(),
      arith::FastMathFlagsAttr::get(b.getContext(),
                                    arith::FastMathFlags::contract));
}

Value ashlar::extend(OpBuilder &b, Location location, Value value) {
  return arith::ExtFOp::create(
      b, location, b.getF32Type(), value,
      arith::FastMathFlagsAttr::get(b.getContext(),
                                    arith::FastMathFlags::contract));
}

APFloat ashlar::rounded(APFloat value, Type to) {
  bool loses;
  value.convert(cast<FloatType>(to).getFloatSemantics(),
                APFloat::rmNearestTiesToEven, &loses);
  return value;
}

Value ashlar::convert(OpBuilder &b, Value value, Type element) {
  auto made = mapElements(b, value.getLoc(), value, element,
                          [&](OpBuilder &inner, Location at, Value x) {
                            return round(inner, at, x, element);
                          });
  return made.getResult(0);
}

/// The constant, its elements rounded: at once where it is an attribute, while
/// it is written where it lies in a file.
static TypedAttr roundConstant(TypedAttr constant, Type to) {
  auto type = cast<RankedTensorType>(constant.getType());
  auto target = RankedTensorType::get(type.getShape(), to);
  if (auto dense = dyn_cast<DenseFPElementsAttr>(constant))
    return cast<TypedAttr>(
        Attribute(dense.mapValues(to, [&](const APFloat &value) {
          return rounded(value, to).bitcastToAPInt();
        })));
  return tile::RoundedAttr::get(constant.getContext(), constant, target);
}

void LowOperands::lower(OpOperand &operand, Type element) {
  Value value = operand.get();
  if (!getElementTypeOrSelf(value).isF32())
    return;
  Value &converted = conversions[{value.getAsOpaquePointer(), element}];
  if (!converted) {
    OpBuilder::InsertionGuard guard(b);
    if (TypedAttr constant = constantBehindReshapes(value)) {
      b.setInsertionPoint(behindReshapes(value).getDefiningOp());
      converted = arith::ConstantOp::create(b, value.getLoc(),
                                            roundConstant(constant, element));
    } else {
      b.setInsertionPointAfterValue(value);
      converted = convert(b, value, element);
    }
  }
  operand.set(converted);
}

void LowOperands::lowerInputs(linalg::GenericOp op, Type element) {
  for (OpOperand *operand : op.getDpsInputOperands())
    lower(*operand, element);
}

void LowOperands::extendReads(linalg::GenericOp op) {
  OpBuilder begin = OpBuilder::atBlockBegin(op.getBody());
  for (OpOperand *operand : op.getDpsInputOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(operand);
    Type element = getElementTypeOrSelf(operand->get());
    if (argument.getType() == element)
      continue;
    argument.setType(element);
    if (argument.use_empty())
      continue;
    Value wide = extend(begin, op.getLoc(), argument);
    argument.replaceAllUsesExcept(wide, wide.getDefiningOp());
  }
  op.walk([&](tensor::ExtractOp extract) {
    Type element = getElementTypeOrSelf(extract.getTensor());
    if (extract.getType() == element)
      return;
    extract.getResult().setType(element);
    OpBuilder after(extract->getContext());
    after.setInsertionPointAfter(extract);
    Value wide = extend(after, extract.getLoc(), extract);
    extract.getResult().replaceAllUsesExcept(wide, wide.getDefiningOp());
  });
}
