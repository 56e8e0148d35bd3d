// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One strategy per contraction: the register box that needs the fewest cycles
// for its terms, loops that keep the smaller operand near, boxes for workers.
// Constants are packed into the panels that the kernel reads.
#include "ChooseStrategy.h"
#include "LevelVariants.h"
#include "MatchAttention.h"
#include "PackOperand.h"
#include "RecordPrediction.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Analysis/LoopRuns.h"
#include "ashlar/Analysis/Reshapes.h"
#include "ashlar/Cost/ChooseBoxes.h"
#include "ashlar/Cost/Tuning.h"
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "ashlar/Machine/MachineOption.h"
#include "ashlar/Support/Remarks.h"
#include "ashlar/Transforms/Fuse/FirstChoices.h"
#include "ashlar/Transforms/Fuse/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/FormatVariadic.h"
#include <numeric>
#include <set>

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_CHOOSESTRATEGIESPASS
#include "ashlar/Transforms/Fuse/Passes.h.inc"
} // namespace ashlar

/// [1, 14, 32]
static std::string spell(ArrayRef<int64_t> values) {
  auto text = [](int64_t value) { return std::to_string(value); };
  return "[" + llvm::join(llvm::map_range(values, text), ", ") + "]";
}

namespace {
class StrategyChooser : ContractShape {
public:
  /// `b` is b's map before terms were grouped. `tuned` may be null, and so may
  /// the unit `forTypes`, which multiplies matrices of the operands' types.
  StrategyChooser(tile::ContractOp op, const Core &core, AffineMap b,
                  const TuningEntry *tuned, const MultiplyUnit *forTypes)
      : ContractShape(op, core), plainB(b), tuned(tuned), forTypes(forTypes),
        runs(countRuns(op)) {
    box.assign(sizes.size(), 1);
    workers.assign(numParallel, 0);
  }

  /// Fails, having said why, where the tuning's entry does not fit; its choice
  /// is then the model's own.
  FailureOr<Prediction> choose(int64_t columns = 0, bool explains = true,
                               int64_t scratchBytes = 0) {
    BoxChoice choice = chooseBoxes(*this);
    candidates = std::move(choice.candidates);
    own = bestWith(columns, choice.best)
              .value_or(core.openSizes ? bestForFewRows(choice.best)
                                       : choice.best);
    take(own);
    LogicalResult fits = tuned ? takeTuned() : success();
    chooseChunks();
    isPacked =
        packConstant(*this, box[last], plainB) || packLarge(*this, box[last]);
    packs = !isPacked && needsPacking();
    size_t fastest = chosen;
    if (packs && scratchBytes != 0)
      narrowPanels(scratchBytes);
    chooseWorkers();
    chooseOrder();
    op.setStrategyAttr(strategy());
    Prediction prediction = predict();
    if (explains)
      explain(prediction);
    if (chosen != fastest)
      explainScratch(candidates[fastest]);
    if (failed(fits))
      return failure();
    return prediction;
  }

  /// After choose(): what is worth measuring. The model's own choice first, its
  /// loops the other way round, the best box of each width that is not much
  /// worse, the next best of all.
  std::vector<ListedContraction::Candidate> candidatesToMeasure() {
    constexpr size_t most = 8;
    constexpr double worth = 1.3;
    std::vector<size_t> byCost(candidates.size());
    std::iota(byCost.begin(), byCost.end(), size_t(0));
    llvm::stable_sort(byCost, [&](size_t x, size_t y) {
      return candidates[x].cost < candidates[y].cost;
    });
    llvm::SetVector<size_t> picked;
    picked.insert(own);
    std::set<int64_t> widths = {candidates[own].vectors};
    for (size_t i : byCost)
      if (candidates[i].cost < candidates[own].cost * worth &&
          widths.insert(candidates[i].vectors).second)
        picked.insert(i);
    for (size_t i : byCost)
      if (picked.size() < most)
        picked.insert(i);
    std::vector<ListedContraction::Candidate> result;
    for (size_t i : picked.getArrayRef().take_front(most)) {
      take(i);
      std::vector<int64_t> measured(box.begin(), box.begin() + numParallel);
      result.push_back({{measured, {}}, int64_t(predict().cycles())});
    }
    if (!packs && sizes[last] > box[last] && countRows() > 1) {
      ListedContraction::Candidate other = result.front();
      SmallVector<int64_t> turned = makeOrder(!rowsOutside);
      other.choice.order.assign(turned.begin(), turned.end());
      result.insert(result.begin() + 1, other);
    }
    return result;
  }

private:
  std::optional<size_t> bestWith(int64_t columns, size_t ofAll) {
    if (boxOf(*this, candidates[ofAll]).back() == columns)
      return ofAll;
    std::optional<size_t> best;
    for (auto [i, each] : llvm::enumerate(candidates))
      if (boxOf(*this, each).back() == columns &&
          (!best || each.cost < candidates[*best].cost))
        best = i;
    return best;
  }

