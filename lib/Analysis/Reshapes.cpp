// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Analysis/Reshapes.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace ashlar;

Value ashlar::behindReshapes(Value value) {
  while (isa_and_nonnull<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(
      value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

bool ashlar::isConstantBehindReshapes(Value value) {
  return matchPattern(behindReshapes(value), m_Constant());
}

static TypedAttr reshaped(Attribute constant, RankedTensorType type) {
  if (auto typed = dyn_cast<TypedAttr>(constant);
      typed && typed.getType() == type)
    return typed;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(constant))
    return DenseResourceElementsAttr::get(type, resource.getRawHandle());
  if (auto dense = dyn_cast<DenseElementsAttr>(constant))
    return dense.reshape(type);
  if (auto random = dyn_cast<tile::RandomAttr>(constant))
    return tile::RandomAttr::get(constant.getContext(), random.getSeed(),
                                 random.getNumber(), random.getScale(), type);
  if (auto rounded = dyn_cast<tile::RoundedAttr>(constant)) {
    auto source = cast<ShapedType>(rounded.getSource().getType());
    return tile::RoundedAttr::get(
        constant.getContext(),
        reshaped(
            rounded.getSource(),
            RankedTensorType::get(type.getShape(), source.getElementType())),
        type);
  }
  return {};
}

TypedAttr ashlar::constantBehindReshapes(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  auto constant = behindReshapes(value).getDefiningOp<arith::ConstantOp>();
  return constant ? reshaped(constant.getValue(), type) : TypedAttr();
}
