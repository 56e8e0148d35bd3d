// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rings between threads that copy by themselves: memory of the workgroup, and
// barriers between who writes it and who reads it.
#include "CopyWriter.h"
#include "PendingCopies.h"
#include "PhaseRing.h"
#include "TensorMaps.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Analysis/RingBytes.h"
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Support/NoteAt.h"
#include "ashlar/Transforms/Tile/Carried.h"
#include "ashlar/Transforms/Tile/Cluster.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace ashlar;
using ashlar::simt::CopyWriter;

namespace {
/// What stands for a ring: its memory, and which slot comes next, for which
/// every thread counts for itself.
struct SharedRing {
  Value memory, next;
  tile::RingType type;
  std::shared_ptr<simt::PhaseRing> phases; ///< between roles; null: it is not

  /// Elements from the first of a slot to that of the next.
  int64_t pitch() const { return type.getSlotType().getSize(); }
};

/// What is known before slots become places.
struct Plan {
  llvm::DenseMap<Value, SharedRing> rings;
  llvm::DenseMap<Operation *, std::shared_ptr<CopyWriter>> copies;
  /// Of copies of a role: boxes and their tensor maps.
  llvm::DenseMap<Operation *, std::pair<TensorBox, int64_t>> boxes;
  llvm::DenseMap<Operation *, Value> ringOf[2]; ///< of a step's a and b
  llvm::DenseMap<Operation *, int64_t> pending; ///< of waits; none: no copies
  /// Of waits for steps: how many may go on behind them.
  llvm::DenseMap<Operation *, int64_t> steps;
  llvm::SmallPtrSet<Operation *, 8> meets;   ///< releases that are barriers
  llvm::DenseMap<Operation *, Value> joined; ///< of releases: rings of roles
  bool hasUnits = false;                     ///< that read slots themselves
};

template <typename Op> struct RingPattern : OpConversionPattern<Op> {
  RingPattern(const TypeConverter &converter, MLIRContext *context,
              const Plan &plan, const simt::Threads &threads)
      : OpConversionPattern<Op>(converter, context), plan(plan),
        threads(threads) {}
  const Plan &plan;
  const simt::Threads &threads;
};

struct ShareCopy : RingPattern<tile::CopyOp> {
  using RingPattern::RingPattern;

  LogicalResult
  matchAndRewrite(tile::CopyOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    const SharedRing &ring = plan.rings.find(op.getRing())->second;
    if (ring.phases) {
      auto &[box, map] = plan.boxes.find(op)->second;
      ring.phases->fill(b, box, map);
      rewriter.eraseOp(op);
      return success();
    }
    Value place = takeSlot(b, ring);
    plan.copies.lookup(op)->write(b, ring.memory, place);
    rewriter.replaceOpWithMultiple(
        op, SmallVector<SmallVector<Value>>{{place}, {}});
    return success();
  }

  /// Where the next slot begins; and goes on to the one behind it.
  static Value takeSlot(ImplicitLocOpBuilder &b, const SharedRing &ring) {
    int64_t slots = ring.type.getSlots();
    if (slots == 1)
      return arith::ConstantIndexOp::create(b, 0);
    auto number = [&](int64_t value) -> Value {
      return arith::ConstantIntOp::create(b, value, 64);
    };
    Value now = memref::LoadOp::create(b, ring.next);
    Value later = arith::AddIOp::create(b, now, number(1));
    Value isEnd = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, later,
                                        number(slots));
    memref::StoreOp::create(
        b, arith::SelectOp::create(b, isEnd, number(0), later), ring.next);
    Value slot = arith::IndexCastOp::create(b, b.getIndexType(), now);
    return arith::MulIOp::create(
        b, slot, arith::ConstantIndexOp::create(b, ring.pitch()));
  }
};

struct ShareTake : RingPattern<tile::TakeOp> {
  using RingPattern::RingPattern;

  LogicalResult
  matchAndRewrite(tile::TakeOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value place = plan.rings.find(op.getRing())->second.phases->take(b);
    rewriter.replaceOpWithMultiple(op,
                                   SmallVector<SmallVector<Value>>{{place}});
    return success();
  }
};

struct ShareWait : RingPattern<tile::WaitOp> {
  using RingPattern::RingPattern;

