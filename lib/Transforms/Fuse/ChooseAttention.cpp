// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An attention's levels where a unit takes its left operand from the registers
// that hold its sums: scores and sums stay with the threads, from one tile of
// keys to the next.
#include "Dispatches.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Cost/Core.h"
#include "ashlar/Cost/UnitOperands.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "ashlar/Machine/MachineOption.h"
#include "ashlar/Support/Remarks.h"
#include "ashlar/Transforms/Fuse/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_CHOOSEATTENTIONPASS
#include "ashlar/Transforms/Fuse/Passes.h.inc"
} // namespace ashlar

namespace {
/// One attention: which of its dims are rows, keys, terms and columns.
class Chooser {
public:
  Chooser(tile::AttentionOp op, const MachineModel &machine)
      : op(op), machine(machine), parallel(op.getParallel()),
        reduced(op.getReduced()), scores(op.getScoresParallel()) {}

  /// What is missing, or nothing: then the op has its levels and strategies.
  std::string run() {
    if (std::string why = findDims(); !why.empty())
      return why;
    if (std::string why = findUnit(); !why.empty())
      return why;
    if (!chooseTiles())
      return "no tile of rows and keys fits the machine's registers and memory";
    write();
    return "";
  }

private:
  static std::optional<unsigned> oneOf(ArrayRef<int64_t> sizes) {
    std::optional<unsigned> found;
    for (auto [d, size] : llvm::enumerate(sizes))
      if (size != 1) {
        if (found)
          return std::nullopt;
        found = d;
      }
    return found ? found : std::optional<unsigned>(0);
  }

  std::string findDims() {
    bool isPlain = true;
    op.forEachOperand([&](Value, AffineMap map, bool) {
      isPlain &= map.isProjectedPermutation(/*allowZeroInResults=*/true);
    });
    if (!isPlain)
      return "an operand does not lie at dims alone";
    for (Region &region : op->getRegions())
      for (Operation &inner : region.front().without_terminator())
        if (llvm::any_of(inner.getOperandTypes(), llvm::IsaPred<ShapedType>))
          return "its scores read a tensor at places of their own";
    std::optional<unsigned> keys = oneOf(reduced),
                            depth = oneOf(op.getScoresReduced());
    if (!keys || !depth)
      return "keys or terms are of several dims";
    keyDim = *keys;
    termDim = *depth;
    // Of the dims that weights have, those that values have, too, are batches;
    // of all others the last are rows, and the rest are walked like batches.
    int64_t last = int64_t(parallel.size()) - 1;
    auto isIn = [&](AffineMap map, unsigned d) {
      return map.isFunctionOfDim(d);
    };
    if (isIn(op.getWeightsMap(), last) || !isIn(op.getValuesMap(), last))
      return "values are not the result's last dim";
    for (int64_t d = 0; d != last; ++d)
      if (!isIn(op.getWeightsMap(), d) && parallel[d] != 1)
        return "the result has a dim that weights have not";
      else if (isIn(op.getWeightsMap(), d) && !isIn(op.getValuesMap(), d) &&
               (row < 0 || parallel[d] != 1))
        row = d;
    if (row < 0)
      return "there are no rows";
    for (auto [i, expr] :
         llvm::enumerate(op.getWeightsMap().getResults().drop_back()))
      if (expr == getAffineDimExpr(row, op.getContext()))
        scoreRow = i;
    if (scoreRow < 0)
      return "rows of weights are not those of the result";
    Type sums = op.getBody().front().getArgument(0).getType();
    Value weight = op.getWeigh().front().getTerminator()->getOperand(0);
    if (auto rounded = weight.getDefiningOp<arith::TruncFOp>())
      weight = rounded.getIn();
    if (!sums.isF32() || op.getScoreType() != sums ||
        op.getScore().front().getArgument(0).getType() != sums ||
        weight != op.getWeigh().front().getArgument(0))
      return "scores and sums are not all of f32, or weights not only rounded";
    return "";
  }

