// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops that carry tensors since import, such as those of a scatter, in a
// bufferized kernel: they write into its result at once, and workers share
// those iterations that touch elements of their own.
#include "ashlar/Transforms/Tile/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_SHARELOOPSPASS
#include "ashlar/Transforms/Tile/Passes.h.inc"
} // namespace ashlar

namespace {
/// What loops change and what is copied to a result behind them lies in that
/// result from the beginning.
void writeIntoResults(Block &kernel) {
  for (auto copy :
       llvm::make_early_inc_range(kernel.getOps<memref::CopyOp>())) {
    auto alloc = copy.getSource().getDefiningOp<memref::AllocOp>();
    auto result = dyn_cast<BlockArgument>(copy.getTarget());
    if (!alloc || !result || !result.hasOneUse() ||
        alloc->getBlock() != &kernel || alloc.getType() != result.getType() ||
        !alloc.getType().hasStaticShape())
      continue;
    bool changedByLoops = false, usedLater = false;
    for (Operation *user : alloc->getUsers()) {
      Operation *own = kernel.findAncestorOpInBlock(*user);
      changedByLoops |= isa<scf::ForOp>(own);
      usedLater |= copy->isBeforeInBlock(own);
    }
    if (!changedByLoops || usedLater)
      continue;
    alloc.replaceAllUsesWith(result);
    copy.erase();
    alloc.erase();
  }
}

std::optional<int64_t> tripsOf(scf::ForOp loop) {
  auto from = getConstantIntValue(loop.getLowerBound()),
       to = getConstantIntValue(loop.getUpperBound()),
       step = getConstantIntValue(loop.getStep());
  if (from != 0 || step != 1 || !to || *to < 1)
    return std::nullopt;
  return *to;
}

/// A loop, and the dim of all results along which each iteration touches
/// elements of its own.
struct Shared {
  scf::ForOp loop;
  unsigned dim;
  int64_t extent; ///< of that dim, at least as many as there are iterations
};

class LoopSharer {
public:
  LoopSharer(Block &kernel, int64_t boxes, int64_t work)
      : kernel(kernel), boxes(boxes), work(work) {}

  void run() {
    if (!collect())
      return;
    std::optional<Shared> longest;
    for (scf::ForOp loop : loops)
      if (std::optional<Shared> found = describe(loop))
        if (!longest || found->extent > longest->extent)
          longest = found;
    if (longest)
      share(*longest);
  }

private:
  /// What is loaded, stored and copied, and whether that is all that happens.
  bool collect() {
    bool known = true;
    kernel.walk([&](Operation *op) {
      if (auto loop = dyn_cast<scf::ForOp>(op)) {
        loops.push_back(loop);
        known &= llvm::none_of(loop.getInitArgs().getTypes(),
                               llvm::IsaPred<BaseMemRefType>);
      } else if (auto copy = dyn_cast<memref::CopyOp>(op)) {
        copies.push_back(copy);
        known &= op->getBlock() == &kernel;
        written.insert(copy.getTarget());
      } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
        written.insert(store.getMemRef());
      } else {
        known &= isa<memref::LoadOp, memref::AllocOp, scf::IfOp>(op) ||
                 (isMemoryEffectFree(op) && op->getNumRegions() == 0 &&
                  llvm::none_of(op->getResultTypes(),
                                llvm::IsaPred<BaseMemRefType>)) ||
                 op->hasTrait<OpTrait::IsTerminator>();
      }
    });
    return known && !loops.empty();
  }

  std::optional<Shared> describe(scf::ForOp loop) {
    std::optional<int64_t> trips = tripsOf(loop);
    if (!trips || *trips < 2 || loop.getNumResults() != 0)
      return std::nullopt;
    std::optional<Shared> found;
    for (Value memory : written) {
      if (Operation *alloc = memory.getDefiningOp()) {
        // Of one iteration, or the same for all of them and soon made.
        if (!loop->isAncestor(alloc) &&
            (isStoredIn(loop, memory) || !isSmall(memory)))
          return std::nullopt;
        continue;
      }
      std::optional<unsigned> dim = dimOf(loop, memory);
      if (!dim)
        return std::nullopt;
      auto type = cast<MemRefType>(memory.getType());
      if (!type.hasStaticShape())
        return std::nullopt;
      int64_t extent = type.getDimSize(*dim);
      if (extent < *trips || (found && extent != found->extent) ||
          (found && *dim != found->dim))
        return std::nullopt;
      found = Shared{loop, *dim, extent};
    }
    return found;
  }

  static bool isSmall(Value memory) {
    constexpr int64_t most = 64;
    auto type = cast<MemRefType>(memory.getType());
    return type.hasStaticShape() && type.getNumElements() <= most;
  }

  static bool isStoredIn(scf::ForOp loop, Value memory) {
    return llvm::any_of(memory.getUsers(), [&](Operation *user) {
      return isa<memref::StoreOp>(user) && loop->isAncestor(user);
    });
  }