  /// Per vector of results, where there are fewer rows than boxes have.
  double costOfFewRows(const BoxCandidate &candidate) {
    double cost = 0;
    for (int64_t rows : {1, 2, 4}) {
      double vectors = double(candidate.vectors);
      cost += std::max(double(rows) * vectors / core.multiplyAddsPerCycle,
                       (double(rows) + vectors) / core.loadsPerCycle) /
              vectors;
    }
    return cost;
  }

  /// Columns are those of all sizes, of which the small ones have few rows.
  /// Where others are hardly slower for the largest and much faster for few
  /// rows, these are taken.
  size_t bestForFewRows(size_t ofLargest) {
    constexpr double hardly = 1.05, much = 0.8;
    const BoxCandidate &largest = candidates[ofLargest];
    if (inA(last) || largest.unit || countRows() < 2)
      return ofLargest;
    size_t best = ofLargest;
    for (auto [i, each] : llvm::enumerate(candidates))
      if (!each.unit && each.cost <= hardly * largest.cost &&
          costOfFewRows(each) <= much * costOfFewRows(largest) &&
          (best == ofLargest || each.cost < candidates[best].cost))
        best = i;
    return best;
  }

  /// Of b, for one box.
  int64_t panelBytes(const BoxCandidate &candidate) {
    return terms * core.group * boxOf(*this, candidate).back() *
           elementBytes(getElementTypeOrSelf(op.getB().getType()));
  }

  /// The fastest of the boxes whose panels are small enough, else the narrowest
  /// there is.
  void narrowPanels(int64_t scratchBytes) {
    if (panelBytes(candidates[chosen]) <= scratchBytes)
      return;
    auto rank = [&](const BoxCandidate &each) {
      int64_t bytes = panelBytes(each);
      return std::pair(std::max(bytes, scratchBytes), each.cost);
    };
    take(llvm::min_element(candidates,
                           [&](const BoxCandidate &x, const BoxCandidate &y) {
                             return rank(x) < rank(y);
                           }) -
         candidates.begin());
    chooseChunks();
  }

  /// What narrower panels cost.
  void explainScratch(const BoxCandidate &fastest) {
    const BoxCandidate &taken = candidates[chosen];
    remark::passed(op.getLoc(), about(op, "Scratch", "schedule"))
        << "puts b into narrower panels, so that a worker needs "
        << remark::metric("Bytes", panelBytes(taken))
        << " bytes of scratch instead of "
        << remark::metric("BytesBefore", panelBytes(fastest))
        << "; predicted are "
        << remark::metric("BoxCycles", int64_t(taken.cost * scale))
        << " cycles for its tiles instead of "
        << remark::metric("BoxCyclesBefore", int64_t(fastest.cost * scale));
  }

  void take(size_t candidate) {
    chosen = candidate;
    llvm::copy(boxOf(*this, candidates[chosen]), box.begin());
  }

