// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Analysis/Sums.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace ashlar;

/// Whether each element is for one of the result, in whatever layout.
static bool readsEachOnce(OpOperand &use) {
  auto reader = dyn_cast<linalg::GenericOp>(use.getOwner());
  return reader && reader.getNumReductionLoops() == 0 &&
         reader.isDpsInput(&use) &&
         reader.getMatchingIndexingMap(&use).isPermutation();
}

/// What patterns have replaced and not yet erased does not count.
static bool hasOneReader(Value value) {
  return llvm::count_if(value.getUses(), [](OpOperand &use) {
           return !isOpTriviallyDead(use.getOwner());
         }) == 1;
}

static bool bringsSums(Value value, unsigned mostSteps) {
  auto producer = value.getDefiningOp<linalg::LinalgOp>();
  if (!producer || !hasOneReader(value) || mostSteps == 0)
    return false;
  // A product adds up two factors, most other reductions one value.
  if (producer.getNumReductionLoops() != 0)
    return producer.getNumDpsInputs() == 2;
  return llvm::any_of(producer.getDpsInputOperands(), [&](OpOperand *input) {
    return readsEachOnce(*input) && bringsSums(input->get(), mostSteps - 1);
  });
}

bool ashlar::bringsSums(Value value) {
  constexpr unsigned mostSteps = 8;
  return ::bringsSums(value, mostSteps);
}

bool ashlar::followsOtherSums(OpOperand &use) {
  auto reader = dyn_cast<linalg::GenericOp>(use.getOwner());
  return reader && readsEachOnce(use) && bringsSums(use.get()) &&
         llvm::any_of(reader.getDpsInputOperands(), [&](OpOperand *input) {
           return input->getOperandNumber() < use.getOperandNumber() &&
                  readsEachOnce(*input) && bringsSums(input->get());
         });
}
