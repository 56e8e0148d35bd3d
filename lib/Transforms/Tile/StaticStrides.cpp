// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Transforms/Tile/StaticStrides.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

static bool hasStaticStrides(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  return succeeded(type.getStridesAndOffset(strides, offset)) &&
         !llvm::any_of(strides, ShapedType::isDynamic);
}

void ashlar::giveStaticStrides(DestinationStyleOpInterface op) {
  OpBuilder b(op);
  Location location = op.getLoc();
  for (OpOperand &operand : op->getOpOperands()) {
    Value memory = operand.get();
    auto type = dyn_cast<MemRefType>(memory.getType());
    // Sizes that a caller chooses make strides that are values.
    if (!type || hasStaticStrides(type) || !type.hasStaticShape())
      continue;
    b.setInsertionPoint(op);
    Value copy = memref::AllocOp::create(
        b, location, MemRefType::get(type.getShape(), type.getElementType()));
    operand.set(copy);
    // The destination's margins may be somebody else's.
    memref::CopyOp::create(b, location, memory, copy);
    if (!op.isDpsInit(&operand))
      continue;
    b.setInsertionPointAfter(op);
    memref::CopyOp::create(b, location, copy, memory);
  }
}
