// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An attention's levels where a unit takes its left operand from the registers
// that hold its sums: scores and sums stay with the threads, from one tile of
// keys to the next.
#include "AttentionCost.h"
#include "AttentionProblem.h"
#include "Dispatches.h"
#include "RecordPrediction.h"
#include "ShareKeys.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Cost/RefusedStrategies.h"
#include "ashlar/Cost/UnitOperands.h"
#include "ashlar/Machine/MachineOption.h"
#include "ashlar/Machine/MainMemory.h"
#include "ashlar/Support/Remarks.h"
#include "ashlar/Transforms/Fuse/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_CHOOSEATTENTIONPASS
#include "ashlar/Transforms/Fuse/Passes.h.inc"
} // namespace ashlar

namespace {
class Chooser : AttentionProblem {
public:
  Chooser(tile::AttentionOp op, const MachineModel &machine, bool openSizes,
          RefusedStrategies *refused)
      : AttentionProblem(op, machine), openSizes(openSizes), refused(refused) {}

  /// What is missing, or nothing: then there are tiles.
  std::string choose() {
    if (std::string why = find(); !why.empty())
      return why;
    return chooseTiles() ? ""
                         : "no tile of rows and keys fits the machine's "
                           "registers and memory";
  }
  /// The same; if nothing is missing, the op has its levels and strategies.
  std::string run() {
    if (std::string why = choose(); !why.empty())
      return why;
    write();
    if (refused)
      refused->note(op.getLoc(), textOf(keys));
    shareOutKeys();
    return "";
  }

  /// What stands in its place, where keys are shared out.
  tile::AttentionOp getOp() const { return op; }

private:
  //===-- Tiles -----------------------------------------------------------===//

  /// Values of 32 bits that a thread has at once: scores and what becomes of
  /// them, weights of 16 bits, of the same tile or of the one before, sums.
  int64_t registersOf(int64_t keys) {
    int64_t rows = fragment.getRows(), threads = fragment.getThreads();
    return rows * (keys + keys / 2 + parallel.back()) / threads;
  }
  int64_t mostOfThread() {
    return group->registerBytes / 4 / fragment.getThreads();
  }
  /// Of a thread, addresses included.
  int64_t registersNeeded() { return registersOf(keys) * 4 / 3; }
  int64_t bytesOf(int64_t rows, int64_t keys) {
    int64_t term = op.getScoresReduced()[termDim];
    auto size = [](Value operand) {
      return elementBytes(getElementTypeOrSelf(operand));
    };
    return (engine ? slots : 1) * rows * term * size(op.getQueries()) +
           (engine ? phaseBytes : 0) +
           slots * keys *
               (term * size(op.getKeys()) +
                parallel.back() * size(op.getValues()));
  }

  /// By which a choice is known again.
  std::string textOf(int64_t keys) {
    return unit->name + " " + std::to_string(rows) + " rows, " +
           std::to_string(keys) + " keys";
  }

  bool chooseTiles() {
    int64_t batches = 1;
    for (auto [d, size] : llvm::enumerate(parallel.drop_back()))
      if (int64_t(d) != row)
        batches *= size;
    int64_t groups = machine.groupsOf(*group), own = fragment.getRows();
    auto parts = [&](int64_t groups) -> int64_t {
      return batches * llvm::divideCeil(parallel[row], groups * own);
    };
    // Fewer rows of a part where some workers would have none, or most rows of
    // a part would not exist.
    while (groups > 1 && (parts(groups) < machine.workers.count ||
                          (groups / 2) * own >= parallel[row]))
      groups /= 2;
    rows = groups * own;
    rowParts = parts(groups);
    engine = findBoxEngine();
    // A third of a thread's registers is for addresses and what comes and goes,
    // a quarter where others copy: with less, ptxas spills.
    int64_t all = mostOfThread(), most = engine ? all * 3 / 4 : all * 2 / 3;
    // Ends of open sizes take registers, too: with 128 keys most forms
    // keep some bytes in memory.
    int64_t largest = openSizes && engine ? 64 : 128;
    for (int64_t one : {128, 64, 32, 16})
      if (one % unit->k == 0 && one <= largest && registersOf(one) <= most &&
          bytesOf(rows, one) <= near->bytesOfPart() &&
          (unit->mostN == 0 || one <= unit->mostN) &&
          (one == 16 || one < 2 * reduced[keyDim]) &&
          !(refused && refused->contains(op.getLoc(), textOf(one)))) {
        keys = one;
        return true;
      }
    return false;
  }

  //===-- Levels and strategies -------------------------------------------===//