  /// The fastest that takes types and sizes; says why there is none.
  std::string findUnit() {
    Type query = getElementTypeOrSelf(op.getQueries()),
         key = getElementTypeOrSelf(op.getKeys()),
         value = getElementTypeOrSelf(op.getValues()),
         sum = Float32Type::get(op.getContext());
    if (!areRowsPlain())
      return "an operand has neither rows nor terms side by side";
    bool isTaken = false;
    for (const MultiplyUnit &one : machine.units) {
      if (!one.fragment ||
          !llvm::is_contained(one.leftFrom, one.accumulatorSpace) ||
          !machine.scope(one.scope) || !one.takes(productOf(query, key, sum)) ||
          !one.takes(productOf(op.getWeightType(), value, sum)))
        continue;
      isTaken = true;
      if (suits(one) && (!unit || one.flopsPerCycle() > unit->flopsPerCycle()))
        unit = &one;
    }
    if (!isTaken)
      return "no unit takes the weights from where its sums are";
    if (!unit)
      return "terms or columns are no multiples of what a unit takes, or too "
             "many";
    group = machine.scope(unit->scope);
    near = nearOf(*unit);
    return "";
  }
  const Memory *nearOf(const MultiplyUnit &one) {
    const Memory *found = nullptr;
    for (const Memory &memory : machine.memories)
      if (memory.managed && llvm::is_contained(one.rightFrom, memory.name))
        found = &memory;
    return found;
  }
  bool suits(const MultiplyUnit &one) {
    int64_t columns = parallel.back();
    const Memory *memory = nearOf(one);
    if (!memory || op.getScoresReduced()[termDim] % one.k != 0 ||
        columns % one.n != 0 || (one.mostN != 0 && columns > one.mostN))
      return false;
    // A unit that goes on by itself finds rows by their swizzle.
    auto last = cast<AffineDimExpr>(op.getValuesMap().getResults().back());
    return one.fragment->inFlight == 0 ||
           last.getPosition() != parallel.size() - 1 ||
           swizzledRows(op.getContext(), *memory,
                        elementBytes(getElementTypeOrSelf(op.getValues())),
                        columns);
  }
  /// A unit reads terms, or rows and columns, side by side.
  bool areRowsPlain() {
    unsigned term = scores.size() + termDim;
    auto endsIn = [&](AffineMap map, ArrayRef<unsigned> dims) {
      if (map.getNumResults() < 2)
        return false;
      auto last = dyn_cast<AffineDimExpr>(map.getResults().back());
      return last && llvm::is_contained(dims, last.getPosition());
    };
    SmallVector<AffineMap> maps(
        op.getScoresMaps().getAsValueRange<AffineMapAttr>());
    unsigned key = parallel.size() + keyDim, column = parallel.size() - 1;
    return endsIn(maps[0], {unsigned(scoreRow), term}) &&
           endsIn(maps[1], {unsigned(scores.size() - 1), term}) &&
           endsIn(op.getValuesMap(), {key, column});
  }

  //===-- Tiles
  //------------------------------------------------------------===//

  /// Values of 32 bits that a thread has at once: scores and what becomes of
  /// them, weights of 16 bits, sums.
  int64_t registersOf(int64_t keys) {
    int64_t rows = fragmentRows(), threads = fragmentThreads();
    return rows * (keys + keys / 2 + parallel.back()) / threads;
  }
  int64_t fragmentRows() {
    return fragmentOf(op.getContext(), *unit).getRows();
  }
  int64_t fragmentThreads() {
    return fragmentOf(op.getContext(), *unit).getThreads();
  }
  int64_t bytesOf(int64_t rows, int64_t keys) {
    int64_t term = op.getScoresReduced()[termDim];
    auto size = [](Value operand) {
      return elementBytes(getElementTypeOrSelf(operand));
    };
    return rows * term * size(op.getQueries()) +
           slots * keys *
               (term * size(op.getKeys()) +
                parallel.back() * size(op.getValues()));
  }

  bool chooseTiles() {
    int64_t batches = 1;
    for (auto [d, size] : llvm::enumerate(parallel.drop_back()))
      if (int64_t(d) != row)
        batches *= size;
    int64_t groups = machine.groupsOf(*group), own = fragmentRows();
    auto parts = [&](int64_t groups) -> int64_t {
      return batches * llvm::divideCeil(parallel[row], groups * own);
    };
    // Fewer rows of a part where some workers would have none, or most rows of
    // a part would not exist.
    while (groups > 1 && (parts(groups) < machine.workers.count ||
                          (groups / 2) * own >= parallel[row]))
      groups /= 2;
    rows = groups * own;
    // A third of a thread's registers is for addresses and what comes and goes:
    // with less, ptxas spills.
    int64_t most = group->registerBytes / 4 / fragmentThreads() * 2 / 3;
    for (int64_t one : {128, 64, 32, 16})
      if (one % unit->k == 0 && registersOf(one) <= most &&
          bytesOf(rows, one) <= near->bytesOfPart() &&
          (unit->mostN == 0 || one <= unit->mostN) &&
          (one == 16 || one < 2 * reduced[keyDim])) {
        keys = one;
        return true;
      }
    return false;
  }

  //===-- Levels and strategies
  //--------------------------------------------===//

