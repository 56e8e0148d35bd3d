// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One strategy per contraction: the register box that needs the fewest cycles
// for its terms, loops that keep the smaller operand near, boxes for workers.
// Constants are packed into the panels that the kernel reads.
#include "ChooseStrategy.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Analysis/Reshapes.h"
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "ashlar/Support/Remarks.h"
#include "ashlar/Transforms/Fuse/Passes.h"
#include "ashlar/Transforms/Fuse/Tuning.h"
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

StringRef Prediction::bound() const {
  if (main >= std::max(boxes, farther))
    return "main memory";
  if (farther >= boxes)
    return "farther memory";
  return nearest > compute ? "nearest memory" : "compute";
}

/// [1, 14, 32]
static std::string spell(ArrayRef<int64_t> values) {
  auto text = [](int64_t value) { return std::to_string(value); };
  return "[" + llvm::join(llvm::map_range(values, text), ", ") + "]";
}

namespace {
/// Cycles of boxes of registers: what each unit takes alone, and the slower of
/// the two for each box.
struct BoxCycles {
  double compute = 0, nearest = 0, total = 0;
  void add(double times, const BoxCycles &box) {
    compute += times * box.compute;
    nearest += times * box.nearest;
    total += times * box.total;
  }
};

class StrategyChooser {
public:
  /// `b` is b's map before terms were grouped. `tuned` may be null.
  StrategyChooser(tile::ContractOp op, const Core &core, AffineMap b,
                  const TuningEntry *tuned)
      : op(op), core(core), plainB(b), tuned(tuned),
        numParallel(op.getParallel().size()), last(numParallel - 1) {
    sizes.assign(op.getParallel().begin(), op.getParallel().end());
    llvm::append_range(sizes, op.getReduced());
    box.assign(sizes.size(), 1);
    workers.assign(numParallel, 0);
    int64_t bytes = elementBytes(op.getAccumulatorType());
    lanes = std::max<int64_t>(1, core.vectorBytes / bytes);
    terms = ShapedType::getNumElements(op.getReduced()) / core.group;
    for (unsigned d = last; d-- > 0;)
      if (isRow(d) && sizes[d] > 1)
        rowDims.push_back(d);
  }

