// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Cost/ChooseLevels.h"
#include "LevelProblem.h"
#include "TileSearch.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Analysis/RingBytes.h"
#include "ashlar/Cost/KnownLevels.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace ashlar;

/// Whether the verifier takes it.
static bool fits(tile::ContractOp op, tile::StrategyAttr strategy) {
  ScopedDiagnosticHandler quiet(op.getContext(),
                                [](Diagnostic &) { return success(); });
  tile::StrategyAttr before = op.getStrategyAttr();
  op.setStrategyAttr(strategy);
  bool taken = succeeded(op.verifyStrategy());
  if (before)
    op.setStrategyAttr(before);
  else
    op.removeStrategyAttr();
  return taken;
}

namespace {
class LevelChooser : public LevelProblem, private TileSearch {
public:
  using IsRefused = llvm::function_ref<bool(tile::StrategyAttr)>;
  LevelChooser(tile::ContractOp op, const MachineModel &machine, bool openSizes,
               IsRefused isRefused)
      : LevelProblem(op, machine, openSizes), isRefused(isRefused) {}

  /// The best of what each unit makes possible.
  std::optional<LevelChoice> run() {
    search();
    return best;
  }

private:
  /// Of two that wait for the same memory, that which has less to do is better.
  std::pair<double, double> timeOf(const LevelCandidate &one) {
    return {one.cycles, group->registerBytes ? one.prediction.boxes : 0.0};
  }

  using Timed = std::pair<LevelChoice, std::pair<double, double>>;

  /// The fastest that can be had, of equals the first. Few are looked at
  /// before it is found, so that they are not sorted.
  std::optional<Timed> chooseCandidate() {
    std::vector<size_t> left(candidates.size());
    std::iota(left.begin(), left.end(), size_t(0));
    auto isLater = [&](size_t x, size_t y) {
      return std::pair(timeOf(candidates[x]), x) >
             std::pair(timeOf(candidates[y]), y);
    };
    std::make_heap(left.begin(), left.end(), isLater);
    for (; !left.empty(); left.pop_back()) {
      std::pop_heap(left.begin(), left.end(), isLater);
      const LevelCandidate &one = candidates[left.back()];
      if (best && timeOf(one) >= least)
        break;
      if (tile::StrategyAttr strategy = strategyOf(one);
          isPossible(one, strategy))
        return Timed(LevelChoice{strategy, one.prediction}, timeOf(one));
    }
    return std::nullopt;
  }

  /// What the verifier does not take is not for this contraction; nor is one
  /// whose windows reach farther than its tiles.
  bool isPossible(const LevelCandidate &one, tile::StrategyAttr strategy) {
    return ringBytes(op, strategy) + bytesOfPhases(one) <=
               near->bytesOfPart() &&
           !isRefused(strategy) && fits(op, strategy);
  }

  llvm::SmallVector<const MultiplyUnit *> units() override {
    return findUnits();
  }
  size_t useUnit(const MultiplyUnit *one) override {
    return use(*one) ? countPaths() : 0;
  }
  void useWay(size_t way) override {
    usePath(way);
    candidates.clear();
  }
  void endWay() override {
    auto choice = chooseCandidate();
    if (choice)
      std::tie(best, least) = *choice;
  }

  /// Powers of two times `least`, up to what there is.
  static SmallVector<int64_t> multiples(int64_t least, int64_t size,
                                        int64_t most) {
    SmallVector<int64_t> all;
    for (int64_t one = least; one <= most; one *= 2) {
      all.push_back(one);
      if (one >= size)
        break;
    }
    return all;
  }

  /// Of rows.
  SmallVector<int64_t> outerSizes() override {
    int64_t rows = 1;
    for (unsigned d : m)
      rows *= sizes[d];
    return multiples(unit->m, rows, 512);
  }
  /// Of columns.
  SmallVector<int64_t> innerSizes(int64_t) override {
    int64_t most = std::max<int64_t>(unit->mostN ? unit->mostN : 512, unit->n);
    return multiples(unit->n, sizes[numParallel - 1], most);
  }
  void tryTile(int64_t rows, int64_t columns) override {
    unsigned terms = sizes.size() - 1;
    LevelCandidate one;
    one.tile.assign(sizes.size(), 1);
    one.tile[numParallel - 1] = columns;
    for (int64_t tk : multiples(unit->k, k.empty() ? 1 : sizes[terms],
                                std::max<int64_t>(128, unit->k))) {
      if (!k.empty())
        one.tile[terms] = tk;
      splitRows(one, rows, int64_t(m.size()) - 1);
    }
    if (!hasWindows())
      return;
    // All of a window at once, whose neighbours share most of it.
    for (unsigned d : k)
      one.tile[d] = sizes[d];
    splitRows(one, rows, int64_t(m.size()) - 1);
  }

  /// Whether each point has a small window of its own, of one channel.
  bool hasWindows() {
    int64_t terms = 1;
    for (unsigned d : k)
      terms *= sizes[d];
    return !lanes.empty() && k.size() > 1 && terms <= 64;
  }

