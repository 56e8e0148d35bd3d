// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Analysis/RowDims.h"

using namespace mlir;

/// Leading results of a map that are the leading dims.
static int64_t identityPrefix(AffineMap map, int64_t limit) {
  int64_t count = 0;
  while (count < limit && count < int64_t(map.getNumResults()) &&
         map.getResult(count) == getAffineDimExpr(count, map.getContext()))
    ++count;
  return count;
}

int64_t ashlar::countRowDims(ArrayRef<linalg::GenericOp> ops) {
  int64_t rows = std::numeric_limits<int64_t>::max();
  for (linalg::GenericOp op : ops) {
    for (auto [dim, iterator] : llvm::enumerate(op.getIteratorTypesArray()))
      if (iterator != utils::IteratorType::parallel)
        rows = std::min<int64_t>(rows, dim);
    rows = std::min<int64_t>(rows, op.getNumLoops());
    for (OpOperand &operand : op->getOpOperands()) {
      auto producer = operand.get().getDefiningOp<linalg::GenericOp>();
      if (op.isDpsInit(&operand) || llvm::is_contained(ops, producer))
        rows = identityPrefix(op.getMatchingIndexingMap(&operand), rows);
    }
  }
  return ops.empty() ? 0 : rows;
}