  /// The entry's box where it is one of those considered, which fit; checks
  /// its order.
  LogicalResult takeTuned() {
    const StrategyChoice &choice = tuned->choice;
    auto *considered = llvm::find_if(candidates, [&](const BoxCandidate &each) {
      return ArrayRef(boxOf(*this, each)) == ArrayRef(choice.box);
    });
    if (considered == candidates.end())
      return refuseTuned("a box over its parallel dims that fits the "
                         "registers, such as " +
                             spell(boxOf(*this, candidates[own])),
                         choice.box);
    take(considered - candidates.begin());
    std::vector<int64_t> loops = choice.order;
    llvm::sort(loops);
    if (!loops.empty() &&
        !llvm::equal(loops, llvm::seq<int64_t>(0, numParallel)))
      return refuseTuned("an order with each of its " +
                             std::to_string(numParallel) +
                             " parallel dims once",
                         choice.order);
    return success();
  }

  LogicalResult refuseTuned(const std::string &expected,
                            ArrayRef<int64_t> found) {
    InFlightDiagnostic error = emitError(op.getLoc())
                               << "--tuning: the entry for the contraction '"
                               << tuned->contraction << "': expected "
                               << expected << ", found " << spell(found);
    tuned = nullptr;
    return error;
  }

  /// Sums of floats in chunks of at most 512 terms.
  void chooseChunks() {
    constexpr int64_t maximum = 512;
    int64_t inside = 1;
    for (unsigned d = sizes.size(); d-- > numParallel;) {
      box[d] = sizes[d];
      // A matrix unit's sums cannot be added up where they are.
      if (!isa<FloatType>(op.getAccumulatorType()) || candidates[chosen].unit)
        continue;
      if (inside * sizes[d] > maximum) {
        int64_t chunk = std::max<int64_t>(1, maximum / inside);
        while (sizes[d] % chunk != 0)
          --chunk;
        // A prime count of terms stays whole.
        if (chunk * inside >= 32)
          box[d] = chunk;
      }
      inside *= box[d];
      if (box[d] != sizes[d])
        inside = maximum + 1;
    }
  }

  /// Where rows of b are pages apart and read once, no machine foresees them:
  /// what comes from beyond takes longer than what is done with it.
  int64_t chooseAhead() {
    int64_t vectors = llvm::divideCeil(box[last], lanes), rows = 1;
    for (unsigned d = 0; d != last; ++d)
      rows *= box[d];
    double bytes = double(
        box[last] * elementBytes(getElementTypeOrSelf(op.getB().getType())));
    double term = std::max(termCycles(core, rows, vectors, inA(last)).total,
                           bytes / core.beyondBytesPerCycle);
    if (isPacked || packs || inA(last) || numParallel == sizes.size() ||
        bytesOf(op.getB()) <= core.farBytes ||
        strideOfB(sizes.size() - 1) <= box[last] ||
        term > bytes / core.beyondBytesPerCycle)
      return 0;
    return int64_t(std::ceil(core.mainLatency / term));
  }