  LogicalResult
  matchAndRewrite(tile::WaitOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (auto steps = plan.steps.find(op); steps != plan.steps.end()) {
      tile::ThreadWaitOp::create(rewriter, op.getLoc(), steps->second,
                                 /*steps=*/true);
    } else {
      // A unit sees what threads have written once they have waited, too.
      auto found = plan.pending.find(op);
      if (found != plan.pending.end() || plan.hasUnits)
        tile::ThreadWaitOp::create(
            rewriter, op.getLoc(),
            found != plan.pending.end() ? found->second : 0, /*steps=*/false);
      gpu::BarrierOp::create(rewriter, op.getLoc());
    }
    rewriter.eraseOp(op);
    return success();
  }
};

/// With two slots, the next wait stands between the last read and the next
/// write.
struct ShareRelease : RingPattern<tile::ReleaseOp> {
  using RingPattern::RingPattern;

  LogicalResult
  matchAndRewrite(tile::ReleaseOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (auto found = plan.joined.find(op); found != plan.joined.end()) {
      ImplicitLocOpBuilder b(op.getLoc(), rewriter);
      plan.rings.find(found->second)
          ->second.phases->release(b, adaptor.getSlot().front());
    } else if (plan.meets.contains(op))
      gpu::BarrierOp::create(rewriter, op.getLoc());
    rewriter.eraseOp(op);
    return success();
  }
};

struct ShareStep : RingPattern<tile::StepOp> {
  using RingPattern::RingPattern;

  LogicalResult
  matchAndRewrite(tile::StepOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> offsets[2] = {op.getAOffsets(), op.getBOffsets()};
    bool isUnits = bool(op.getAcc().getType().getFragment());
    auto operandOf = [&](unsigned i, Value before, ValueRange now) -> Value {
      auto found = plan.ringOf[i].find(op);
      if (found == plan.ringOf[i].end())
        return before;
      const SharedRing &ring = plan.rings.find(found->second)->second;
      if (isUnits)
        return tile::SlotOfOp::create(b, ring.type.getSlotType(), ring.memory,
                                      now.front());
      return viewOf(b, ring, now.front(), offsets[i]);
    };
    Value left = operandOf(0, op.getA(), adaptor.getA().front());
    Value right = operandOf(1, op.getB(), adaptor.getB().front());
    auto step = tile::StepOp::create(
        b, op.getAcc().getType(), /*token=*/Type(), op.getAcc(), left,
        offsets[0], right, offsets[1], op.getReduced(), op.getUnroll(),
        op.getAMap(), op.getBMap(), op.getAUnsigned(), op.getBUnsigned(),
        op.getGrouped(), op.getAhead());
    if (!op.getToken()) {
      rewriter.replaceOp(op, step.getResult());
      return success();
    }
    step->setAttr(simt::asynchronousAttrName, b.getUnitAttr());
    rewriter.replaceOpWithMultiple(
        op, SmallVector<SmallVector<Value>>{{step.getResult()}, {}});
    return success();
  }

  /// The slot as memory, from the offsets on, which are none afterwards.
  static Value viewOf(ImplicitLocOpBuilder &b, const SharedRing &ring,
                      Value place, SmallVectorImpl<Value> &offsets) {
    tile::SlotType slot = ring.type.getSlotType();
    SmallVector<int64_t> strides =
        slot.getLayout() ? slot.getLayout().getStrides(slot.getShape())
                         : slot.getView().getStridesAndOffset().first;
    auto index = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(b, value);
    };
    for (auto [offset, stride] : llvm::zip(offsets, strides))
      place = arith::AddIOp::create(
          b, place, arith::MulIOp::create(b, offset, index(stride)));
    offsets.clear();
    auto type = MemRefType::get(
        slot.getShape(), slot.getElementType(),
        StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, strides),
        cast<MemRefType>(ring.memory.getType()).getMemorySpace());
    return memref::ReinterpretCastOp::create(
        b, type, ring.memory, OpFoldResult(place),
        getAsIndexOpFoldResult(b.getContext(), slot.getShape()),
        getAsIndexOpFoldResult(b.getContext(), strides));
  }
};

class RingSharer {
public:
  RingSharer(Operation *kernel, const simt::Threads &threads,
             SmallVectorImpl<Attribute> &maps)
      : kernel(kernel), threads(threads), maps(maps) {}

