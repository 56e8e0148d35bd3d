// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rings between threads that copy by themselves: memory of the workgroup, and
// barriers between who writes it and who reads it.
#include "ThreadWriter.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace ashlar;

namespace {
class RingSharer {
public:
  RingSharer(Operation *kernel, const simt::Threads &threads)
      : kernel(kernel), threads(threads),
        b(kernel->getLoc(), kernel->getContext()) {}

  LogicalResult run() {
    dropWaits();
    SmallVector<tile::AllocOp> rings;
    kernel->walk([&](tile::AllocOp op) { rings.push_back(op); });
    for (tile::AllocOp ring : rings)
      if (failed(share(ring)))
        return failure();
    kernel->walk([&](tile::WaitOp op) {
      b.setInsertionPoint(op);
      gpu::BarrierOp::create(b, op.getLoc());
      op.erase();
    });
    return success();
  }

private:
  /// Where another wait follows and nothing reads in between, one barrier says
  /// what both do.
  void dropWaits() {
    SmallVector<tile::WaitOp> all;
    kernel->walk([&](tile::WaitOp op) { all.push_back(op); });
    for (tile::WaitOp wait : all)
      for (Operation *op = wait->getNextNode(); op; op = op->getNextNode()) {
        if (isa<tile::WaitOp>(op)) {
          wait.erase();
          break;
        }
        if (op->getNumRegions() != 0 ||
            (!isa<tile::CopyOp>(op) && !isMemoryEffectFree(op)))
          break;
      }
  }

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }

  Value number(int64_t value) {
    return arith::ConstantIntOp::create(b, value, 64);
  }

