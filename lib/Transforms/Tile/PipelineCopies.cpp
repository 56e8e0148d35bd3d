// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lets the copies of later iterations begin before an iteration computes, where
// one group of threads does both.
#include "CopiesAhead.h"
#include "StepsBehind.h"
#include "ashlar/Dialects/Tile/IR/Decode.h"
#include "ashlar/Transforms/Tile/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_PIPELINECOPIESPASS
#include "ashlar/Transforms/Tile/Passes.h.inc"
} // namespace ashlar

namespace {
/// A loop with the copies of its own body, as they were found.
struct Candidate {
  scf::ForOp loop;
  SmallVector<tile::CopyOp> copies;
};

/// Whether all that `wait` waits for is in `first`.
bool waitsFor(Operation &op, const llvm::SetVector<Operation *> &first) {
  auto wait = dyn_cast<tile::WaitOp>(op);
  return wait && llvm::all_of(wait.getTokens(), [&](Value token) {
           return token.getDefiningOp() &&
                  first.contains(token.getDefiningOp());
         });
}

/// `byThreads`: a copy writes at once, so a slot is taken behind the wait of an
/// iteration, where all have read it; and steps go on as far as they can.
void pipeline(const Candidate &candidate, bool byThreads) {
  scf::ForOp loop = candidate.loop;
  int64_t behind = byThreads ? stepsInFlight(loop) : 0;
  if (behind != 0)
    if (std::string why = whyNotBehind(loop); !why.empty()) {
      loop.emitRemark("steps do not go on behind others: ") << why;
      behind = 0;
    }
  // A slot for each copy that has begun, and those that steps read.
  int64_t ahead = tripsOf(loop) - 1 - behind;
  llvm::SetVector<Operation *> first;
  for (tile::CopyOp copy : candidate.copies) {
    ahead = std::min(ahead, copy.getRing().getType().getSlots() - 1 - behind);
    if (std::string why = whyNotAhead(copy, loop, {}, first); !why.empty()) {
      copy.emitRemark("does not run ahead: ") << why;
      return;
    }
    first.insert(copy);
  }
  if (ahead < 1)
    return;
  SmallVector<Operation *> last;
  if (behind != 0)
    last = beginSteps(loop);
  scf::PipeliningOption options;
  options.getScheduleFn =
      [&](scf::ForOp own, std::vector<std::pair<Operation *, unsigned>> &all) {
        if (own != loop)
          return;
        auto turnOf = [&](Operation &op) {
          return llvm::is_contained(last, &op)      ? 3
                 : first.contains(&op)              ? 1
                 : byThreads && waitsFor(op, first) ? 0
                                                    : 2;
        };
        int64_t stages[] = {ahead, 0, ahead, ahead + behind};
        for (int turn : {0, 1, 2, 3})
          for (Operation &op : own.getBody()->without_terminator())
            if (turnOf(op) == turn)
              all.emplace_back(&op, unsigned(stages[turn]));
      };
  IRRewriter rewriter(loop.getContext());
  rewriter.setInsertionPoint(loop);
  if (failed(scf::pipelineForLoop(rewriter, loop, options)))
    loop.emitRemark("copies do not run ahead: upstream's pipelining does not "
                    "take the loop");
}

struct PipelineCopies : ashlar::impl::PipelineCopiesPassBase<PipelineCopies> {
  using PipelineCopiesPassBase::PipelineCopiesPassBase;

  static bool isComputed(tile::CopyOp copy) {
    tile::DecodeOp decode = tile::decodeOf(copy.getSource());
    return decode && !decode.getMargins();
  }

  bool takes(tile::CopyOp copy) {
    std::optional<StringRef> engine = copy.getEngine();
    // What the loop itself passes on to its next iteration is ahead already.
    return llvm::all_of(
               copy.getToken().getUsers(),
               [](Operation *user) { return !isa<scf::YieldOp>(user); }) &&
           copy.getRing().getType().getSlots() >= 2 &&
           (engines.empty() || isComputed(copy) ||
            (engine && llvm::is_contained(engines, engine->str())));
  }

  void runOnOperation() override {
    // The loops inside come first: those around them are written out with them.
    SmallVector<Candidate> candidates;
    getOperation().walk([&](scf::ForOp loop) {
      Candidate candidate{loop, {}};
      for (auto copy : loop.getBody()->getOps<tile::CopyOp>())
        if (takes(copy))
          candidate.copies.push_back(copy);
      if (!candidate.copies.empty())
        candidates.push_back(std::move(candidate));
    });
    for (const Candidate &candidate : candidates)
      pipeline(candidate, /*byThreads=*/!engines.empty());
  }
};
} // namespace
