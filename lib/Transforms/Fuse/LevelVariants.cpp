// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LevelVariants.h"
#include "AlignRows.h"
#include "DecodeOperand.h"
#include "ExchangeSides.h"
#include "PackOperand.h"
#include "SplitTerms.h"
#include "TermsInside.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Machine/MainMemory.h"
#include "ashlar/Support/Remarks.h"

using namespace mlir;
using namespace ashlar;

namespace {
/// A contraction, and what its operands or sums go through beside it.
struct Variant {
  tile::ContractOp op;
  Value result;          ///< what stands for that of the first contraction;
                         ///< null: this is the first
  double beside = 0;     ///< cycles; below 0: it needs no kernel that others do
  StringRef remark = ""; ///< what it does; none: nothing
  /// Nothing is copied, and a unit reads its operands with fewer loads.
  bool isFree = false;
  bool isExchanged = false; ///< its rows are what were columns
  std::optional<LevelChoice> choice = std::nullopt;

  double cycles() const { return choice->prediction.cycles() + beside; }
  /// Of two that wait for the same memory, exchanged sides are better if they
  /// have less to do.
  bool isBetterThan(const Variant &other) const {
    if (!other.choice || cycles() != other.cycles())
      return !other.choice || cycles() < other.cycles();
    return isFree || (isExchanged && choice->prediction.boxes <
                                         other.choice->prediction.boxes);
  }
};

std::string textOf(tile::StrategyAttr strategy) {
  std::string text;
  llvm::raw_string_ostream(text) << strategy;
  return text;
}

/// Sums that a thread of a group with fragments holds, else 0.
int64_t sumsOf(tile::StrategyAttr strategy) {
  auto fragment = strategy.getHints().getAs<tile::FragmentAttr>("fragment");
  if (!fragment || strategy.getLevels().empty())
    return 0;
  int64_t sums = 1;
  for (int64_t size : strategy.getLevels().back().getParallel())
    sums *= std::max<int64_t>(size, 1);
  return sums / fragment.getThreads();
}

/// What made values, if nothing else reads them, and what was for that alone.
void erase(ValueRange values) {
  llvm::SetVector<Operation *> unread;
  auto insert = [&](ValueRange read) {
    for (Value value : read)
      if (Operation *made = value.getDefiningOp();
          made && isOpTriviallyDead(made))
        unread.insert(made);
  };
  insert(values);
  while (!unread.empty()) {
    Operation *next = unread.pop_back_val();
    SmallVector<Value> read(next->getOperands());
    next->erase();
    insert(read);
  }
}

class VariantChooser {
public:
  VariantChooser(tile::ContractOp op, const MachineModel &machine,
                 bool openSizes, bool isFixed, RefusedStrategies &refused)
      : op(op), machine(machine), openSizes(openSizes), refused(refused),
        // Other machines copy and share out by means of their own. On buffers,
        // nothing can be put beside it.
        hasVariants(!isFixed && !openSizes && machine.countOf("lane") != 0 &&
                    op->getNumResults() == 1) {}

  Variant run() {
    mayExchange = hasVariants && hasFewRows(op, machine);
    if (hasVariants) {
      addDecoded();
      addCopied(alignRows, "its operands have rows that an engine copies");
      addCopied(bringTermsInside,
                "its operands' terms lie side by side, as a unit reads them",
                /*isFree=*/true);
    }
    // Not before others have seen where a constant lay.
    if (machine.vectors.bytes != 0 && !hasNeighbours(op))
      packRows(op);
    if (mayExchange)
      addExchanged([&] { return copyOf(op); });
    Variant best = {op, Value()};
    best.choice = choose(op);
    if (hasVariants && best.choice && leavesWorkersIdle(*best.choice))
      addSplit();
    for (Variant &other : others) {
      other.choice = choose(other.op);
      if (other.choice && other.isBetterThan(best))
        std::swap(best, other);
    }
    for (Variant &other : others)
      if (other.result)
        erase(other.result);
    return best;
  }

private:
  std::optional<LevelChoice> choose(tile::ContractOp one) {
    Location at = op.getLoc();
    RefusedStrategies::Form form;
    if (!refused.isEmpty())
      form = RefusedStrategies::formOf(one, openSizes);
    auto isRefused = [&](tile::StrategyAttr strategy) {
      return !form.empty() &&
             refused.contains(at, textOf(strategy), sumsOf(strategy), form);
    };
    return chooseLevels(one, machine, openSizes, isRefused, &refused.known);
  }

  /// Whether columns or terms of b lie side by side.
  static bool hasNeighbours(tile::ContractOp op) {
    AffineMap map = op.getBMap();
    if (map.getNumResults() == 0 || op.getReduced().empty())
      return true;
    auto last = dyn_cast<AffineDimExpr>(map.getResults().back());
    return last && (last.getPosition() + 1 == op.getParallel().size() ||
                    last.getPosition() + 1 == map.getNumDims());
  }

  /// The contraction once more.
  static Variant copyOf(tile::ContractOp op) {
    auto trial = cast<tile::ContractOp>(OpBuilder(op).clone(*op));
    return {trial, trial.getResult(0)};
  }

  using Make = llvm::function_ref<std::optional<Variant>()>;

  /// What is made, and, where it has few rows, another with sides exchanged.
  void add(Make make) {
    std::optional<Variant> one = make();
    if (!one)
      return;
    others.push_back(*one);
    if (mayExchange)
      addExchanged(make);
  }