  LogicalResult run() {
    dropWaits();
    SmallVector<tile::AllocOp> rings;
    kernel->walk([&](tile::AllocOp op) { rings.push_back(op); });
    if (rings.empty() &&
        !kernel->walk([](tile::WaitOp) { return WalkResult::interrupt(); })
             .wasInterrupted())
      return success();
    for (tile::AllocOp ring : rings)
      if (failed(makeMemory(ring)))
        return failure();
    joinRoles(rings);
    settleSteps();
    planReleases();
    if (failed(planBoxes()) || failed(planSteps()))
      return failure();
    planWaits();
    if (failed(convert()))
      return failure();
    for (tile::AllocOp ring : rings)
      ring.erase();
    return success();
  }

private:
  /// Where another wait follows and nothing reads in between, one barrier says
  /// what both do.
  void dropWaits() {
    SmallVector<tile::WaitOp> all;
    kernel->walk([&](tile::WaitOp op) { all.push_back(op); });
    for (tile::WaitOp wait : all) {
      SmallVector<Value> begun;
      for (Operation *op = wait->getNextNode(); op; op = op->getNextNode()) {
        auto next = dyn_cast<tile::WaitOp>(op);
        if (next && simt::isForSteps(next) == simt::isForSteps(wait)) {
          // The slot of a copy for later is one that was read before: the
          // barrier of this wait stands in front of it.
          if (!llvm::all_of(begun, [&](Value token) {
                return llvm::is_contained(next.getTokens(), token);
              }))
            break;
          next.getTokensMutable().append(wait.getTokens());
          wait.erase();
          break;
        }
        if (auto copy = dyn_cast<tile::CopyOp>(op))
          begun.push_back(copy.getToken());
        else if (op->getNumRegions() != 0 || !isMemoryEffectFree(op))
          break;
      }
    }
  }

  LogicalResult makeMemory(tile::AllocOp op) {
    ImplicitLocOpBuilder b(op.getLoc(), op);
    SharedRing ring = {Value(), Value(), op.getType()};
    tile::SlotType slot = ring.type.getSlotType();
    bool joinsRoles = llvm::any_of(op->getUsers(), llvm::IsaPred<tile::TakeOp>);
    for (Operation *user : op->getUsers()) {
      auto copy = dyn_cast<tile::CopyOp>(user);
      if (joinsRoles && isa<tile::TakeOp>(user))
        continue;
      if (!copy || !isa<MemRefType>(copy.getSource().getType()))
        return noteAt(user->emitOpError("expected copies from memory, of "
                                        "threads or of one role, and no second "
                                        "ring"),
                      op.getLoc(), "the ring is here");
    }
    IntegerAttr alignment;
    if (slot.getLayout() && !slot.getLayout().isStrided())
      alignment = b.getI64IntegerAttr(swizzledAlignment);
    ring.memory = memref::AllocOp::create(
        b,
        MemRefType::get({ring.type.getSlots() * ring.pitch()},
                        slot.getElementType(), MemRefLayoutAttrInterface(),
                        b.getI64IntegerAttr(simt::workgroupSpace)),
        alignment);
    if (joinsRoles) {
      int64_t sharers = 1;
      for (Operation *user : op->getUsers())
        if (auto copy = dyn_cast<tile::CopyOp>(user))
          sharers = countSharers(copy).value_or(1);
      ring.phases = std::make_shared<simt::PhaseRing>(b, ring.type, ring.memory,
                                                      sharers, threads);
      plan.rings[op] = ring;
      return success();
    }
    ring.next = memref::AllocOp::create(b, MemRefType::get({}, b.getI64Type()));
    memref::StoreOp::create(b, arith::ConstantIntOp::create(b, 0, 64),
                            ring.next);
    plan.rings[op] = ring;
    return success();
  }

