// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "AllocateTiles.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::cpu;

static TileShape shapeOf(Value matrix) {
  auto type = cast<tile::MatrixType>(matrix.getType());
  return {type.getRows(), type.getColumns() *
                              type.getElementType().getIntOrFloatBitWidth() /
                              8};
}

static bool isMatrix(Value value) {
  return isa<tile::MatrixType>(value.getType());
}

/// A sum is changed where it is, so each needs a zero of its own; equal ones
/// have become one.
static void separateZeros(func::FuncOp kernel) {
  SmallVector<tile::MatrixZeroOp> zeros;
  kernel.walk([&](tile::MatrixZeroOp op) { zeros.push_back(op); });
  for (tile::MatrixZeroOp zero : zeros) {
    for (OpOperand &use : llvm::make_early_inc_range(zero->getUses()))
      use.set(OpBuilder(use.getOwner()).clone(*zero)->getResult(0));
    zero.erase();
  }
}

namespace {
/// Matrices that are one after the other in one register, from the first's
/// making to the last's use. Operations are numbered in the order in which
/// they stand.
struct Lifetime {
  TileShape shape;
  unsigned begin = ~0u, end = 0;
  unsigned made = 0; ///< zeros and loads that it begins with: one
  SmallVector<Value> values;
};

class TileAllocator {
public:
  TileAllocator(func::FuncOp kernel, std::string &why)
      : kernel(kernel), why(why) {}

