// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Analysis/LoopRuns.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;

int64_t ashlar::countRuns(Operation *op, Operation *within) {
  int64_t runs = 1;
  for (Operation *outer = op->getParentOp(); outer && outer != within;
       outer = outer->getParentOp())
    if (auto loop = dyn_cast<LoopLikeOpInterface>(outer))
      if (std::optional<APInt> trips = loop.getStaticTripCount())
        runs *= std::max<int64_t>(trips->getSExtValue(), 1);
  return runs;
}