  /// Rows that are longer than a box come in blocks of a swizzle, or not.
  bool fitsBox(const Boxes &boxes, Type element) {
    auto fits = [&](int64_t size) {
      return size <= boxes.size ||
             swizzledRows(op.getContext(), *near, elementBytes(element), size);
    };
    return fits(op.getScoresReduced()[termDim]) && fits(parallel.back());
  }

  /// That which a role of its own tells of boxes, if it takes all operands.
  const CopyEngine *findBoxEngine() {
    SmallVector<AffineMap> maps(
        op.getScoresMaps().getAsValueRange<AffineMapAttr>());
    const std::pair<Value, AffineMap> operands[] = {
        {op.getQueries(), maps[0]},
        {op.getKeys(), maps[1]},
        {op.getValues(), op.getValuesMap()}};
    for (const CopyEngine &one : machine.copyEngines)
      if (one.boxes && one.to == near->name &&
          one.from == machine.memories.back().name &&
          llvm::all_of(operands, [&](const auto &operand) {
            auto type = cast<ShapedType>(operand.first.getType());
            return type.hasStaticShape() && type.getRank() <= one.boxes->rank &&
                   takesRows(one, type, operand.second) &&
                   fitsBox(*one.boxes, type.getElementType()) &&
                   llvm::isPowerOf2_64(elementBytes(type.getElementType()));
          }))
        return &one;
    return nullptr;
  }

  const CopyEngine *engineOf(ShapedType type, AffineMap map) {
    const CopyEngine *found = engine;
    for (const CopyEngine &engine : machine.copyEngines)
      if (!found && !engine.boxes && engine.to == near->name &&
          engine.from == machine.memories.back().name &&
          (takesRows(engine, type, map) || !engine.asynchronous))
        found = &engine;
    return found;
  }

  tile::HopAttr ring(tile::OperandKind kind, Value operand, AffineMap map,
                     int64_t rowElements, int64_t count) {
    auto type = cast<ShapedType>(operand.getType());
    const CopyEngine *found = engineOf(type, map);
    return tile::HopAttr::get(
        op.getContext(), kind, tile::HopKind::Ring, near->name, /*at=*/0, count,
        found ? StringRef(found->name) : StringRef(),
        swizzledRows(op.getContext(), *near,
                     elementBytes(type.getElementType()), rowElements));
  }

  tile::StrategyAttr strategyOf(ArrayRef<int64_t> sizes, unsigned numParallel,
                                unsigned m, unsigned n, unsigned k,
                                ArrayRef<tile::HopAttr> hops,
                                ArrayRef<tile::TeamAttr> roles = {}) {
    MLIRContext *context = op.getContext();
    SmallVector<int64_t> tile(numParallel, 1), part, none,
        terms(sizes.size() - numParallel, 1), order;
    tile[m] = rows;
    tile[n] = sizes[n];
    terms[k - numParallel] = sizes[k];
    part = tile;
    part[m] = fragment.getRows();
    none.assign(terms.size(), 0);
    for (unsigned d = 0; d != sizes.size(); ++d)
      order.push_back(d);
    tile::LevelAttr levels[] = {
        tile::LevelAttr::get(context, tile::LevelKind::Loop, "", tile, terms,
                             order),
        tile::LevelAttr::get(context, tile::LevelKind::Group, group->name, part,
                             none, {})};
    Builder b(context);
    NamedAttribute hint = b.getNamedAttr("fragment", fragment);
    return tile::StrategyAttr::get(
        context, unit->name, /*shape=*/{}, {m}, {n}, {k}, /*group=*/{},
        /*lanes=*/{}, levels, hops, unit->accumulatorSpace, /*promote=*/-1,
        /*masked=*/{}, /*partials=*/"", roles, b.getDictionaryAttr(hint));
  }

  /// Who copies and who computes. Where those that compute need more registers
  /// than each thread gets, who copies gives up some of its own, for which it
  /// is a whole group.
  SmallVector<tile::TeamAttr> rolesOf() {
    constexpr int64_t ofCopier = 40, unit = 8; // registers
    int64_t threads = fragment.getThreads(), count = rows / fragment.getRows(),
            all = machine.workers.registerBytes / 4,
            each = all / (threads * (count + 1)) / unit * unit,
            more = (each * (count + 1) - ofCopier) / count / unit * unit;
    bool shares = all != 0 && each < registersNeeded() && each > ofCopier;
    auto team = [&](StringRef role, StringRef scope, int64_t of,
                    int64_t registers) {
      return tile::TeamAttr::get(op.getContext(), role, scope, of,
                                 shares ? registers : 0);
    };
    return {
        team("producer", shares ? group->name : engine->boxes->scope, 1,
             ofCopier),
        team("consumer", group->name, count, std::min(more, mostOfThread()))};
  }