  LogicalResult share(tile::AllocOp ring) {
    tile::RingType type = ring.getType();
    tile::SlotType slot = type.getSlotType();
    MemRefType view = slot.getView();
    if (!view)
      return ring.emitOpError("expected slots without a swizzle, for threads "
                              "that copy by themselves, found ")
             << type;
    int64_t elements = slot.getLayout()
                           ? slot.getLayout().getSize(slot.getShape())
                           : view.getNumElements();
    Attribute space = b.getI64IntegerAttr(simt::workgroupSpace);
    b.setInsertionPoint(ring);
    Value memory = memref::AllocOp::create(
        b, MemRefType::get({type.getSlots() * elements}, type.getElementType(),
                           MemRefLayoutAttrInterface(), space));
    // Which slot comes next: every thread counts for itself.
    Value next =
        memref::AllocOp::create(b, MemRefType::get({}, b.getI64Type()));
    memref::StoreOp::create(b, number(0), next);

    for (Operation *user : llvm::make_early_inc_range(ring->getUsers())) {
      auto copy = dyn_cast<tile::CopyOp>(user);
      if (!copy || !isa<MemRefType>(copy.getSource().getType()))
        return user->emitOpError("expected copies from memory in the threads' "
                                 "own order: no roles, and no second ring");
      b.setInsertionPoint(copy);
      b.setLoc(copy.getLoc());
      Value place = takeSlot(next, type.getSlots(), elements);
      SmallVector<int64_t> strides =
          slot.getLayout() ? slot.getLayout().getStrides(slot.getShape())
                           : cast<MemRefType>(view).getStridesAndOffset().first;
      auto strided = MemRefType::get(
          slot.getShape(), slot.getElementType(),
          StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, strides),
          space);
      SmallVector<OpFoldResult> sizes, steps;
      for (auto [size, stride] : llvm::zip(slot.getShape(), strides)) {
        sizes.push_back(b.getIndexAttr(size));
        steps.push_back(b.getIndexAttr(stride));
      }
      Value box = memref::ReinterpretCastOp::create(
          b, strided, memory, OpFoldResult(place), sizes, steps);
      fill(copy, box);
      if (failed(replaceSlot(copy, box, type.getSlots())))
        return failure();
    }
    ring.erase();
    return success();
  }

  /// Where the next slot begins; and goes on to the one behind it.
  Value takeSlot(Value next, int64_t slots, int64_t elements) {
    if (slots == 1)
      return index(0);
    Value now = memref::LoadOp::create(b, next);
    Value later = arith::AddIOp::create(b, now, number(1));
    Value isEnd = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, later,
                                        number(slots));
    memref::StoreOp::create(
        b, arith::SelectOp::create(b, isEnd, number(0), later), next);
    Value slot = arith::IndexCastOp::create(b, b.getIndexType(), now);
    return arith::MulIOp::create(b, slot, index(elements));
  }

  /// All threads side by side, each every so many-th element.
  void fill(tile::CopyOp copy, Value box) {
    OpBuilder::InsertionGuard guard(b);
    ArrayRef<int64_t> shape = copy.getSlot().getType().getShape();
    int64_t elements = 1;
    for (int64_t size : shape)
      elements *= size;
    auto loop = scf::ForOp::create(b, threads.number, index(elements),
                                   index(threads.count));
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<OpFoldResult> basis;
    for (int64_t size : shape)
      basis.push_back(b.getIndexAttr(size));
    auto point = affine::AffineDelinearizeIndexOp::create(
        b, loop.getInductionVar(), basis);
    simt::ThreadWriter w(copy, b);
    Value element = w.load(copy.getSource(), copy.getMap(), point.getResults(),
                           copy.getPadded());
    memref::StoreOp::create(b, element, box, point.getResults());
  }

  /// The slot from an element on.
  Value movedBy(Value box, ValueRange offsets) {
    auto type = cast<MemRefType>(box.getType());
    auto metadata = memref::ExtractStridedMetadataOp::create(b, box);
    auto [strides, unknown] = type.getStridesAndOffset();
    Value place = metadata.getOffset();
    SmallVector<OpFoldResult> sizes, steps;
    for (auto [size, stride, offset] :
         llvm::zip(type.getShape(), strides, offsets)) {
      place = arith::AddIOp::create(
          b, place, arith::MulIOp::create(b, offset, index(stride)));
      sizes.push_back(b.getIndexAttr(size));
      steps.push_back(b.getIndexAttr(stride));
    }
    return memref::ReinterpretCastOp::create(b, type, metadata.getBaseBuffer(),
                                             OpFoldResult(place), sizes, steps);
  }

  LogicalResult replaceSlot(tile::CopyOp copy, Value box, int64_t slots) {
    for (Operation *user :
         llvm::make_early_inc_range(copy.getSlot().getUsers())) {
      if (auto release = dyn_cast<tile::ReleaseOp>(user)) {
        b.setInsertionPoint(release);
        if (slots == 1)
          gpu::BarrierOp::create(b, release.getLoc());
        release.erase();
        continue;
      }
      auto step = dyn_cast<tile::StepOp>(user);
      if (!step || step.getToken())
        return user->emitOpError("expected steps that end where they stand, "
                                 "for threads that copy by themselves");
      b.setInsertionPoint(step);
      if (step.getA() == copy.getSlot() && !step.getAOffsets().empty()) {
        step.getAMutable().assign(movedBy(box, step.getAOffsets()));
        step.getAOffsetsMutable().clear();
      }
      if (step.getB() == copy.getSlot() && !step.getBOffsets().empty()) {
        step.getBMutable().assign(movedBy(box, step.getBOffsets()));
        step.getBOffsetsMutable().clear();
      }
    }
    copy.getSlot().replaceAllUsesWith(box);
    for (Operation *user :
         llvm::make_early_inc_range(copy.getToken().getUsers())) {
      auto wait = cast<tile::WaitOp>(user);
      wait.getTokensMutable().clear();
    }
    copy.erase();
    return success();
  }

  Operation *kernel;
  const simt::Threads &threads;
  ImplicitLocOpBuilder b;
};
} // namespace

LogicalResult ashlar::simt::shareRings(Operation *kernel,
                                       const Threads &threads) {
  return RingSharer(kernel, threads).run();
}
