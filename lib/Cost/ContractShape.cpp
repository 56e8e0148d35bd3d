// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Cost/ContractShape.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Analysis/ContractDims.h"

using namespace mlir;
using namespace ashlar;

ContractShape::ContractShape(tile::ContractOp op, const Core &core)
    : op(op), core(core), numParallel(op.getParallel().size()),
      last(numParallel - 1) {
  ContractDims dims = dimsOf(op);
  sizes = dims.sizes;
  int64_t bytes = elementBytes(op.getAccumulatorType());
  lanes = std::max<int64_t>(1, core.vectorBytes / bytes);
  terms = ShapedType::getNumElements(op.getReduced()) / core.group;
  for (unsigned d : llvm::reverse(dims.m))
    if (d != last && sizes[d] > 1)
      rowDims.push_back(d);
}

int64_t ContractShape::countRows() {
  int64_t rows = 1;
  for (unsigned d = 0; d != last; ++d)
    if (isRow(d))
      rows *= sizes[d];
  return rows;
}

int64_t ContractShape::strideOfB(unsigned dim) {
  int64_t step = 0, stride = 1;
  auto type = cast<RankedTensorType>(op.getB().getType());
  for (unsigned i = op.getBMap().getNumResults(); i-- > 0;) {
    if (op.getBMap().getResult(i).isFunctionOfDim(dim))
      step += stride;
    stride *= type.getDimSize(i);
  }
  return step;
}

bool ContractShape::needsPacking() {
  if (core.group > 1)
    return true;
  bool isColumn = llvm::is_contained(op.getBMap().getResults(),
                                     getAffineDimExpr(last, op.getContext()));
  return isColumn && strideOfB(last) != 1 && countRows() >= 4;
}