  /// In front of roles one thread begins to count what their rings have, and
  /// ends it when all are done.
  void joinRoles(ArrayRef<tile::AllocOp> rings) {
    llvm::MapVector<Block *, SmallVector<tile::AllocOp>> joined;
    for (tile::AllocOp ring : rings)
      if (plan.rings[ring].phases)
        joined[ring->getBlock()].push_back(ring);
    for (auto &each : joined) {
      Block *block = each.first;
      SmallVector<tile::AllocOp> &own = each.second;
      auto byOne = [&](ImplicitLocOpBuilder &b, auto write) {
        Value isFirst =
            arith::CmpIOp::create(b, arith::CmpIPredicate::eq, threads.number,
                                  arith::ConstantIndexOp::create(b, 0));
        auto branch = scf::IfOp::create(b, isFirst, /*withElseRegion=*/false);
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(&branch.getThenRegion().front());
        for (tile::AllocOp ring : own)
          write(*plan.rings[ring].phases, b);
        return branch;
      };
      bool isShared = llvm::any_of(own, [&](tile::AllocOp ring) {
        return plan.rings[ring].phases->isShared();
      });
      ImplicitLocOpBuilder b(own.front().getLoc(), own.front());
      b.setInsertionPoint(firstBranch(own));
      auto mark = [&](Operation *op, StringRef when) {
        op->setAttr(simt::onceAttrName, b.getStringAttr(when));
      };
      auto branch = byOne(b, [](const simt::PhaseRing &ring,
                                ImplicitLocOpBuilder &b) { ring.begin(b); });
      mark(branch, "begin");
      {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPoint(branch.thenBlock()->getTerminator());
        tile::PhasePublishOp::create(b);
      }
      auto meet = [&]() -> Operation * {
        if (isShared)
          return tile::ClusterMeetOp::create(b);
        return gpu::BarrierOp::create(b);
      };
      mark(meet(), "begin");
      b.setInsertionPoint(block->getTerminator());
      auto met = dyn_cast_or_null<gpu::BarrierOp>(
          block->getTerminator()->getPrevNode());
      // Others may still say that they are done with what this one filled.
      mark(met && !isShared ? met : meet(), "end");
      if (met && isShared)
        met.erase();
      auto ended = byOne(b, [](const simt::PhaseRing &ring,
                               ImplicitLocOpBuilder &b) { ring.end(b); });
      mark(ended, "end");
    }
  }

  /// Of the roles that the rings join.
  static Operation *firstBranch(ArrayRef<tile::AllocOp> rings) {
    Block *block = rings.front()->getBlock();
    Operation *first = block->getTerminator();
    for (tile::AllocOp ring : rings)
      for (Operation *user : ring->getUsers())
        if (Operation *branch = block->findAncestorOpInBlock(*user);
            branch->isBeforeInBlock(first))
          first = branch;
    return first;
  }

  /// What copies of roles take, and the kernel's maps of it.
  LogicalResult planBoxes() {
    auto walked = kernel->walk([&](tile::CopyOp copy) -> WalkResult {
      if (!plan.rings[copy.getRing()].phases)
        return WalkResult::advance();
      TensorBox box;
      if (std::string why = whyNoBox(copy, box); !why.empty())
        return noteAt(copy.emitOpError("expected a box of a tensor, for a role "
                                       "that copies: ")
                          << why,
                      copy.getSource().getLoc(), "the source is here");
      plan.boxes[copy] = {box, simt::tensorMapOf(box, maps)};
      return WalkResult::advance();
    });
    return failure(walked.wasInterrupted());
  }

  /// What is read of sums behind the wait for their last steps is read from
  /// what that wait gives.
  void settleSteps() {
    SmallVector<tile::WaitOp> waits;
    kernel->walk([&](tile::WaitOp op) {
      if (simt::isForSteps(op))
        waits.push_back(op);
    });
    for (tile::WaitOp wait : waits) {
      auto isBehind = [&](OpOperand &use) {
        Operation *user =
            wait->getBlock()->findAncestorOpInBlock(*use.getOwner());
        return user && wait->isBeforeInBlock(user);
      };
      llvm::SetVector<Value> sums;
      for (Value token : wait.getTokens())
        if (auto result = dyn_cast<OpResult>(token))
          for (Value other : result.getOwner()->getResults())
            if (isa<tile::AccType>(other.getType()) &&
                llvm::any_of(other.getUses(), isBehind))
              sums.insert(other);
      // Nobody but steps in front of it has them.
      if (sums.empty())
        continue;
      OpBuilder b(wait->getContext());
      b.setInsertionPointAfter(wait);
      for (Value sum : sums) {
        auto settled = tile::SettleOp::create(b, wait.getLoc(), sum.getType(),
                                              sum, simt::stepsBehind(wait));
        sum.replaceUsesWithIf(settled.getResult(), [&](OpOperand &use) {
          return use.getOwner() != settled && isBehind(use);
        });
      }
      wait.erase();
    }
  }