  /// All that was chosen, as levels: parts of workers, loops up to where b is
  /// packed, loops inside with sums of chunks.
  tile::StrategyAttr strategy() {
    Builder b(op.getContext());
    SmallVector<tile::LevelAttr> levels;
    size_t terms = sizes.size() - numParallel;
    auto add = [&](tile::LevelKind kind, StringRef scope,
                   ArrayRef<int64_t> parallel, ArrayRef<int64_t> reduced,
                   ArrayRef<int64_t> loops) {
      levels.push_back(tile::LevelAttr::get(b.getContext(), kind, scope,
                                            parallel, reduced, loops));
    };
    SmallVector<int64_t> none(terms, 0), chunks(none);
    if (llvm::any_of(workers, [](int64_t part) { return part != 0; }))
      add(tile::LevelKind::Grid, "core", workers, none, {});
    ArrayRef<int64_t> inside = order;
    SmallVector<tile::HopAttr> hops;
    if (packs) {
      size_t outside = 0;
      for (auto [i, d] : llvm::enumerate(order))
        if (op.getBMap().isFunctionOfDim(d))
          outside = i + 1;
      SmallVector<int64_t> panel(numParallel, 0);
      for (int64_t d : inside.take_front(outside))
        panel[d] = box[d];
      hops.push_back(tile::HopAttr::get(
          b.getContext(), tile::OperandKind::B, tile::HopKind::Pack,
          core.farMemory, levels.size(), 1, /*engine=*/"", tile::LayoutAttr()));
      add(tile::LevelKind::Loop, "", panel, none, inside.take_front(outside));
      inside = inside.drop_front(outside);
    }
    SmallVector<int64_t> loops(inside);
    for (unsigned d = numParallel; d != sizes.size(); ++d)
      if (box[d] < sizes[d]) {
        chunks[d - numParallel] = box[d];
        loops.push_back(d);
      }
    bool promotes = loops.size() != inside.size();
    add(tile::LevelKind::Loop, "",
        ArrayRef<int64_t>(box).take_front(numParallel), chunks, loops);
    if (int64_t distance = chooseAhead())
      hops.push_back(tile::HopAttr::get(
          b.getContext(), tile::OperandKind::B, tile::HopKind::Prefetch,
          core.farMemory, 0, distance, /*engine=*/"", tile::LayoutAttr()));
    SmallVector<int64_t> m, n, k, group, lanesOfBoth;
    for (unsigned d = 0; d != sizes.size(); ++d) {
      if (d >= numParallel)
        (core.group > 1 && d + 1 == sizes.size() ? group : k).push_back(d);
      else if (inA(d) && d == last)
        lanesOfBoth.push_back(d);
      else if (isRow(d))
        m.push_back(d);
      else if (!inA(d))
        n.push_back(d);
    }
    SmallVector<NamedAttribute> hints = {
        b.getNamedAttr("unroll", b.getI64IntegerAttr(4))};
    if (int64_t rows = core.openSizes && !inA(last) && !candidates[chosen].unit
                           ? mostRows(*this, candidates[chosen].vectors)
                           : 0;
        rows > candidates[chosen].rows)
      hints.push_back(b.getNamedAttr("edge_rows", b.getI64IntegerAttr(rows)));
    SmallVector<int64_t> shape;
    const MultiplyUnit *matrix = candidates[chosen].unit;
    if (matrix)
      shape = {matrix->m, matrix->n,
               groupsTogether(*this, *matrix) * core.group};
    return tile::StrategyAttr::get(
        b.getContext(), matrix ? StringRef(matrix->name) : core.vectorUnit,
        shape, m, n, k, group, lanesOfBoth, levels, hops,
        matrix ? StringRef(matrix->accumulatorSpace) : "vectors",
        promotes ? int64_t(levels.size()) - 1 : -1, /*masked=*/{},
        /*partials=*/"", /*roles=*/{}, b.getDictionaryAttr(hints));
  }

  int64_t bytesOf(Value value) { return byteSize(value.getType()); }

  /// Boxes of workers: rows so that their part of a stays near, columns where
  /// b is what is large.
  void chooseWorkers() {
    double work = 1;
    for (int64_t size : sizes)
      work *= double(size);
    // Batches first: nothing is shared between them.
    int64_t boxes = 1;
    for (unsigned d = 0; d != last; ++d)
      if (inA(d) && inB(d) && sizes[d] > 1 && work > 64 * 1024) {
        workers[d] = 1;
        boxes *= sizes[d];
      }
    if (work < 512 * 1024)
      return;
    constexpr int64_t wanted = 8;
    int64_t a = bytesOf(op.getA()) / boxes, bBytes = bytesOf(op.getB()) / boxes;
    // Rows of a that fit beside a panel of b.
    // A b that comes from beyond each time is worse than rows of a that do:
    // a panel of it serves all rows, and hides them.
    int64_t fitting = llvm::divideCeil(
        a, bBytes > core.farBytes ? core.farBytes * 3 : core.farBytes / 2);
    // Each worker reads all of b: rows are cut no finer than that asks for,
    // unless b is what is small.
    int64_t parts = fitting;
    if (a >= bBytes && boxes < wanted)
      parts = std::max(parts, wanted);
    // Of rows of rows as well, as long as a part is no more than one worker may
    // have of others: a small size then has its rows in one box.
    bool keepsOuter = core.openSizes && rowDims.size() == 2 &&
                      box[rowDims[1]] == 1 && parts > 1 &&
                      work <= 1024.0 * 1024 * double(parts) &&
                      sizes[rowDims[0]] >= parts * box[rowDims[0]];
    if (parts > 1)
      for (unsigned d = 0; d != last && parts > 1; ++d)
        if (isRow(d) && sizes[d] > box[d] && !(keepsOuter && d == rowDims[1])) {
          int64_t boxesOfDim = llvm::divideCeil(sizes[d], box[d]);
          int64_t perWorker =
              std::max<int64_t>(1, boxesOfDim / std::min(parts, boxesOfDim));
          workers[d] = perWorker * box[d];
          int64_t count = llvm::divideCeil(boxesOfDim, perWorker);
          boxes *= count;
          parts = llvm::divideCeil(parts, count);
        }
    if (boxes < wanted && sizes[last] > box[last]) {
      int64_t panels = llvm::divideCeil(sizes[last], box[last]);
      int64_t count =
          std::min<int64_t>(panels, llvm::divideCeil(wanted, boxes));
      workers[last] = llvm::divideCeil(panels, count) * box[last];
    }
  }

