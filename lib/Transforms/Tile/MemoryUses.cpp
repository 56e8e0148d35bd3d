// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Transforms/Tile/MemoryUses.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "ashlar/Transforms/Tile/KernelSizes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

using namespace mlir;
using namespace ashlar;

std::optional<int64_t> ashlar::largestBytes(memref::AllocOp op) {
  MemRefType type = op.getType();
  int64_t bytes = elementBytes(type.getElementType());
  auto next = op.getDynamicSizes().begin();
  for (int64_t size : type.getShape()) {
    if (ShapedType::isDynamic(size)) {
      Value value = *next++;
      if (std::optional<int64_t> largest = largestSize(value)) {
        size = *largest;
      } else {
        FailureOr<int64_t> bound =
            ValueBoundsConstraintSet::computeConstantBound(
                presburger::BoundType::UB, {value, std::nullopt}, nullptr,
                /*closedUB=*/true);
        if (failed(bound))
          return std::nullopt;
        size = *bound;
      }
    }
    bytes *= size;
  }
  return bytes;
}

void ashlar::boundAllocations(func::FuncOp function) {
  SmallVector<memref::AllocOp> open;
  function.walk([&](memref::AllocOp op) {
    if (!op.getType().hasStaticShape())
      open.push_back(op);
  });
  for (memref::AllocOp op : open)
    if (std::optional<int64_t> bytes = largestBytes(op)) {
      OpBuilder b(op);
      Location at = op.getLoc();
      Value memory = memref::AllocOp::create(
          b, at, MemRefType::get({*bytes}, b.getI8Type()),
          op.getAlignmentAttr());
      Value zero = arith::ConstantIndexOp::create(b, at, 0);
      op.replaceAllUsesWith(memref::ViewOp::create(b, at, op.getType(), memory,
                                                   zero, op.getDynamicSizes())
                                .getResult());
      op.erase();
    }
}

MemoryUses::MemoryUses(func::FuncOp function) {
  int64_t now = 0;
  function.walk([&](Operation *op, const WalkStage &stage) {
    if (stage.isBeforeAllRegions())
      times[op].first = now++;
    if (stage.isAfterAllRegions())
      times[op].second = now++;
  });
  function.walk([&](memref::AllocOp op) {
    if (op.getType().hasStaticShape())
      uses.push_back(
          {op, byteSize(op.getType()), times.lookup(op).first, lastUse(op)});
  });
}

int64_t MemoryUses::lastUse(memref::AllocOp op) const {
  Block *home = op->getBlock();
  int64_t last = times.lookup(op).second;
  SmallVector<Value> memories = {op.getResult()};
  while (!memories.empty())
    for (Operation *user : memories.pop_back_val().getUsers()) {
      Operation *outer = home->findAncestorOpInBlock(*user);
      last = std::max(last, times.lookup(outer).second);
      for (Value result : user->getResults())
        if (isa<MemRefType, tile::SlotType>(result.getType()))
          memories.push_back(result);
    }
  return last + 1;
}

int64_t MemoryUses::bytesAt(Operation *op, int64_t alignment) const {
  int64_t now = times.lookup(op).first, bytes = 0;
  for (const MemoryUse &use : uses)
    if (use.lower <= now && now < use.upper)
      bytes += llvm::alignTo(use.bytes, alignment);
  return bytes;
}