  void write() {
    MLIRContext *context = op.getContext();
    SmallVector<int64_t> grid, loop(reduced.size(), 0),
        none(parallel.size(), 0), part(parallel.size(), 0),
        zeros(reduced.size(), 0);
    for (int64_t d = 0; d + 1 != int64_t(parallel.size()); ++d)
      grid.push_back(d == row ? rows : 1);
    grid.push_back(0);
    loop[keyDim] = keys;
    part[row] = fragment.getRows();
    StringRef scope;
    for (const Scope &one : machine.scopes)
      if (one.kind == "grid")
        scope = one.name;
    Attribute levels[] = {
        tile::LevelAttr::get(context, tile::LevelKind::Grid, scope, grid, zeros,
                             {}),
        tile::LevelAttr::get(context, tile::LevelKind::Loop, "", none, loop,
                             {int64_t(parallel.size() + keyDim)}),
        tile::LevelAttr::get(context, tile::LevelKind::Group, group->name, part,
                             zeros, {})};
    SmallVector<AffineMap> maps(
        op.getScoresMaps().getAsValueRange<AffineMapAttr>());
    SmallVector<int64_t> ofScores(scores), ofValues(parallel);
    llvm::append_range(ofScores, op.getScoresReduced());
    llvm::append_range(ofValues, reduced);
    ofScores[scores.size() - 1] = ofValues[parallel.size() + keyDim] = keys;
    unsigned term = scores.size() + termDim, key = parallel.size() + keyDim;
    // Elements side by side in a slot.
    auto across = [&](AffineMap map, ArrayRef<int64_t> sizes, unsigned m) {
      unsigned last =
          cast<AffineDimExpr>(map.getResults().back()).getPosition();
      return last == m ? rows : sizes[last];
    };
    using tile::OperandKind;
    tile::HopAttr toScores[] = {
        ring(OperandKind::A, op.getQueries(), maps[0],
             across(maps[0], ofScores, scoreRow), engine ? slots : 1),
        ring(OperandKind::B, op.getKeys(), maps[1],
             across(maps[1], ofScores, scoreRow), slots)};
    tile::HopAttr toValues[] = {
        ring(OperandKind::B, op.getValues(), op.getValuesMap(),
             across(op.getValuesMap(), ofValues, row), slots)};
    SmallVector<tile::TeamAttr> roles;
    if (engine)
      roles = rolesOf();
    op.setLevelsAttr(ArrayAttr::get(context, levels));
    op.setScoresStrategyAttr(strategyOf(ofScores, scores.size(), scoreRow,
                                        scores.size() - 1, term, toScores,
                                        roles));
    op.setStrategyAttr(strategyOf(ofValues, parallel.size(), row,
                                  parallel.size() - 1, key, toValues));
  }

  //===-- Keys shared out -------------------------------------------------===//

  AttentionTile describeTile() {
    AttentionTile tile;
    double steps = double(llvm::divideCeil(keys, unit->n)) *
                       double(op.getScoresReduced()[termDim] / unit->k) +
                   double(parallel.back() / unit->n) * double(keys / unit->k);
    // A worker's rate is that of all who may issue; few cannot fill it.
    tile.products =
        steps * double(machine.groupsOf(*group)) / unit->stepsPerCycle;
    tile.weights = cyclesOfWeights(op, machine, rows, keys, parallel.back());
    tile.goesOn = engine && fragment.getInFlight() > 0;
    auto maps = op.getScoresMaps().getAsValueRange<AffineMapAttr>();
    for (auto [operand, map, elements] :
         {std::tuple(op.getKeys(), *std::next(maps.begin()),
                     op.getScoresReduced()[termDim]),
          std::tuple(op.getValues(), op.getValuesMap(), parallel.back())}) {
      auto type = cast<ShapedType>(operand.getType());
      const CopyEngine *taken = engineOf(type, map);
      if (!taken)
        return {};
      tile.start = std::max(tile.start, taken->startCycles);
      tile.copies +=
          double(keys * elements * elementBytes(type.getElementType())) /
          taken->bytesPerCycle;
    }
    tile.start += machine.memories.back().latencyCycles;
    return tile;
  }

  /// Of a kernel that reads so many bytes and does nothing else.
  double cyclesToMerge(int64_t bytes) {
    return double(bytes) / mainBytesPerCycle(machine) +
           machine.costs.launchNs * machine.clock.hz / 1e9;
  }

