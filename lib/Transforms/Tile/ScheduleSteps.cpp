// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lets steps go on while later ones begin: what they read is given back some
// iterations later.
#include "CopiesAhead.h"
#include "StepsBehind.h"
#include "ashlar/Transforms/Tile/Carried.h"
#include "ashlar/Transforms/Tile/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_SCHEDULESTEPSPASS
#include "ashlar/Transforms/Tile/Passes.h.inc"
} // namespace ashlar

namespace {
/// A loop whose sums nothing but its steps uses.
class StepScheduler {
public:
  StepScheduler(scf::ForOp loop, int64_t inFlight)
      : loop(loop), inFlight(inFlight) {}

  /// Whether there are any, and none has been told when to be waited for.
  bool hasSteps() {
    auto steps = loop.getBody()->getOps<tile::StepOp>();
    return !steps.empty() &&
           llvm::none_of(steps, [](tile::StepOp op) { return op.getToken(); });
  }

  /// Empty: they may go on.
  std::string whyNot() {
    if (std::string why = whyNotBehind(loop); !why.empty())
      return why;
    if (tripsOf(loop) <= inFlight)
      return "the loop goes round no more often than steps may be in flight";
    return whyNoSlots();
  }

  void run() {
    SmallVector<Operation *> later = beginSteps(loop);
    scf::PipeliningOption options;
    options.getScheduleFn =
        [&](scf::ForOp own,
            std::vector<std::pair<Operation *, unsigned>> &all) {
          if (own != loop)
            return;
          for (bool isLater : {false, true})
            for (Operation &op : own.getBody()->without_terminator())
              if (llvm::is_contained(later, &op) == isLater)
                all.emplace_back(&op, isLater ? unsigned(inFlight) : 0);
        };
    IRRewriter rewriter(loop.getContext());
    rewriter.setInsertionPoint(loop);
    if (failed(scf::pipelineForLoop(rewriter, loop, options)))
      loop.emitRemark("steps do not go on behind others: upstream's pipelining "
                      "does not take the loop");
  }

private:
  /// Each ring holds what an iteration takes, in loops of its own as well, what
  /// the loop carries, and what is given back later.
  std::string whyNoSlots() {
    llvm::MapVector<Value, int64_t> taken, released;
    for (Value carried : loop.getInitArgs())
      if (isa<tile::SlotType>(carried.getType()))
        ++taken[ringOf(carried)];
    loop.getBody()->walk([&](Operation *op) {
      if (isa<tile::CopyOp, tile::TakeOp>(op))
        ++taken[ringOf(op->getResult(0))];
    });
    for (tile::ReleaseOp release : loop.getBody()->getOps<tile::ReleaseOp>())
      ++released[ringOf(release.getSlot())];
    for (auto [ring, count] : released) {
      if (!ring)
        return "the ring of a slot is not known";
      int64_t slots = cast<tile::RingType>(ring.getType()).getSlots();
      if (taken.lookup(ring) + count * inFlight > slots)
        return "the ring has " + std::to_string(slots) +
               " slots, and steps in flight would hold " +
               std::to_string(taken.lookup(ring) + count * inFlight);
    }
    return "";
  }

  scf::ForOp loop;
  int64_t inFlight;
};

struct ScheduleSteps : ashlar::impl::ScheduleStepsPassBase<ScheduleSteps> {
  using ScheduleStepsPassBase::ScheduleStepsPassBase;

  void runOnOperation() override {
    if (inFlight < 0) {
      getOperation().emitError("expected 'in-flight' of 0 or more, found ")
          << inFlight.getValue();
      return signalPassFailure();
    }
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops) {
      int64_t own = inFlight;
      if (own == 0 && loop->getParentOfType<tile::RoleOp>())
        own = stepsInFlight(loop);
      StepScheduler scheduler(loop, own);
      if (own == 0 || !scheduler.hasSteps())
        continue;
      if (std::string why = scheduler.whyNot(); !why.empty())
        loop.emitRemark("steps do not go on behind others: ") << why;
      else
        scheduler.run();
    }
  }
};
} // namespace
