// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Dialects/Exec/Utils/Views.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

/// Static slices only: leading sizes of one, then one cut dim, then whole dims.
static bool isContiguous(tensor::ExtractSliceOp op) {
  auto isDynamic = ShapedType::isDynamic;
  if (llvm::any_of(op.getStaticOffsets(), isDynamic) ||
      llvm::any_of(op.getStaticSizes(), isDynamic) ||
      llvm::any_of(op.getStaticStrides(), isDynamic) ||
      !op.getSourceType().hasStaticShape())
    return false;
  ArrayRef<int64_t> sizes = op.getStaticSizes();
  ArrayRef<int64_t> source = op.getSourceType().getShape();
  int64_t cut = sizes.size() - 1;
  while (cut >= 0 && sizes[cut] == source[cut])
    --cut;
  if (cut >= 0 && sizes[cut] > 1 && op.getStaticStrides()[cut] != 1)
    return false;
  for (int64_t d = 0; d < cut; ++d)
    if (sizes[d] != 1)
      return false;
  return true;
}

/// Kernels are given aligned operands.
static bool beginsAligned(tensor::ExtractSliceOp slice) {
  int64_t bytes =
      llvm::divideCeil(slice.getSourceType().getElementTypeBitWidth(), 8);
  return ashlar::viewOffset(slice) * bytes % 64 == 0;
}

bool ashlar::isUnalignedView(Operation *op) {
  auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
  return slice && isContiguous(slice) && !beginsAligned(slice);
}

bool ashlar::isView(Operation *op) {
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
    return true;
  auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
  return slice && !slice->hasAttr(copiedAttrName) && isContiguous(slice) &&
         beginsAligned(slice);
}

Value ashlar::viewed(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isView(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

int64_t ashlar::viewOffset(Operation *op) {
  auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
  if (!slice)
    return 0;
  int64_t offset = 0;
  for (auto [start, dim] :
       llvm::zip(slice.getStaticOffsets(), slice.getSourceType().getShape()))
    offset = offset * dim + start;
  return offset;
}
