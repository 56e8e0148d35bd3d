// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "ashlar/Transforms/Lanes/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_EXPANDCOPIESPASS
#include "ashlar/Transforms/Lanes/Passes.h.inc"
} // namespace ashlar

namespace {
/// Its slot is in use until it is released in the same block, so each copy of
/// the program can have memory of its own.
void expand(tile::CopyOp op) {
  OpBuilder b(op);
  Location location = op.getLoc();
  MemRefType type = op.getRing().getType().getSlotType();
  Value slot = memref::AllocOp::create(b, location, type);
  SmallVector<utils::IteratorType> loops(type.getRank(),
                                         utils::IteratorType::parallel);
  AffineMap maps[] = {op.getMap(), b.getMultiDimIdentityMap(type.getRank())};
  linalg::GenericOp::create(
      b, location, TypeRange(), op.getSource(), slot, maps, loops,
      [](OpBuilder &inner, Location at, ValueRange arguments) {
        linalg::YieldOp::create(inner, at, arguments[0]);
      });
  for (Operation *user : llvm::make_early_inc_range(op.getToken().getUsers()))
    user->erase();
  for (Operation *user : llvm::make_early_inc_range(op.getSlot().getUsers()))
    if (isa<tile::ReleaseOp>(user))
      user->erase();
  op.getSlot().replaceAllUsesWith(slot);
  op.erase();
}

struct ExpandCopies : ashlar::impl::ExpandCopiesPassBase<ExpandCopies> {
  void runOnOperation() override {
    SmallVector<tile::CopyOp> copies;
    SmallVector<tile::AllocOp> rings;
    getOperation().walk([&](tile::CopyOp op) { copies.push_back(op); });
    getOperation().walk([&](tile::AllocOp op) { rings.push_back(op); });
    llvm::for_each(copies, expand);
    for (tile::AllocOp ring : rings)
      ring.erase();
  }
};
} // namespace
