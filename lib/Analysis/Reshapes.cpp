// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Analysis/Reshapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

Value ashlar::behindReshapes(Value value) {
  while (isa_and_nonnull<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(
      value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

bool ashlar::isConstantBehindReshapes(Value value) {
  return matchPattern(behindReshapes(value), m_Constant());
}

TypedAttr ashlar::constantBehindReshapes(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  auto constant = behindReshapes(value).getDefiningOp<arith::ConstantOp>();
  if (!constant)
    return {};
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(constant.getValue()))
    return DenseResourceElementsAttr::get(type, resource.getRawHandle());
  if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValue()))
    return dense.reshape(type);
  return {};
}