  tile::HopAttr ring(tile::OperandKind kind, Value operand, AffineMap map,
                     int64_t rowElements, int64_t count) {
    auto type = cast<ShapedType>(operand.getType());
    const CopyEngine *found = nullptr;
    for (const CopyEngine &engine : machine.copyEngines)
      if (!found && !engine.boxes && engine.to == near->name &&
          engine.from == machine.memories.back().name &&
          (takesRows(engine, type, map) || !engine.asynchronous))
        found = &engine;
    return tile::HopAttr::get(
        op.getContext(), kind, tile::HopKind::Ring, near->name, /*at=*/0, count,
        found ? StringRef(found->name) : StringRef(),
        swizzledRows(op.getContext(), *near,
                     elementBytes(type.getElementType()), rowElements));
  }

  tile::StrategyAttr strategyOf(ArrayRef<int64_t> sizes, unsigned numParallel,
                                unsigned m, unsigned n, unsigned k,
                                ArrayRef<tile::HopAttr> hops) {
    MLIRContext *context = op.getContext();
    SmallVector<int64_t> tile(numParallel, 1), part, none,
        terms(sizes.size() - numParallel, 1), order;
    tile[m] = rows;
    tile[n] = sizes[n];
    terms[k - numParallel] = sizes[k];
    part = tile;
    part[m] = fragmentRows();
    none.assign(terms.size(), 0);
    for (unsigned d = 0; d != sizes.size(); ++d)
      order.push_back(d);
    tile::LevelAttr levels[] = {
        tile::LevelAttr::get(context, tile::LevelKind::Loop, "", tile, terms,
                             order),
        tile::LevelAttr::get(context, tile::LevelKind::Group, group->name, part,
                             none, {})};
    Builder b(context);
    NamedAttribute fragment =
        b.getNamedAttr("fragment", fragmentOf(context, *unit));
    return tile::StrategyAttr::get(
        context, unit->name, /*shape=*/{}, {m}, {n}, {k}, /*group=*/{},
        /*lanes=*/{}, levels, hops, unit->accumulatorSpace, /*promote=*/-1,
        /*masked=*/{}, /*partials=*/"", /*roles=*/{},
        b.getDictionaryAttr(fragment));
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
    part[row] = fragmentRows();
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
             across(maps[0], ofScores, scoreRow), /*count=*/1),
        ring(OperandKind::B, op.getKeys(), maps[1],
             across(maps[1], ofScores, scoreRow), slots)};
    tile::HopAttr toValues[] = {
        ring(OperandKind::B, op.getValues(), op.getValuesMap(),
             across(op.getValuesMap(), ofValues, row), slots)};
    op.setLevelsAttr(ArrayAttr::get(context, levels));
    op.setScoresStrategyAttr(strategyOf(ofScores, scores.size(), scoreRow,
                                        scores.size() - 1, term, toScores));
    op.setStrategyAttr(strategyOf(ofValues, parallel.size(), row,
                                  parallel.size() - 1, key, toValues));
  }

  /// Of keys and values: the next tile arrives while one is multiplied.
  static constexpr int64_t slots = 2;

  tile::AttentionOp op;
  const MachineModel &machine;
  ArrayRef<int64_t> parallel, reduced, scores;
  int64_t row = -1, scoreRow = -1; ///< of the result, of scores
  unsigned keyDim = 0, termDim = 0;
  const MultiplyUnit *unit = nullptr;
  const Scope *group = nullptr;
  const Memory *near = nullptr;
  int64_t rows = 0, keys = 0;
};

struct ChooseAttention
    : ashlar::impl::ChooseAttentionPassBase<ChooseAttention> {
  using ChooseAttentionPassBase::ChooseAttentionPassBase;
  explicit ChooseAttention(const MachineModel &machine) : machine(machine) {}
  LogicalResult initialize(MLIRContext *context) override {
    return readMachineOption(context, machineName, machine);
  }
  static std::string spell(Attribute levels) {
    std::string text;
    llvm::raw_string_ostream(text) << levels;
    return text;
  }
  void runOnOperation() override {
    getOperation().walk([&](tile::AttentionOp op) {
      if (std::string why = Chooser(op, machine).run(); !why.empty())
        remark::missed(op.getLoc(), about(op, "Attention", "strategy"))
            << "scores and sums go through memory between its steps: " << why;
      else
        remark::passed(op.getLoc(), about(op, "Attention", "strategy"))
            << "scores and sums stay with the threads: "
            << spell(op.getLevelsAttr());
    });
  }

private:
  MachineModel machine = MachineModel::generic();
};
} // namespace

std::unique_ptr<Pass>
ashlar::createChooseAttentionPass(const MachineModel &machine) {
  return std::make_unique<ChooseAttention>(machine);
}