  FailureOr<TileAllocation> run() && {
    number();
    if (failed(findLifetimes()))
      return failure();
    for (size_t first = 0; first != lifetimes.size();) {
      // Whatever overlaps is configured together.
      unsigned end = lifetimes[first].end;
      size_t last = first + 1;
      for (; last != lifetimes.size() && lifetimes[last].begin <= end; ++last)
        end = std::max(end, lifetimes[last].end);
      if (failed(allocate(ArrayRef(lifetimes).slice(first, last - first))))
        return failure();
      first = last;
    }
    hoistConfigurations();
    return std::move(result);
  }

private:
  void number() {
    kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
      numbers[op] = operations.size();
      operations.push_back(op);
    });
  }
  /// The number of the last operation inside `op`.
  unsigned endOf(Operation *op) {
    unsigned end = numbers[op];
    op->walk([&](Operation *inner) { end = std::max(end, numbers[inner]); });
    return end;
  }

  /// A loop's sums go through its operands, arguments and results.
  LogicalResult join() {
    WalkResult walked = kernel.walk([&](Operation *op) {
      if (auto loop = dyn_cast<scf::ForOp>(op)) {
        for (auto [init, argument, yielded, result] :
             llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs(),
                       loop.getYieldedValues(), loop.getResults()))
          if (isMatrix(init)) {
            if (!init.hasOneUse()) {
              why = "a loop begins with a sum that is read elsewhere";
              return WalkResult::interrupt();
            }
            classes.unionSets(init, argument);
            classes.unionSets(argument, yielded);
            classes.unionSets(yielded, result);
          }
      } else if (auto product = dyn_cast<tile::MatrixMultiplyOp>(op)) {
        if (!product.getAcc().hasOneUse()) {
          why = "a sum is read after it has been added to";
          return WalkResult::interrupt();
        }
        classes.unionSets(product.getAcc(), product.getResult());
        classes.insert(product.getA());
        classes.insert(product.getB());
      } else if (!isa<tile::MatrixZeroOp, tile::MatrixLoadOp,
                      tile::MatrixStoreOp, scf::YieldOp>(op) &&
                 (llvm::any_of(op->getOperands(), isMatrix) ||
                  llvm::any_of(op->getResults(), isMatrix))) {
        why = "matrices pass through '" + op->getName().getStringRef().str() +
              "'";
        return WalkResult::interrupt();
      } else {
        for (Value value : op->getResults())
          if (isMatrix(value))
            classes.insert(value);
      }
      return WalkResult::advance();
    });
    return failure(walked.wasInterrupted());
  }

  LogicalResult findLifetimes() {
    if (failed(join()))
      return failure();
    llvm::MapVector<Value, Lifetime> found;
    auto add = [&](Value value) {
      if (!isMatrix(value))
        return;
      Lifetime &lifetime = found[classes.getLeaderValue(value)];
      if (isa_and_present<tile::MatrixZeroOp, tile::MatrixLoadOp>(
              value.getDefiningOp()))
        ++lifetime.made;
      lifetime.shape = shapeOf(value);
      lifetime.values.push_back(value);
      Operation *made = value.getDefiningOp();
      if (!made)
        made = value.getParentBlock()->getParentOp();
      lifetime.begin = std::min(lifetime.begin, numbers[made]);
      lifetime.end = std::max(lifetime.end, numbers[made]);
      for (Operation *user : value.getUsers()) {
        // What a loop reads from outside it is read to its end.
        Operation *there = value.getParentBlock()->findAncestorOpInBlock(*user);
        lifetime.end = std::max(lifetime.end,
                                there == user ? numbers[user] : endOf(there));
      }
    };
    for (Operation *op : operations) {
      llvm::for_each(op->getResults(), add);
      for (Region &region : op->getRegions())
        for (Block &block : region)
          llvm::for_each(block.getArguments(), add);
    }
    for (auto &[leader, lifetime] : found) {
      // Such as sums that change places from one round of a loop to the next.
      if (lifetime.made != 1) {
        why = "one matrix takes another's place";
        return failure();
      }
      lifetimes.push_back(std::move(lifetime));
    }
    llvm::stable_sort(lifetimes, [](const Lifetime &x, const Lifetime &y) {
      return x.begin < y.begin;
    });
    return success();
  }

  /// Gives each of `together` a register, which keeps its shape for all of
  /// them. As long as there are unused registers they are taken: what is
  /// loaded next need not wait for what is read.
  LogicalResult allocate(ArrayRef<Lifetime> together) {
    Operation *before = operations[together.front().begin];
    for (const Lifetime &lifetime : together)
      if (!before->getBlock()->findAncestorOpInBlock(
              *operations[lifetime.begin])) {
        why = "matrices live from inside a loop to behind it";
        return failure();
      }
    for (bool spread : {true, false}) {
      TileConfiguration configuration;
      std::array<unsigned, numTiles> busyTo = {};
      SmallVector<unsigned> taken;
      for (const Lifetime &lifetime : together) {
        std::optional<unsigned> best;
        for (unsigned i = 0; i != numTiles; ++i) {
          bool isUnused = configuration[i] == TileShape();
          bool isFree = isUnused || (configuration[i] == lifetime.shape &&
                                     busyTo[i] < lifetime.begin);
          if (!isFree)
            continue;
          // Of the used ones the one that has been free for longest.
          auto rank = [&](unsigned tile) {
            bool unused = configuration[tile] == TileShape();
            return std::pair(unused != spread, unused ? tile : busyTo[tile]);
          };
          if (!best || rank(i) < rank(*best))
            best = i;
        }
        if (!best)
          break;
        configuration[*best] = lifetime.shape;
        busyTo[*best] = lifetime.end;
        taken.push_back(*best);
      }
      if (taken.size() != together.size())
        continue;
      for (auto [lifetime, tile] : llvm::zip(together, taken))
        for (Value value : lifetime.values)
          result.registers[value] = tile;
      result.places.push_back({before, configuration});
      return success();
    }
    why = "the shapes of one box of sums take more than " +
          std::to_string(numTiles) + " tile registers";
    return failure();
  }

  /// A loop in which all is configured alike is entered configured, and what
  /// follows in a block what is configured alike is not configured again.
  void hoistConfigurations() {
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t i = 0; i != result.places.size() && !changed; ++i) {
        auto loop = dyn_cast<scf::ForOp>(result.places[i].first->getParentOp());
        if (!loop)
          continue;
        auto isInside = [&](const auto &place) {
          return loop->isProperAncestor(place.first);
        };
        if (llvm::any_of(result.places, [&](const auto &place) {
              return isInside(place) && place.second != result.places[i].second;
            }))
          continue;
        result.places[i].first = loop;
        llvm::erase_if(result.places, isInside);
        changed = true;
      }
    }
    // In the order of `operations`; between two places of one block there is
    // no other in a loop, or it would be a place between them.
    llvm::stable_sort(result.places, [&](const auto &x, const auto &y) {
      return numbers[x.first] < numbers[y.first];
    });
    for (size_t i = result.places.size(); i-- > 1;)
      if (result.places[i].first->getBlock() ==
              result.places[i - 1].first->getBlock() &&
          result.places[i].second == result.places[i - 1].second)
        result.places.erase(result.places.begin() + i);
  }

  func::FuncOp kernel;
  std::string &why;
  TileAllocation result;
  DenseMap<Operation *, unsigned> numbers;
  SmallVector<Operation *> operations;
  llvm::EquivalenceClasses<Value> classes;
  SmallVector<Lifetime> lifetimes; ///< by where they begin
};
} // namespace

FailureOr<TileAllocation> cpu::allocateTiles(func::FuncOp kernel,
                                             std::string &why) {
  separateZeros(kernel);
  return TileAllocator(kernel, why).run();
}