  /// The dim along which all that touches `memory` in the loop is at the
  /// present iteration; outside of it nothing does, but for copies of all.
  static std::optional<unsigned> dimOf(scf::ForOp loop, Value memory) {
    llvm::SmallBitVector dims(cast<MemRefType>(memory.getType()).getRank(),
                              true);
    auto keep = [&](ValueRange indices) {
      for (auto [d, index] : llvm::enumerate(indices))
        if (index != loop.getInductionVar())
          dims.reset(d);
    };
    for (Operation *user : memory.getUsers()) {
      if (auto copy = dyn_cast<memref::CopyOp>(user)) {
        if (copy.getSource() == memory)
          return std::nullopt;
        continue;
      }
      if (!loop->isAncestor(user))
        return std::nullopt;
      if (auto store = dyn_cast<memref::StoreOp>(user))
        keep(store.getIndices());
      else
        keep(cast<memref::LoadOp>(user).getIndices());
    }
    int found = dims.find_first();
    return found < 0 ? std::nullopt : std::optional<unsigned>(found);
  }

  /// Of all other loops and copies, for each of the shared dim.
  int64_t workOfOne(const Shared &shared) {
    int64_t all = 1;
    for (scf::ForOp loop : loops)
      if (loop != shared.loop)
        all *= tripsOf(loop).value_or(1);
    for (memref::CopyOp copy : copies)
      all = std::max(
          all, cast<MemRefType>(copy.getTarget().getType()).getNumElements() /
                   shared.extent);
    return std::max<int64_t>(all, 1);
  }

  /// A divisor of the extent: as much as a worker should have at least.
  int64_t sizeOfBox(const Shared &shared) {
    int64_t least = std::max(llvm::divideCeil(shared.extent, boxes),
                             llvm::divideCeil(work, workOfOne(shared)));
    for (int64_t size = std::max<int64_t>(least, 1); size < shared.extent;
         ++size)
      if (shared.extent % size == 0)
        return size;
    return shared.extent;
  }

  void share(Shared &shared) {
    int64_t box = sizeOfBox(shared);
    if (box == shared.extent)
      return;
    ImplicitLocOpBuilder b(shared.loop.getLoc(), kernel.getTerminator());
    auto forall = scf::ForallOp::create(
        b, ArrayRef<OpFoldResult>{b.getIndexAttr(0)},
        ArrayRef<OpFoldResult>{b.getIndexAttr(shared.extent)},
        ArrayRef<OpFoldResult>{b.getIndexAttr(box)}, ValueRange(),
        std::nullopt);
    for (Operation &op : llvm::make_early_inc_range(
             llvm::make_range(kernel.begin(), Block::iterator(forall))))
      if (!op.hasTrait<OpTrait::ConstantLike>())
        op.moveBefore(forall.getTerminator());
    Value first = forall.getInductionVars().front();
    b.setInsertionPoint(shared.loop);
    int64_t trips = *tripsOf(shared.loop);
    AffineExpr end = b.getAffineDimExpr(0) + box;
    shared.loop.setLowerBound(first);
    shared.loop.setUpperBound(
        trips == shared.extent
            ? affine::AffineApplyOp::create(b, AffineMap::get(1, 0, end), first)
                  .getResult()
            : affine::AffineMinOp::create(
                  b,
                  AffineMap::get(1, 0, {end, b.getAffineConstantExpr(trips)},
                                 b.getContext()),
                  first)
                  .getResult());
    for (memref::CopyOp copy : copies)
      if (isa<BlockArgument>(copy.getTarget()))
        copyBox(copy, shared, first, box);
  }

  void copyBox(memref::CopyOp copy, const Shared &shared, Value first,
               int64_t box) {
    ImplicitLocOpBuilder b(copy.getLoc(), copy);
    auto view = [&](Value memory) -> Value {
      auto type = cast<MemRefType>(memory.getType());
      SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)),
          steps(type.getRank(), b.getIndexAttr(1)), sizes;
      for (int64_t size : type.getShape())
        sizes.push_back(b.getIndexAttr(size));
      offsets[shared.dim] = first;
      sizes[shared.dim] = b.getIndexAttr(box);
      return memref::SubViewOp::create(b, memory, offsets, sizes, steps);
    };
    memref::CopyOp::create(b, view(copy.getSource()), view(copy.getTarget()));
    copy.erase();
  }

  Block &kernel;
  int64_t boxes, work;
  SmallVector<scf::ForOp> loops;
  SmallVector<memref::CopyOp> copies;
  llvm::SetVector<Value> written;
};

struct ShareLoops : ashlar::impl::ShareLoopsPassBase<ShareLoops> {
  using ShareLoopsPassBase::ShareLoopsPassBase;

  void runOnOperation() override {
    if (boxes < 1 || work < 1) {
      getOperation().emitError("expected 'boxes' and 'work' of 1 or more, "
                               "found ")
          << boxes.getValue() << " and " << work.getValue();
      return signalPassFailure();
    }
    Block &kernel = getOperation().getBody().front();
    writeIntoResults(kernel);
    LoopSharer(kernel, boxes, work).run();
  }
};
} // namespace