  /// The operand that is kept near has its loop outermost.
  void chooseOrder() {
    int64_t b = bytesOf(op.getB());
    bool nearB = b <= core.farBytes / 2 && bytesOf(op.getA()) > core.nearBytes;
    rowsOutside = packs ? false : (inA(last) ? true : nearB);
    order = makeOrder(rowsOutside);
    if (tuned && !tuned->choice.order.empty())
      order.assign(tuned->choice.order.begin(), tuned->choice.order.end());
  }

  SmallVector<int64_t> makeOrder(bool rowsFirst) {
    SmallVector<int64_t> batches, rows, columns;
    for (unsigned d = 0; d != numParallel; ++d) {
      if (d == last || (inB(d) && !inA(d)))
        columns.push_back(d);
      else if (isRow(d))
        rows.push_back(d);
      else
        batches.push_back(d);
    }
    llvm::append_range(batches, rowsFirst ? rows : columns);
    llvm::append_range(batches, rowsFirst ? columns : rows);
    return batches;
  }

  /// Of all the work: boxes as chooseRegisters has seen them, for each of the
  /// dims that it left alone.
  Prediction predict() {
    Prediction result;
    unsigned rowsSeen = 0;
    double others = double(llvm::divideCeil(sizes[last], box[last]));
    double rowBoxes = 1;
    bool isWindow = inA(last);
    if (!isWindow)
      others = 1;
    for (unsigned d = last; d-- > 0;) {
      if (isRow(d) && sizes[d] > 1) {
        rowBoxes *= double(llvm::divideCeil(sizes[d], box[d]));
        if (rowsSeen++ < 2)
          continue;
      }
      others *= double(sizes[d]);
    }
    for (auto [part, size] : llvm::zip_first(workers, sizes))
      if (part != 0)
        result.groups *= int64_t(llvm::divideCeil(size, part));
    const BoxCycles &boxes = candidates[chosen].boxes;
    result.compute = boxes.compute * others;
    result.nearest = boxes.nearest * others;
    result.boxes = boxes.total * others;
    // What is not kept near is read again for each box of the other's dim.
    double a = double(bytesOf(op.getA())), b = double(bytesOf(op.getB()));
    double columnBoxes = double(llvm::divideCeil(sizes[last], box[last]));
    double panel = b / columnBoxes;
    double streams =
        (a > double(core.nearBytes) && !isWindow ? columnBoxes : 1) * a;
    streams += (panel > double(core.nearBytes) / 2 ? rowBoxes : 1) * b;
    result.farther = streams / core.farBytesPerCycle;
    double results = double(byteSize(op.getInit().getType()));
    // Steps over time after the first one find the weight near.
    result.main = (isPacked ? b / core.coldBytesPerCycle / double(runs) : 0) +
                  (a + results > double(core.farBytes)
                       ? (a + results) / core.beyondBytesPerCycle
                       : 0);
    scale = others;
    return result;
  }