  void addExchanged(Make make) {
    Variant one = *make();
    bool isResult = one.op.getResult(0) == one.result;
    std::optional<tile::ContractOp> exchanged = exchangeSides(one.op);
    if (!exchanged)
      return erase(one.result);
    one.op = *exchanged;
    if (isResult)
      one.result = exchanged->getResult(0);
    one.isExchanged = true;
    others.push_back(one);
  }

  /// One with an operand that is computed by who copies it to a unit.
  void addDecoded() {
    add([&]() -> std::optional<Variant> {
      Variant one = copyOf(op);
      std::optional<int64_t> saved = decodeOperand(one.op);
      if (!saved) {
        erase(one.result);
        return std::nullopt;
      }
      one.beside = -cyclesOf(*saved, 1);
      one.remark = "an operand is computed while it is copied, and is never in "
                   "memory as a whole";
      return one;
    });
  }

  /// One whose operands are copied first, or stored otherwise; the latter is
  /// taken where it is no slower and `isFree`.
  void
  addCopied(llvm::function_ref<std::optional<RowCopies>(tile::ContractOp,
                                                        const MachineModel &)>
                copy,
            StringRef remark, bool isFree = false) {
    add([&]() -> std::optional<Variant> {
      Variant one = copyOf(op);
      std::optional<RowCopies> copies = copy(one.op, machine);
      if (!copies) {
        erase(one.result);
        return std::nullopt;
      }
      one.beside = cyclesOf(copies->bytes, copies->kernels);
      one.remark = remark;
      one.isFree = isFree && copies->kernels == 0;
      return one;
    });
  }

  /// Whether there are fewer parts than twice as many as run at once.
  bool leavesWorkersIdle(const LevelChoice &choice) {
    return machine.workers.count > 1 &&
           choice.prediction.groups < 2 * machine.workers.count;
  }

  /// Terms among several parts, each of which has enough of them.
  void addSplit() {
    constexpr int64_t leastTerms = 256, mostWhole = 8;
    int64_t terms = ShapedType::getNumElements(op.getReduced());
    for (auto [i, size] : llvm::enumerate(op.getReduced())) {
      unsigned dim = op.getParallel().size() + i;
      if (size > 1 && size <= mostWhole && terms / size >= leastTerms)
        addSplit(dim, size);
      for (int64_t parts = 2; parts <= 16; parts *= 2)
        if (size % parts == 0 && size / parts >= leastTerms)
          addSplit(dim, parts);
    }
  }

  void addSplit(unsigned dim, int64_t parts) {
    for (bool decodes : {false, true})
      add([&]() -> std::optional<Variant> {
        std::optional<TermParts> split = splitTerms(op, dim, parts);
        if (!split)
          return std::nullopt;
        std::optional<int64_t> saved;
        if (decodes && !(saved = decodeOperand(split->op))) {
          erase(split->result);
          return std::nullopt;
        }
        int64_t bytes = byteSize(split->op.getInit().getType()) +
                        byteSize(op.getInit().getType());
        return Variant{split->op, split->result,
                       cyclesOf(bytes, 1) - (saved ? cyclesOf(*saved, 1) : 0),
                       decodes ? "an operand is computed while it is copied, "
                                 "and its terms are shared out among several "
                                 "parts, whose sums a kernel of its own adds"
                               : "its terms are shared out among several "
                                 "parts, whose sums a kernel of its own adds"};
      });
  }

  /// Of kernels that do nothing but read and write so many bytes.
  double cyclesOf(int64_t bytes, int64_t kernels) {
    return double(bytes) / mainBytesPerCycle(machine) +
           double(kernels) * machine.costs.launchNs * machine.clock.hz / 1e9;
  }

  tile::ContractOp op;
  const MachineModel &machine;
  bool openSizes;
  RefusedStrategies &refused;
  bool hasVariants, mayExchange = false;
  SmallVector<Variant, 2> others;
};
} // namespace

std::optional<LevelChoice>
ashlar::chooseLevelsOfVariants(tile::ContractOp &op,
                               const MachineModel &machine, bool openSizes,
                               bool isFixed, RefusedStrategies &refused) {
  Variant best = VariantChooser(op, machine, openSizes, isFixed, refused).run();
  if (best.choice)
    refused.note(op.getLoc(), textOf(best.choice->strategy),
                 sumsOf(best.choice->strategy),
                 RefusedStrategies::formOf(best.op, openSizes));
  if (best.op == op)
    return best.choice;
  if (wantsRemarks(op)) {
    std::string said = best.remark.str();
    if (best.isExchanged)
      said += std::string(said.empty() ? "" : "; ") +
              "its columns are a unit's rows, and its few rows the columns";
    remark::passed(op.getLoc(), about(op, "Variant", "strategy"))
        << said << ", for "
        << remark::metric("BesideCycles", int64_t(best.beside)) << " cycles";
  }
  op.getResult(0).replaceAllUsesWith(best.result);
  SmallVector<Value> read(op->getOperands());
  op.erase();
  erase(read);
  op = best.op;
  return best.choice;
}

std::optional<LevelChoice>
ashlar::tryLevelsOfVariants(tile::ContractOp op, const MachineModel &machine,
                            RefusedStrategies &refused) {
  Variant best = VariantChooser(op, machine, /*openSizes=*/false,
                                /*isFixed=*/false, refused)
                     .run();
  if (best.result)
    erase(best.result);
  erase(op.getResult(0));
  return best.choice;
}
