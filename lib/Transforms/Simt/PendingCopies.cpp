// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "PendingCopies.h"
#include "ashlar/Transforms/Tile/Carried.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace ashlar;

bool simt::isForSteps(tile::WaitOp wait) {
  return llvm::any_of(wait.getTokens(), [](Value token) {
    return isa_and_nonnull<tile::StepOp>(originOf(token).getDefiningOp());
  });
}

namespace {
/// Counts what is begun between two places of a program.
class Counter {
public:
  using Counts = llvm::function_ref<bool(Operation &)>;
  explicit Counter(Counts counts) : counts(counts) {}

  /// From where `token` was begun to `at`, at least.
  int64_t behind(Value token, Operation *at) {
    unsigned number;
    scf::ForOp loop = loopCarrying(token, number);
    if (!loop) {
      Operation *begun = token.getDefiningOp();
      Operation *last = begun->getBlock()->findAncestorOpInBlock(*at);
      return last ? between(begun->getNextNode(), last) : 0;
    }
    if (isa<OpResult>(token)) {
      Operation *last = loop->getBlock()->findAncestorOpInBlock(*at);
      if (!last)
        return 0;
      return behind(loop.getYieldedValues()[number],
                    loop.getBody()->getTerminator()) +
             between(loop->getNextNode(), last);
    }
    // From the iteration before, or from in front of the loop.
    if (!visited.insert(token).second)
      return 0;
    Operation *first = loop.getBody()->findAncestorOpInBlock(*at);
    int64_t inside = between(&loop.getBody()->front(), first);
    int64_t before = behind(loop.getYieldedValues()[number],
                            loop.getBody()->getTerminator());
    int64_t outside = behind(loop.getInitArgs()[number], loop);
    visited.erase(token);
    return inside + std::min(before, outside);
  }

private:
  /// In one block, from `first` on, without `last`.
  int64_t between(Operation *first, Operation *last) {
    int64_t count = 0;
    for (Operation *op = first; op && op != last; op = op->getNextNode())
      count += counts(*op);
    return count;
  }

  Counts counts;
  llvm::DenseSet<Value> visited;
};
} // namespace

std::optional<int64_t>
simt::copiesBehind(tile::WaitOp wait,
                   llvm::function_ref<bool(tile::CopyOp)> counts) {
  auto counted = [&](Operation &op) {
    auto copy = dyn_cast<tile::CopyOp>(op);
    return copy && counts(copy);
  };
  std::optional<int64_t> least;
  for (Value token : wait.getTokens()) {
    Operation *begun = originOf(token).getDefiningOp();
    if (!begun || !counted(*begun))
      continue;
    int64_t own = Counter(counted).behind(token, wait);
    least = std::min(least.value_or(own), own);
  }
  return least;
}

int64_t simt::stepsBehind(tile::WaitOp wait) {
  auto counted = [](Operation &op) {
    auto step = dyn_cast<tile::StepOp>(op);
    return step && step.getToken();
  };
  std::optional<int64_t> least;
  for (Value token : wait.getTokens()) {
    int64_t own = Counter(counted).behind(token, wait);
    least = std::min(least.value_or(own), own);
  }
  return least.value_or(0);
}
