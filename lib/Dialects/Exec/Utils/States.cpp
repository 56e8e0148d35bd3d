// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Dialects/Exec/Utils/States.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

bool ashlar::isState(Value value) {
  if (auto insert = value.getDefiningOp<tensor::InsertSliceOp>())
    return isState(insert.getDest());
  auto argument = dyn_cast<BlockArgument>(value);
  auto entry = argument ? dyn_cast_if_present<func::FuncOp>(
                              argument.getOwner()->getParentOp())
                        : func::FuncOp();
  return entry && entry.getArgAttr(argument.getArgNumber(), stateShapeAttrName);
}

std::optional<unsigned> ashlar::stateResult(func::FuncOp entry,
                                            unsigned number) {
  for (unsigned i = 0; i != entry.getNumResults(); ++i)
    if (auto state = entry.getResultAttrOfType<IntegerAttr>(i, stateAttrName);
        state && state.getInt() == number)
      return i;
  return std::nullopt;
}