  /// Fails, having said why, where the tuning's entry does not fit; its choice
  /// is then the model's own.
  FailureOr<Prediction> choose() {
    chooseRegisters();
    own = chosen;
    LogicalResult fits = tuned ? takeTuned() : success();
    chooseChunks();
    packConstant();
    if (!isPacked)
      packLarge();
    packs = !isPacked && needsPacking();
    chooseWorkers();
    chooseOrder();
    auto strategy = tile::StrategyAttr::get(
        op.getContext(), workers, box, order, /*unroll=*/4, packs,
        /*grouped=*/core.group > 1, chooseAhead());
    op.setStrategyAttr(strategy);
    Prediction prediction = predict();
    explain(prediction);
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
      chosen = i;
      std::vector<int64_t> measured = boxOf(candidates[i]).vec();
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
  /// A box of registers that was considered; cost is what decided.
  struct Candidate {
    int64_t rows, inner, vectors; ///< `inner` of the rows along one dim
    double cost;
    BoxCycles boxes;
  };

  bool inA(unsigned d) { return op.getAMap().isFunctionOfDim(d); }
  bool inB(unsigned d) { return op.getBMap().isFunctionOfDim(d); }
  /// A dim along which b stays the same.
  bool isRow(unsigned d) { return d != last && !inB(d) && inA(d); }

  /// Cycles of one term of a box of registers.
  BoxCycles cycles(int64_t rows, int64_t vectors, bool lanesOfA) const {
    double work = double(rows * vectors) / core.multiplyAddsPerCycle;
    double loads =
        double(vectors + rows * (lanesOfA ? vectors : 1)) / core.loadsPerCycle;
    // A sum waits for its own last term.
    work = std::max(work, core.latency / core.multiplyAddsPerCycle);
    return {work, loads, std::max(work, loads)};
  }

  /// Cycles for a whole dim of `rows` and `columns` in boxes.
  BoxCycles totalCycles(int64_t allRows, int64_t allVectors, int64_t rows,
                        int64_t vectors) {
    BoxCycles sum;
    for (auto [r, times] :
         {std::pair(rows, allRows / rows),
          std::pair(allRows % rows, int64_t(allRows % rows != 0))})
      for (auto [v, count] : {std::pair(vectors, allVectors / vectors),
                              std::pair(allVectors % vectors,
                                        int64_t(allVectors % vectors != 0))})
        if (times != 0 && count != 0)
          sum.add(double(times * count), cycles(r, v, inA(last)));
    return sum;
  }

  /// How many vectors of a a box of windows reads.
  double vectorsOfA() {
    SmallVector<int64_t> low(sizes.size(), 0), high(low);
    for (unsigned d = 0; d != sizes.size(); ++d)
      high[d] = (d == last ? 1 : d < numParallel ? box[d] : sizes[d]) - 1;
    double count = 1;
    for (auto [from, to] :
         llvm::zip(op.getAMap().compose(low), op.getAMap().compose(high)))
      count *= double(std::abs(to - from) + 1);
    return count;
  }

  /// The register box: `inner` and `outer` rows, `columns` side by side.
  void setBox(int64_t inner, int64_t outer, int64_t columns) {
    if (!rowDims.empty())
      box[rowDims[0]] = inner;
    if (rowDims.size() > 1)
      box[rowDims[1]] = outer;
    box[last] = std::min(sizes[last], columns);
  }

  /// How many rows read the same b.
  int64_t countRows() {
    int64_t rows = 1;
    for (unsigned d = 0; d != last; ++d)
      if (isRow(d))
        rows *= sizes[d];
    return rows;
  }

  /// A box of windows that share what they read: each vector of a is loaded
  /// once for all sums that it is part of.
  void chooseWindow() {
    int64_t inner = rowDims.empty() ? 1 : sizes[rowDims[0]];
    int64_t outer = rowDims.size() < 2 ? 1 : sizes[rowDims[1]];
    // b's vectors stay in registers where there is room for them.
    int64_t left = core.registers - 2;
    int64_t sums = std::max(left - std::min(terms, left / 2), int64_t(1));
    double best = -1;
    int64_t bestInner = 1, bestOuter = 1;
    for (int64_t out = 1; out <= std::min<int64_t>(outer, 4); ++out)
      for (int64_t in = 1; in <= std::min(inner, sums / out); ++in) {
        setBox(in, out, lanes);
        double loads = vectorsOfA();
        double work = double(in * out * terms) / core.multiplyAddsPerCycle;
        double cost = std::max(work, loads / core.loadsPerCycle) + loads / 8;
        // What is left over at the end of a dim is done again at full cost.
        double boxes = double(llvm::divideCeil(inner, in)) *
                       double(llvm::divideCeil(outer, out));
        cost *= boxes;
        candidates.push_back(
            {out * in,
             in,
             1,
             cost,
             {work * boxes, loads / core.loadsPerCycle * boxes, cost}});
        if (best < 0 || cost < best * 0.99) {
          best = cost;
          bestInner = in, bestOuter = out;
          chosen = candidates.size() - 1;
        }
      }
    setBox(bestInner, bestOuter, lanes);
  }

  void chooseRegisters() {
    if (inA(last)) {
      chooseWindow();
      return;
    }
    int64_t allVectors = llvm::divideCeil(sizes[last], lanes);
    int64_t inner = rowDims.empty() ? 1 : sizes[rowDims[0]];
    int64_t outer = rowDims.size() < 2 ? 1 : sizes[rowDims[1]];
    double best = -1, bestLoads = 0;
    int64_t bestInner = 1, bestOuter = 1, bestVectors = 1;
    for (int64_t vectors = 1; vectors <= std::min<int64_t>(allVectors, 8);
         ++vectors) {
      // b's registers, and one for a's element where it cannot be an operand.
      int64_t left = core.registers - vectors - 1;
      int64_t maximum = std::max<int64_t>(1, left / vectors);
      for (int64_t rows = 1; rows <= maximum; ++rows) {
        int64_t in = std::min(rows, inner);
        int64_t out = in == inner ? std::min(outer, rows / in) : 1;
        if (in * out != rows)
          continue;
        BoxCycles boxes;
        boxes.add(double(outer), totalCycles(inner, allVectors, in, vectors));
        double cost = boxes.total;
        if (out > 1) {
          cost = totalCycles(outer, allVectors, out, vectors).total / out *
                 cycles(rows, vectors, inA(last)).total /
                 cycles(out, vectors, inA(last)).total * out;
          boxes.add(cost / boxes.total - 1, boxes);
        }
        candidates.push_back({rows, in, vectors, cost * double(terms), {}});
        candidates.back().boxes.add(double(terms), boxes);
        // Among equals, the one that loads least. Vectors of b come from
        // farther away than elements of a, and wait in registers.
        double loads = double(rows + 2 * vectors) / double(rows * vectors);
        // Code for edges is code to load.
        if (allVectors % vectors != 0)
          loads *= 1.1;
        if (inner % in != 0)
          loads *= 1.02;
        if (best < 0 || cost < best * 0.98 ||
            (loads < bestLoads && cost < best * 1.01)) {
          best = cost;
          bestLoads = loads;
          bestInner = in, bestOuter = out, bestVectors = vectors;
          chosen = candidates.size() - 1;
        }
      }
    }
    setBox(bestInner, bestOuter, bestVectors * lanes);
  }

  /// Sets the box; its parallel part.
  ArrayRef<int64_t> boxOf(const Candidate &candidate) {
    setBox(candidate.inner, candidate.rows / candidate.inner,
           candidate.vectors * lanes);
    return ArrayRef(box).take_front(numParallel);
  }

  /// The entry's box where it is one of those considered, which fit; checks
  /// its order.
  LogicalResult takeTuned() {
    const StrategyChoice &choice = tuned->choice;
    auto *considered = llvm::find_if(candidates, [&](const Candidate &each) {
      return boxOf(each) == ArrayRef(choice.box);
    });
    if (considered == candidates.end())
      return refuseTuned("a box over its parallel dims that fits the "
                         "registers, such as " +
                             spell(boxOf(candidates[own])),
                         choice.box);
    chosen = considered - candidates.begin();
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
      if (!isa<FloatType>(op.getAccumulatorType()))
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

  /// Stores a constant b as panels: column boxes outermost, then what the
  /// loops go through, the columns of a box innermost.
  void packConstant() {
    TypedAttr constant = constantBehindReshapes(op.getB());
    if (!constant || !plainB.isProjectedPermutation())
      return;
    SmallVector<std::pair<unsigned, int64_t>> others;
    int64_t columns = -1;
    for (auto [i, expr] : llvm::enumerate(plainB.getResults())) {
      unsigned dim = cast<AffineDimExpr>(expr).getPosition();
      if (dim == last)
        columns = i;
      else
        others.emplace_back(dim, i);
    }
    llvm::sort(others);
    // A weight of a loop's body is one of the program.
    auto function = op->getParentOfType<func::FuncOp>();
    OpBuilder b(function.getBody().front().findAncestorOpInBlock(*op));
    int64_t panel = llvm::alignTo(box[last], lanes);
    auto type = cast<RankedTensorType>(op.getB().getType());
    SmallVector<int64_t> order;
    SmallVector<int64_t> shape = {
        int64_t(llvm::divideCeil(sizes[last], panel))};
    AffineExpr column = b.getAffineDimExpr(last);
    SmallVector<AffineExpr> place = {column.floorDiv(panel)};
    for (auto [dim, i] : others) {
      order.push_back(i);
      shape.push_back(type.getDimSize(i));
      place.push_back(b.getAffineDimExpr(dim));
    }
    shape.push_back(panel);
    place.push_back(column % panel);
    IntegerAttr group;
    if (core.group > 1) {
      group = b.getI64IntegerAttr(core.group);
      shape[shape.size() - 2] /= core.group;
      shape.push_back(core.group);
      place.push_back(b.getAffineDimExpr(sizes.size() - 1));
    }
    Value source = arith::ConstantOp::create(b, op.getB().getLoc(), constant);
    Value packed = tile::PackOp::create(
        b, op.getLoc(), RankedTensorType::get(shape, type.getElementType()),
        source, b.getI64IntegerAttr(columns), b.getDenseI64ArrayAttr(order),
        group);
    op.getBMutable().assign(packed);
    SmallVector<AffineMap> maps(op.getMaps().getAsValueRange<AffineMapAttr>());
    maps[1] = AffineMap::get(sizes.size(), 0, place, op.getContext());
    op.setMapsAttr(b.getAffineMapArrayAttr(maps));
    isPacked = true;
  }

  /// Copies b into panels before it is read many times: one pass more over its
  /// bytes, instead of rows that lie pages apart or panels that every worker
  /// makes for itself.
  void packLarge() {
    constexpr int64_t many = 192;
    AffineMap map = op.getBMap();
    int64_t panel = box[last];
    if (core.openSizes || !map.isProjectedPermutation() || countRows() < many ||
        sizes[last] % panel != 0)
      return;
    SmallVector<unsigned> batches;
    int64_t columns = -1, term = -1;
    for (auto [i, expr] : llvm::enumerate(map.getResults())) {
      unsigned d = cast<AffineDimExpr>(expr).getPosition();
      if (d == last)
        columns = i;
      else if (d < numParallel)
        batches.push_back(i);
      else if (term >= 0)
        return;
      else
        term = i;
    }
    if (term < 0 || columns < 0 ||
        (batches.empty() ? bytesOf(op.getB()) < core.farBytes
                         : core.group > 1 || !needsPacking()))
      return;
    OpBuilder b(op);
    auto type = cast<RankedTensorType>(op.getB().getType());
    // Loops go along the rows of b, which lie pages apart: over its columns,
    // then terms, or the other way round, and the columns of a panel.
    unsigned rank = batches.size() + 3;
    SmallVector<AffineExpr> read(type.getRank()), written, place;
    SmallVector<int64_t> shape;
    for (auto [loop, i] : llvm::enumerate(batches)) {
      read[i] = b.getAffineDimExpr(loop);
      written.push_back(read[i]);
      shape.push_back(type.getDimSize(i));
      place.push_back(map.getResult(i));
    }
    AffineExpr outer = b.getAffineDimExpr(rank - 3),
               inner = b.getAffineDimExpr(rank - 2),
               c = b.getAffineDimExpr(rank - 1);
    bool isTransposed = columns < term;
    AffineExpr p = isTransposed ? outer : inner;
    AffineExpr k = isTransposed ? inner : outer;
    read[term] = k;
    read[columns] = p * panel + c;
    llvm::append_values(written, p, k, c);
    llvm::append_values(shape, sizes[last] / panel, type.getDimSize(term),
                        panel);
    AffineMap maps[] = {AffineMap::get(rank, 0, read, op.getContext()),
                        AffineMap::get(rank, 0, written, op.getContext())};
    Value empty =
        tensor::EmptyOp::create(b, op.getLoc(), shape, type.getElementType());
    SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
    auto copy = linalg::GenericOp::create(
        b, op.getLoc(), empty.getType(), op.getB(), empty, maps, loops,
        [](OpBuilder &inner, Location at, ValueRange arguments) {
          linalg::YieldOp::create(inner, at, arguments[0]);
        });
    AffineExpr column = b.getAffineDimExpr(last);
    op.getBMutable().assign(copy.getResult(0));
    llvm::append_values(place, column.floorDiv(panel), map.getResult(term),
                        column % panel);
    SmallVector<AffineMap> changed(
        op.getMaps().getAsValueRange<AffineMapAttr>());
    changed[1] = AffineMap::get(sizes.size(), 0, place, op.getContext());
    op.setMapsAttr(b.getAffineMapArrayAttr(changed));
    isPacked = true;
  }

  /// Whether neighbouring columns of b lie apart and are read by many rows.
  bool needsPacking() {
    if (core.group > 1)
      return true;
    bool isColumn = llvm::is_contained(op.getBMap().getResults(),
                                       getAffineDimExpr(last, op.getContext()));
    return isColumn && strideOfB(last) != 1 && countRows() >= 4;
  }

  /// How far neighbours along `dim` lie apart in b as it is.
  int64_t strideOfB(unsigned dim) {
    int64_t step = 0, stride = 1;
    auto type = cast<RankedTensorType>(op.getB().getType());
    for (unsigned i = op.getBMap().getNumResults(); i-- > 0;) {
      if (op.getBMap().getResult(i).isFunctionOfDim(dim))
        step += stride;
      stride *= type.getDimSize(i);
    }
    return step;
  }

  /// Where rows of b are pages apart and read once, no machine foresees them:
  /// what comes from beyond takes longer than what is done with it.
  int64_t chooseAhead() {
    int64_t vectors = llvm::divideCeil(box[last], lanes), rows = 1;
    for (unsigned d = 0; d != last; ++d)
      rows *= box[d];
    double bytes = double(
        box[last] * elementBytes(getElementTypeOrSelf(op.getB().getType())));
    double term = std::max(cycles(rows, vectors, inA(last)).total,
                           bytes / core.beyondBytesPerCycle);
    if (isPacked || packs || inA(last) || numParallel == sizes.size() ||
        bytesOf(op.getB()) <= core.farBytes ||
        strideOfB(sizes.size() - 1) <= box[last] ||
        term > bytes / core.beyondBytesPerCycle)
      return 0;
    return int64_t(std::ceil(core.mainLatency / term));
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
    if (parts > 1)
      for (unsigned d = 0; d != last && parts > 1; ++d)
        if (isRow(d) && sizes[d] > box[d]) {
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
    double results = double(byteSize(op.getResult(0).getType()));
    result.main = (isPacked ? b / core.coldBytesPerCycle : 0) +
                  (a + results > double(core.farBytes)
                       ? (a + results) / core.beyondBytesPerCycle
                       : 0);
    scale = others;
    return result;
  }

  void explain(const Prediction &prediction) {
    if (!wantsRemarks(op))
      return;
    auto shape = [&](const Candidate &candidate) {
      return llvm::formatv("{0}x{1}", candidate.rows, candidate.vectors * lanes)
          .str();
    };
    const Candidate &best = candidates[chosen], *next = nullptr;
    for (const Candidate &other : candidates)
      if ((other.rows != best.rows || other.vectors != best.vectors) &&
          (!next || other.cost < next->cost))
        next = &other;
    auto line = remark::passed(op.getLoc(), about(op, "Strategy", "strategy"));
    line << remark::metric("Box", shape(best)) << " sums in registers, "
         << (isPacked ? "b in panels"
             : packs  ? "b put into panels on the way"
                      : "b as it lies")
         << ", loops " << remark::metric("Order", spell(order)) << ", workers "
         << remark::metric("Workers", spell(workers)) << ": "
         << remark::metric("Cycles", int64_t(prediction.cycles()))
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
           << " cycles of its boxes instead of "
           << remark::metric("BoxCycles", int64_t(best.cost * scale));
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

  tile::ContractOp op;
  Core core;
  AffineMap plainB;
  const TuningEntry *tuned;
  SmallVector<Candidate, 0> candidates;
  size_t chosen = 0, own = 0; ///< `own` before the tuning was asked
  double scale = 1;
  unsigned numParallel, last;
  SmallVector<int64_t> sizes, box, workers, order;
  SmallVector<unsigned, 4> rowDims; ///< from the inside
  int64_t lanes, terms;
  bool isPacked = false, packs = false, rowsOutside = false;
};

struct ChooseStrategies
    : ashlar::impl::ChooseStrategiesPassBase<ChooseStrategies> {
  ChooseStrategies() = default;
  ChooseStrategies(const MachineModel &machine,
                   std::shared_ptr<StrategyTuning> tuning, bool openSizes)
      : machine(machine), tuning(std::move(tuning)), openSizes(openSizes) {}
  void runOnOperation() override {
    if (tuning && !tuning->whyIgnored.empty())
      remark::missed(getOperation().getLoc(),
                     about(getOperation(), "TuningTable", "strategy"))
          << "the tuning table is not used: " << tuning->whyIgnored;
    getOperation().walk([&](tile::ContractOp op) {
      if (!op.getStrategyAttr())
        recordPrediction(op,
                         chooseStrategy(op, machine, tuning.get(), openSizes));
    });
    if (tuning && tuning->isRefused())
      signalPassFailure();
  }
  static void recordPrediction(Operation *op, const Prediction &prediction) {
    Builder b(op->getContext());
    op->setAttr(exec::cyclesAttrName,
                b.getI64IntegerAttr(int64_t(prediction.cycles())));
    op->setAttr(exec::boundAttrName, b.getStringAttr(prediction.bound()));
  }
  MachineModel machine = MachineModel::generic();
  std::shared_ptr<StrategyTuning> tuning;
  bool openSizes = false;
};
} // namespace

Prediction ashlar::chooseStrategy(tile::ContractOp op,
                                  const MachineModel &machine,
                                  StrategyTuning *tuning, bool openSizes) {
  Core core(machine, op);
  AffineMap b = op.getBMap();
  ListedContraction listed;
  if (tuning)
    listed.contraction = contractionText(
        op, constantBehindReshapes(op.getB()) && b.isProjectedPermutation());
  if (core.group > 1 && !groupTerms(op, core.group))
    core = Core(machine, op, /*groups=*/false);
  core.openSizes = openSizes;
  StrategyChooser chooser(op, core, b,
                          tuning ? tuning->find(listed.contraction) : nullptr);
  FailureOr<Prediction> prediction = chooser.choose();
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

std::unique_ptr<Pass>
ashlar::createChooseStrategiesPass(const MachineModel &machine,
                                   std::shared_ptr<StrategyTuning> tuning,
                                   bool openSizes) {
  return std::make_unique<ChooseStrategies>(machine, std::move(tuning),
                                            openSizes);
}
