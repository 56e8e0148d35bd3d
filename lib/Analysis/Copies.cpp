// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Analysis/Copies.h"

using namespace mlir;

bool ashlar::isCopy(linalg::GenericOp op) {
  return op.getNumDpsInputs() == 1 && op.getNumDpsInits() == 1 &&
         op.getNumReductionLoops() == 0 && op.hasPureTensorSemantics() &&
         llvm::hasSingleElement(op.getBody()->getOperations()) &&
         op.getBody()->getTerminator()->getOperand(0) ==
             op.getBody()->getArgument(0);
}

std::optional<AffineMap> ashlar::permutationOf(linalg::GenericOp op) {
  if (!isCopy(op))
    return std::nullopt;
  AffineMap from = op.getIndexingMapsArray()[0],
            to = op.getIndexingMapsArray()[1];
  if (!from.isPermutation() || !to.isPermutation())
    return std::nullopt;
  return from.compose(inversePermutation(to));
}