  void explain(const Prediction &prediction) {
    if (!wantsRemarks(op))
      return;
    auto shape = [&](const BoxCandidate &candidate) {
      return llvm::formatv("{0}x{1}", candidate.rows, candidate.vectors * lanes)
          .str();
    };
    const BoxCandidate &best = candidates[chosen], *next = nullptr;
    for (const BoxCandidate &other : candidates)
      if ((other.rows != best.rows || other.vectors != best.vectors) &&
          (!next || other.cost < next->cost))
        next = &other;
    auto line = remark::passed(op.getLoc(), about(op, "Strategy", "strategy"));
    line << "a tile of " << remark::metric("Box", shape(best))
         << " in registers";
    if (best.unit)
      line << " of the matrix unit " << remark::metric("Unit", best.unit->name);
    else if (forTypes && !inA(last))
      line << ", not of the matrix unit "
           << remark::metric("UnitLeft", forTypes->name);
    line << ", "
         << (isPacked ? "b packed while compiling"
             : packs  ? "b packed by each call"
                      : "b read in place")
         << ", loops over dims " << remark::metric("Order", spell(order));
    if (llvm::any_of(workers, [](int64_t part) { return part != 0; }))
      line << ", a worker's part " << remark::metric("Workers", spell(workers));
    else
      line << ", all for one worker";
    line << ": " << remark::metric("Cycles", int64_t(prediction.cycles()))
         << " cycles, "
         << remark::metric(
                "Microseconds",
                llvm::formatv("{0:f1}", prediction.cycles() / core.hz * 1e6)
                    .str())
         << " us, bound by "
         << remark::metric("Bound", prediction.bound().str()) << " (compute "
         << remark::metric("ComputeCycles", int64_t(prediction.compute))
         << ", nearest memory "
         << remark::metric("NearestCycles", int64_t(prediction.nearest))
         << ", farther memory "
         << remark::metric("FartherCycles", int64_t(prediction.farther))
         << ", main memory "
         << remark::metric("MainCycles", int64_t(prediction.main)) << ")";
    if (next)
      line << "; runner-up " << remark::metric("RunnerUp", shape(*next))
           << " with "
           << remark::metric("RunnerUpCycles", int64_t(next->cost * scale))
           << " cycles for its tiles instead of "
           << remark::metric("BoxCycles", int64_t(best.cost * scale));
    int64_t products = 1;
    for (int64_t size : sizes)
      products *= size;
    line << "; " << remark::metric("MultiplyAdds", products)
         << " multiply-adds";
    if (tuned)
      explainTuned(line);
  }

  void explainTuned(remark::detail::InFlightRemark &line) {
    auto time = [](StringRef name, double microseconds) {
      return remark::metric(name, llvm::formatv("{0:f1}", microseconds).str());
    };
    line << "; from the tuning table";
    if (tuned->microseconds > 0 && tuned->ownMicroseconds > 0)
      line << ": measured " << time("TunedMicroseconds", tuned->microseconds)
           << " us instead of "
           << time("OwnMicroseconds", tuned->ownMicroseconds) << " us";
  }

