// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Dialects/Exec/Utils/States.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

/// Whether the entry returns it as what a state becomes.
static bool becomesState(Value value) {
  return llvm::any_of(value.getUses(), [](OpOperand &use) {
    auto entry = dyn_cast<func::FuncOp>(use.getOwner()->getParentOp());
    return entry && isa<func::ReturnOp>(use.getOwner()) &&
           entry.getResultAttr(use.getOperandNumber(), ashlar::stateAttrName);
  });
}

bool ashlar::isState(Value value) {
  if (auto insert = value.getDefiningOp<tensor::InsertSliceOp>())
    return isState(insert.getDest());
  // Others may begin with what is in a state and go on elsewhere.
  if (isa_and_nonnull<scf::ForOp, tensor::InsertOp>(value.getDefiningOp()))
    return becomesState(value);
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