  /// Rows lie in boxes of powers of two, over the two innermost dims at will.
  void splitRows(LevelCandidate one, int64_t rows, int64_t i) {
    if (i < 0)
      return rows == 1 ? splitGroup(std::move(one)) : void();
    int64_t whole = llvm::PowerOf2Ceil(sizes[m[i]]);
    for (int64_t tile = std::min(rows, i == 0 ? rows : whole); tile >= 1;
         tile /= 2) {
      if (rows % tile != 0)
        continue;
      one.tile[m[i]] = tile;
      splitRows(one, rows / tile, i - 1);
      if (i == 0 || int64_t(m.size()) - i > 2)
        break; // the outermost takes the rest, others what fits
    }
  }

  /// What each of a group holds of an accumulator: whole steps of the unit.
  void splitGroup(LevelCandidate one) {
    measureSlots(one);
    if (!fitsNear(one) || !hasRowsOfSwizzle(one))
      return;
    SmallVector<int64_t, 4> shares;
    for (int64_t across = 1, most = mostAcross(one); across <= most;
         across *= 2)
      if (one.across = across; fitsBoxes(one))
        shares.push_back(across);
    for (int64_t count = 1; count <= machine.groupsOf(*group); count *= 2)
      for (int64_t down = count; down >= 1; down /= 2)
        if (takePart(one, down, count / down))
          addSlots(one, shares);
  }

  /// Splits the tile into so many parts down and across; whether that is
  /// possible and their sums have a place.
  bool takePart(LevelCandidate &one, int64_t down, int64_t right) {
    one.part.assign(one.tile.begin(), one.tile.begin() + numParallel);
    for (unsigned d : m) {
      int64_t factor = std::gcd(down, one.part[d]);
      one.part[d] /= factor;
      down /= factor;
    }
    int64_t &columns = one.part[numParallel - 1];
    if (down != 1 || columns % (right * unit->n) != 0 ||
        rowsOf(one.part) % unit->m != 0 || !hasRowsInside(one))
      return false;
    columns /= right;
    return fitsSums(one) && hasFewWords(one);
  }

  void addSlots(LevelCandidate &one, ArrayRef<int64_t> shares) {
    for (int64_t most = mostSlots(); one.slots <= most && fitsNear(one);
         ++one.slots)
      for (int64_t across : shares) {
        one.across = across;
        predict(one);
        candidates.push_back(one);
      }
    one.slots = 2;
  }

  /// Whether rows that a unit with fragments reads side by side lie so: 16
  /// bytes of them, or all of a tile where the unit goes on by itself, which
  /// finds the next term behind a row of it.
  bool hasRowsInside(const LevelCandidate &one) {
    if (!unit->fragment ||
        !op.getAMap().getResults().back().isFunctionOfDim(m.back()))
      return true;
    if (unit->fragment->inFlight != 0)
      return one.part[m.back()] % unit->m == 0 &&
             one.tile[m.back()] == rowsOf(one.tile);
    int64_t least = 16 / elementBytes(getElementTypeOrSelf(op.getA()));
    return one.part[m.back()] % std::max<int64_t>(least, 1) == 0;
  }

  /// How many parts beside each other a copy may reach.
  int64_t mostAcross(const LevelCandidate &one) {
    if (!outer || openSizes || path.size() != 1 || !dimAcross(one))
      return 1;
    return std::min(path.front()->multicast,
                    std::max<int64_t>(1, inner->count));
  }
  bool fitsSums(const LevelCandidate &one) {
    int64_t bytes = rowsOf(one.part) * columnsOf(one.part) *
                    elementBytes(op.getAccumulatorType());
    int64_t held = rowsOf(one.part) * columnsOf(one.part);
    if (unit->accumulators > 1 && held > unit->accumulators * unit->m * unit->n)
      return false;
    if (group->registerBytes) // and as much again for operands and addresses
      return bytes <= group->registerBytes * 3 / 4;
    return 2 * bytes <= sums->bytesOfPart();
  }
  /// What goes on by itself finds rows by their swizzle.
  bool hasRowsOfSwizzle(const LevelCandidate &one) {
    if (!unit->fragment || unit->fragment->inFlight == 0)
      return true;
    return layoutOf(op.getA(), rowOf(op.getAMap(), one)) &&
           layoutOf(op.getB(), rowOf(op.getBMap(), one));
  }
  bool fitsNear(const LevelCandidate &one) {
    return bytesOfSlots(one) + bytesOfPhases(one) <= near->bytesOfPart();
  }

  IsRefused isRefused;
  std::vector<LevelCandidate> candidates; ///< of the unit and way tried
  std::optional<LevelChoice> best;
  std::pair<double, double> least;
};
} // namespace

std::optional<LevelChoice>
ashlar::chooseLevels(tile::ContractOp op, const MachineModel &machine,
                     bool openSizes,
                     llvm::function_ref<bool(tile::StrategyAttr)> isRefused,
                     KnownLevels *known) {
  if (llvm::is_contained(op.getParallel(), 0) ||
      llvm::is_contained(op.getReduced(), 0))
    return std::nullopt;
  bool hasRefused = false;
  auto refuses = [&](tile::StrategyAttr strategy) {
    bool isOne = isRefused && isRefused(strategy);
    hasRefused |= isOne;
    return isOne;
  };
  if (known)
    if (auto before = known->find(op, openSizes);
        before && (!*before || (!refuses((*before)->strategy) &&
                                fits(op, (*before)->strategy))))
      return *before;
  std::optional<LevelChoice> choice =
      LevelChooser(op, machine, openSizes, refuses).run();
  if (known && !hasRefused)
    known->add(op, openSizes, choice);
  return choice;
}