  AffineMap plainB;
  const TuningEntry *tuned;
  const MultiplyUnit *forTypes;
  SmallVector<BoxCandidate, 0> candidates;
  size_t chosen = 0, own = 0; ///< `own` before the tuning was asked
  double scale = 1;
  SmallVector<int64_t> box, workers, order;
  int64_t runs; ///< of one call
  bool isPacked = false, packs = false, rowsOutside = false;
};

struct ChooseStrategies
    : ashlar::impl::ChooseStrategiesPassBase<ChooseStrategies> {
  using ChooseStrategiesPassBase::ChooseStrategiesPassBase;
  ChooseStrategies(const MachineModel &machine,
                   std::shared_ptr<StrategyTuning> tuning, bool openSizes,
                   int64_t scratchBytes, std::shared_ptr<FirstChoices> choices,
                   std::vector<CompanionDevice> companions,
                   std::shared_ptr<RefusedStrategies> refused)
      : machine(machine), tuning(std::move(tuning)), openSizes(openSizes),
        scratchBytes(scratchBytes), choices(std::move(choices)),
        companions(std::move(companions)), refused(std::move(refused)) {}
  LogicalResult initialize(MLIRContext *context) override {
    // Nobody else asks, but equal contractions are chosen for once.
    if (!refused)
      refused = std::make_shared<RefusedStrategies>();
    return readMachineOption(context, machineName, machine);
  }
  void runOnOperation() override {
    if (tuning && tuning->whyIgnored)
      remark::missed(getOperation().getLoc(),
                     about(getOperation(), "TuningTable", "strategy"))
          << "the tuning table is not used: " << *tuning->whyIgnored;
    // What becomes one kernel later is that by its form.
    ofAttentions.clear();
    getOperation().walk([&](tile::ContractOp op) {
      if (std::optional<AttentionMatch> match = matchAttention(op)) {
        ofAttentions.insert(match->scores);
        ofAttentions.insert(match->values);
      }
    });
    std::vector<int64_t> known, found;
    constexpr auto kind = FirstChoices::Kind::PanelColumns;
    if (choices)
      known = choices->find(getOperation(), kind);
    getOperation().walk([&](tile::ContractOp op) {
      if (op.getDevice())
        return chooseElsewhere(op);
      if (op.getStrategyAttr() || chooseByLevels(op, machine))
        return;
      int64_t columns = found.size() < known.size() ? known[found.size()] : 0;
      std::optional<Prediction> alone;
      if (columns != 0 && openSizes)
        alone = predictStrategy(op, machine, openSizes);
      Prediction own = chooseStrategy(op, machine, tuning.get(), openSizes,
                                      columns, scratchBytes);
      recordPrediction(op, own);
      if (alone)
        compare(op, found.size(), own, *alone);
      tile::StrategyAttr chosen = op.getStrategyAttr();
      found.push_back(chosen ? chosen.getTile(op.getParallel().size() - 1) : 0);
    });
    if (choices)
      choices->note(getOperation(), kind, std::move(found));
    if (tuning && tuning->isRefused())
      signalPassFailure();
  }
  /// What the columns of the largest sizes cost at others: noted where those
  /// are looked at, told with the largest.
  void compare(tile::ContractOp op, size_t number, const Prediction &own,
               const Prediction &alone) {
    std::string sizes;
    for (int64_t size : op.getParallel())
      sizes += (sizes.empty() ? "" : "x") + std::to_string(size);
    int64_t terms = ShapedType::getNumElements(op.getReduced());
    int64_t work = ShapedType::getNumElements(op.getParallel()) * terms;
    sizes += " of " + std::to_string(terms) + " terms";
    choices->noteLoss(
        getOperation(), number,
        {int64_t(own.cycles()), int64_t(alone.cycles()), work, sizes});
    // Beyond the largest sizes, models are looked at as well.
    FirstChoices::Loss worst = choices->findLoss(getOperation(), number, work);
    // What is said elsewhere of a strategy is as sure as that.
    constexpr double worthSaying = 1.2;
    if (worst.ratio() <= worthSaying || !wantsRemarks(op))
      return;
    remark::missed(op.getLoc(), about(op, "OpenSizes", "strategy"))
        << "columns are chosen for the largest sizes: for " << worst.sizes
        << " it is predicted to take "
        << llvm::formatv("{0:f2}", worst.ratio()).str()
        << " times as long as with columns for these alone ("
        << remark::metric("Cycles", worst.cycles) << " cycles beside "
        << remark::metric("Alone", worst.alone) << ")";
  }
  /// For another device than the host.
  void chooseElsewhere(tile::ContractOp op) {
    size_t device = *op.getDevice();
    if (device > companions.size() || !companions[device - 1].lowersKernels)
      return void(packRows(op));
    const MachineModel &own = companions[device - 1].machine;
    if (!op.getStrategyAttr() && !chooseByLevels(op, own))
      recordPrediction(op,
                       chooseStrategy(op, own, /*tuning=*/nullptr, openSizes,
                                      /*columns=*/0, scratchBytes));
  }
  /// Where groups of threads or arrays compute one part together; whether no
  /// other way is to be looked for.
  bool chooseByLevels(tile::ContractOp op, const MachineModel &machine) {
    if (machine.scopes.empty())
      return false;
    std::optional<LevelChoice> choice = chooseLevelsOfVariants(
        op, machine, openSizes, ofAttentions.contains(op), *refused);
    if (!choice) {
      remark::missed(op.getLoc(), about(op, "Strategy", "strategy"))
          << "no unit of " << machine.name << " takes " << spell(productOf(op))
          << ", or none of its tiles fits";
      return machine.vectors.bytes == 0;
    }
    op.setStrategyAttr(choice->strategy);
    recordPrediction(op, choice->prediction);
    if (wantsRemarks(op))
      remark::passed(op.getLoc(), about(op, "Strategy", "strategy"))
          << describe(choice->strategy) << ": "
          << remark::metric("Cycles", int64_t(choice->prediction.cycles()))
          << " cycles, bound by "
          << remark::metric("Bound", choice->prediction.bound().str());
    return true;
  }
  static std::string spell(const ProductTypes &types) {
    return types.left + " times " + types.right + " into " + types.accumulator;
  }
  static std::string describe(tile::StrategyAttr strategy) {
    std::string text;
    llvm::raw_string_ostream(text) << strategy;
    return text;
  }
  MachineModel machine = MachineModel::generic();
  std::shared_ptr<StrategyTuning> tuning;
  llvm::SmallPtrSet<Operation *, 8> ofAttentions;
  bool openSizes = false;
  int64_t scratchBytes = 0;
  std::shared_ptr<FirstChoices> choices;
  std::vector<CompanionDevice> companions;
  std::shared_ptr<RefusedStrategies> refused;
};
} // namespace

