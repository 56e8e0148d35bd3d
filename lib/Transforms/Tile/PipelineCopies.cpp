// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lets the copies of later iterations begin before an iteration computes, where
// one group of threads does both.
#include "CopiesAhead.h"
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

void pipeline(const Candidate &candidate) {
  scf::ForOp loop = candidate.loop;
  // A slot for each copy that has begun, and one that is read.
  int64_t ahead = tripsOf(loop) - 1;
  llvm::SetVector<Operation *> first;
  for (tile::CopyOp copy : candidate.copies) {
    ahead = std::min(ahead, copy.getRing().getType().getSlots() - 1);
    if (std::string why = whyNotAhead(copy, loop, {}, first); !why.empty()) {
      copy.emitRemark("does not run ahead: ") << why;
      return;
    }
    first.insert(copy);
  }
  if (ahead < 1)
    return;
  scf::PipeliningOption options;
  options.getScheduleFn =
      [&](scf::ForOp own, std::vector<std::pair<Operation *, unsigned>> &all) {
        if (own != loop)
          return;
        for (bool isFirst : {true, false})
          for (Operation &op : own.getBody()->without_terminator())
            if (first.contains(&op) == isFirst)
              all.emplace_back(&op, isFirst ? 0 : unsigned(ahead));
      };
  IRRewriter rewriter(loop.getContext());
  rewriter.setInsertionPoint(loop);
  (void)scf::pipelineForLoop(rewriter, loop, options);
}

struct PipelineCopies : ashlar::impl::PipelineCopiesPassBase<PipelineCopies> {
  void runOnOperation() override {
    // The loops inside come first: those around them are written out with them.
    SmallVector<Candidate> candidates;
    getOperation().walk([&](scf::ForOp loop) {
      Candidate candidate{loop, {}};
      for (auto copy : loop.getBody()->getOps<tile::CopyOp>())
        if (copy.getRing().getType().getSlots() >= 2)
          candidate.copies.push_back(copy);
      if (!candidate.copies.empty())
        candidates.push_back(std::move(candidate));
    });
    llvm::for_each(candidates, pipeline);
  }
};
} // namespace