  /// The rings that steps read; threads that multiply by themselves read by
  /// strides, and are done when they go on.
  LogicalResult planSteps() {
    auto walked = kernel->walk([&](tile::StepOp op) -> WalkResult {
      bool isUnits = bool(op.getAcc().getType().getFragment());
      plan.hasUnits |= isUnits;
      if (op.getToken() && !isUnits)
        return op.emitOpError("expected steps that end where they stand, for "
                              "threads that copy by themselves");
      const Value factors[] = {op.getA(), op.getB()};
      for (auto [i, operand] : llvm::enumerate(factors)) {
        auto slot = dyn_cast<tile::SlotType>(operand.getType());
        if (!slot)
          continue;
        if (!isUnits && !slot.getView())
          return noteAt(
              op.emitOpError("expected slots without a swizzle, for "
                             "threads that read by themselves, found ")
                  << slot,
              operand.getLoc(), "the slot is here");
        TypedValue<tile::RingType> ring = ringOf(operand);
        if (!ring)
          return noteAt(op.emitOpError("expected slots of one ring each"),
                        operand.getLoc(), "the slot is here");
        plan.ringOf[i][op] = ring;
      }
      return WalkResult::advance();
    });
    return failure(walked.wasInterrupted());
  }

  void planReleases() {
    kernel->walk([&](tile::ReleaseOp op) {
      TypedValue<tile::RingType> ring = ringOf(op.getSlot());
      if (ring && plan.rings[ring].phases)
        plan.joined[op] = ring;
      else if (!ring || ring.getType().getSlots() == 1)
        plan.meets.insert(op);
    });
  }

  void planWaits() {
    // Loops that are not changed yet say what divides a place.
    kernel->walk([&](tile::CopyOp copy) {
      if (!plan.boxes.contains(copy))
        plan.copies[copy] = std::make_shared<CopyWriter>(copy, threads);
    });
    auto isAsynchronous = [&](tile::CopyOp copy) {
      return plan.copies.contains(copy) &&
             plan.copies.lookup(copy)->isAsynchronous();
    };
    kernel->walk([&](tile::WaitOp op) {
      if (simt::isForSteps(op))
        plan.steps[op] = simt::stepsBehind(op);
      else if (std::optional<int64_t> pending =
                   simt::copiesBehind(op, isAsynchronous))
        plan.pending[op] = *pending;
    });
  }

  LogicalResult convert() {
    MLIRContext *context = kernel->getContext();
    TypeConverter converter;
    converter.addConversion([](Type type) { return type; });
    converter.addConversion([](tile::SlotType type) -> Type {
      return IndexType::get(type.getContext());
    });
    converter.addConversion(
        [](tile::TokenType, SmallVectorImpl<Type> &) { return success(); });
    RewritePatternSet patterns(context);
    patterns.add<ShareCopy, ShareTake, ShareWait, ShareRelease, ShareStep>(
        converter, context, plan, threads);
    ConversionTarget target(*context);
    target.addIllegalOp<tile::CopyOp, tile::TakeOp, tile::WaitOp,
                        tile::ReleaseOp>();
    target.addDynamicallyLegalOp<tile::StepOp>([](tile::StepOp op) {
      auto isPlace = [](Value operand) {
        return isa<MemRefType, tile::AccType>(operand.getType()) ||
               operand.getDefiningOp<tile::SlotOfOp>();
      };
      return !op.getToken() && isPlace(op.getA()) && isPlace(op.getB());
    });
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                         target);
    return applyPartialConversion(kernel, target, std::move(patterns));
  }

  Operation *kernel;
  const simt::Threads &threads;
  SmallVectorImpl<Attribute> &maps;
  Plan plan;
};
} // namespace

LogicalResult ashlar::simt::shareRings(Operation *kernel,
                                       const Threads &threads,
                                       SmallVectorImpl<Attribute> &maps) {
  return RingSharer(kernel, threads, maps).run();
}