Prediction ashlar::chooseStrategy(tile::ContractOp op,
                                  const MachineModel &machine,
                                  StrategyTuning *tuning, bool openSizes,
                                  int64_t columns, int64_t scratchBytes) {
  Core core(machine, op);
  const MultiplyUnit *forTypes = core.matrices;
  AffineMap b = op.getBMap();
  ListedContraction listed;
  if (tuning)
    listed.contraction = contractionText(
        op, constantBehindReshapes(op.getB()) && b.isProjectedPermutation());
  if (core.group > 1 && !groupTerms(op, core.group))
    core = Core(machine, op, /*groups=*/false);
  core.openSizes = openSizes;
  StrategyChooser chooser(op, core, b,
                          tuning ? tuning->find(listed.contraction) : nullptr,
                          forTypes);
  FailureOr<Prediction> prediction =
      chooser.choose(columns, true, scratchBytes);
  if (failed(prediction)) {
    tuning->refuse();
    return Prediction();
  }
  if (tuning && tuning->lists) {
    listed.places = {nodeNames(op.getLoc())};
    listed.candidates = chooser.candidatesToMeasure();
    tuning->list(std::move(listed));
  }
  return *prediction;
}

Prediction ashlar::predictStrategy(tile::ContractOp op,
                                   const MachineModel &machine,
                                   bool openSizes) {
  auto trial = cast<tile::ContractOp>(OpBuilder(op).clone(*op));
  AffineMap b = op.getBMap();
  Core core(machine, trial);
  if (core.group > 1 && !groupTerms(trial, core.group))
    core = Core(machine, trial, /*groups=*/false);
  core.openSizes = openSizes;
  Prediction prediction = *StrategyChooser(trial, core, b, nullptr, nullptr)
                               .choose(0, /*explains=*/false);
  Operation *packed = trial.getB().getDefiningOp();
  trial.erase();
  while (packed && isOpTriviallyDead(packed)) {
    Operation *read = packed->getNumOperands()
                          ? packed->getOperand(0).getDefiningOp()
                          : nullptr;
    packed->erase();
    packed = read;
  }
  return prediction;
}

std::unique_ptr<Pass> ashlar::createChooseStrategiesPass(
    const MachineModel &machine, std::shared_ptr<StrategyTuning> tuning,
    bool openSizes, int64_t scratchBytes, std::shared_ptr<FirstChoices> choices,
    std::vector<CompanionDevice> companions,
    std::shared_ptr<RefusedStrategies> refused) {
  return std::make_unique<ChooseStrategies>(
      machine, std::move(tuning), openSizes, scratchBytes, std::move(choices),
      std::move(companions), std::move(refused));
}