  /// Where there are fewer parts of rows than workers, and the kernel that
  /// merges takes less than is gained.
  void shareOutKeys() {
    constexpr int64_t most = 16;
    int64_t tiles = llvm::divideCeil(reduced[keyDim], keys), taken = tiles;
    const AttentionTile tile = describeTile();
    auto cyclesOf = [&](int64_t parts, int64_t tiles) {
      return double(llvm::divideCeil(parts, machine.workers.count)) *
             tile.cyclesOf(tiles);
    };
    double alone = cyclesOf(rowParts, tiles), least = alone;
    for (int64_t wanted = 2; wanted <= most; wanted *= 2) {
      int64_t own = llvm::divideCeil(tiles, wanted),
              parts = llvm::divideCeil(tiles, own);
      if (openSizes || rowParts >= machine.workers.count || parts < 2 ||
          !canShareKeys(op, parts))
        continue;
      int64_t bytes = 2 * (parts + 1) * ShapedType::getNumElements(parallel) *
                      elementBytes(op.getScoreType());
      double cycles = cyclesOf(rowParts * parts, own) + cyclesToMerge(bytes);
      if (cycles < least)
        least = cycles, taken = own;
    }
    if (taken == tiles)
      return record(tile, rowParts, tiles);
    if (wantsRemarks(op))
      remark::passed(op.getLoc(), about(op, "Keys", "strategy"))
          << remark::metric("Keys", taken * keys)
          << " keys for each part of the rows and keys, which a kernel of its "
             "own merges: "
          << remark::metric("Cycles", int64_t(least))
          << " cycles are predicted instead of "
          << remark::metric("CyclesBefore", int64_t(alone));
    op = shareKeys(op, taken * keys);
    record(tile, rowParts * llvm::divideCeil(tiles, taken), taken);
  }

  void record(const AttentionTile &tile, int64_t parts, int64_t tiles) {
    if (tile.copies != 0)
      recordPrediction(op, predictAttention(op, machine, tile, parts, tiles));
  }

  /// Of keys and values: the next tile arrives while one is multiplied.
  static constexpr int64_t slots = 2;
  /// Of the words that count what three rings have, each ring where it may
  /// begin.
  static constexpr int64_t phaseBytes = 3 * 64;

  bool openSizes;                     ///< a caller chooses any of the sizes
  int64_t rows = 0, keys = 0;         ///< of a tile
  int64_t rowParts = 1;               ///< how many such tiles of rows there are
  const CopyEngine *engine = nullptr; ///< of boxes; null: threads copy
  RefusedStrategies *refused;
};

struct ChooseAttention
    : ashlar::impl::ChooseAttentionPassBase<ChooseAttention> {
  using ChooseAttentionPassBase::ChooseAttentionPassBase;
  ChooseAttention(const MachineModel &machine,
                  std::shared_ptr<RefusedStrategies> refused, bool openSizes)
      : machine(machine), refused(std::move(refused)) {
    this->openSizes = openSizes;
  }
  LogicalResult initialize(MLIRContext *context) override {
    return readMachineOption(context, machineName, machine);
  }
  static std::string spell(Attribute levels) {
    std::string text;
    llvm::raw_string_ostream(text) << levels;
    return text;
  }
  void runOnOperation() override {
    SmallVector<tile::AttentionOp> ops;
    getOperation().walk([&](tile::AttentionOp op) { ops.push_back(op); });
    for (tile::AttentionOp op : ops) {
      Chooser chooser(op, machine, openSizes, refused.get());
      std::string why = chooser.run();
      op = chooser.getOp();
      if (!why.empty())
        remark::missed(op.getLoc(), about(op, "Attention", "strategy"))
            << "scores and sums go through memory between its steps: " << why;
      else
        remark::passed(op.getLoc(), about(op, "Attention", "strategy"))
            << "scores and sums stay with the threads: "
            << spell(op.getLevelsAttr());
    }
  }

private:
  MachineModel machine = MachineModel::generic();
  std::shared_ptr<RefusedStrategies> refused;
};
} // namespace

std::unique_ptr<Pass>
ashlar::createChooseAttentionPass(const MachineModel &machine,
                                  std::shared_ptr<RefusedStrategies> refused,
                                  bool openSizes) {
  return std::make_unique<ChooseAttention>(machine, std::move(refused),
                                           openSizes);
}

std::string ashlar::whyNotHeld(tile::AttentionOp op,
                               const MachineModel &machine) {
  return Chooser(op, machine, /*openSizes=*/true, /*refused=*/nullptr).choose();
}
