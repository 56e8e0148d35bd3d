// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Cost/ChooseBoxes.h"
#include "TileSearch.h"

using namespace mlir;
using namespace ashlar;

BoxCycles ashlar::termCycles(const Core &core, int64_t rows, int64_t vectors,
                             bool lanesOfA) {
  double work = double(rows * vectors) / core.multiplyAddsPerCycle;
  double loads =
      double(vectors + rows * (lanesOfA ? vectors : 1)) / core.loadsPerCycle;
  // A sum waits for its own last term.
  work = std::max(work, core.latency / core.multiplyAddsPerCycle);
  return {work, loads, std::max(work, loads)};
}

SmallVector<int64_t> ashlar::boxOf(const ContractShape &shape,
                                   const BoxCandidate &candidate) {
  SmallVector<int64_t> box(shape.numParallel, 1);
  if (!shape.rowDims.empty())
    box[shape.rowDims[0]] = candidate.inner;
  if (shape.rowDims.size() > 1)
    box[shape.rowDims[1]] = candidate.rows / candidate.inner;
  box.back() =
      std::min(shape.sizes[shape.last], candidate.vectors * shape.lanes);
  return box;
}

int64_t ashlar::groupsTogether(const ContractShape &shape,
                               const MultiplyUnit &unit) {
  int64_t groups = shape.sizes[shape.sizes.size() - 2];
  int64_t most = unit.k / shape.core.group;
  int64_t products = llvm::divideCeil(groups, most);
  return groups % products == 0 ? groups / products : std::min(most, groups);
}

namespace {
/// Tiles of a processor core: registers hold them, and caches bring operands by
/// themselves, so that there is one way.
class BoxChooser : ContractShape, TileSearch {
public:
  explicit BoxChooser(const ContractShape &shape) : ContractShape(shape) {
    inner = rowDims.empty() ? 1 : sizes[rowDims[0]];
    outer = rowDims.size() < 2 ? 1 : sizes[rowDims[1]];
  }

  BoxChoice run() && {
    search();
    return std::move(choice);
  }
  int64_t rowsBeside(int64_t vectors) { return innerSizes(vectors).back(); }

private:
  /// Vectors, then a unit whose registers are matrices.
  SmallVector<const MultiplyUnit *> units() override {
    SmallVector<const MultiplyUnit *> all = {nullptr};
    if (core.matrices && core.group > 1 && !core.openSizes)
      all.push_back(core.matrices);
    return all;
  }
  size_t useUnit(const MultiplyUnit *one) override {
    unit = one;
    return 1;
  }
  void useWay(size_t) override {}
  void endWay() override {}
  bool hasWindows() { return !unit && inA(last); }

  SmallVector<int64_t> outerSizes() override {
    if (hasWindows())
      return upTo(std::min<int64_t>(outer, 4));
    return upTo(unit ? llvm::divideCeil(sizes[last], unit->n)
                     : std::min<int64_t>(allVectors(), 8));
  }
  SmallVector<int64_t> innerSizes(int64_t size) override {
    if (hasWindows())
      return upTo(std::min(inner, windowSums() / size));
    if (unit)
      return matricesBeside(size);
    // b's registers, and one for a's element where it cannot be an operand.
    int64_t own = sharesTaps() || endsWithHalf(size) ? 3 : 1;
    int64_t left = core.registers - size - own;
    return upTo(std::max<int64_t>(1, left / size));
  }
  void tryTile(int64_t size, int64_t inside) override {
    if (hasWindows())
      tryWindow(size, inside);
    else if (unit)
      tryMatrices(size, inside);
    else
      tryVectors(size, inside);
  }
  static constexpr int64_t fewRegisters = 16;
  /// Whether unrolled terms are taps, so that neighbouring rows share elements
  /// of a. A machine with few registers, to which elements are no operands,
  /// keeps some from term to term, and then sums in memory: 6x16 takes up to
  /// 1.9 times as long as 5x16 (Zen 3, `ashlar-bench --tune`).
  bool sharesTaps() {
    if (core.registers > fewRegisters || rowDims.empty())
      return false;
    unsigned tap = sizes.size() - 1;
    return tap >= numParallel && sizes[tap] > 1 &&
           llvm::any_of(op.getAMap().getResults(), [&](AffineExpr place) {
             return place.isFunctionOfDim(tap) &&
                    place.isFunctionOfDim(rowDims[0]);
           });
  }
  /// Whether the last of `size` vectors of a box is a half. Elements of a are
  /// then factors of both kinds, which the shorter products overwrite; inside
  /// of three loops over terms, sums go to memory instead: 6x12 takes up to
  /// 1.97 times as long as 5x12, and 4x20 2.5 times as long as 3x20 (Zen 3,
  /// `ashlar-bench --tune`). Inside of two loops, neither does.
  bool endsWithHalf(int64_t size) {
    return core.registers <= fewRegisters && size > 1 &&
           allVectors() % size == 0 && sizes[last] % lanes * 2 == lanes &&
           sizes.size() - numParallel >= 3;
  }
  static SmallVector<int64_t> upTo(int64_t most) {
    return llvm::to_vector(
        llvm::seq_inclusive<int64_t>(1, std::max<int64_t>(most, 0)));
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
          sum.add(double(times * count), boxCycles(r, v));
    return sum;
  }

  /// Cycles of one term of a box, with its share of what begins and ends it.
  /// The end of a box is done beside the beginning of the next as far as both
  /// are in flight at once: long sums wait for their epilogue, short ones do
  /// not. Fitted to boxes that were measured with `ashlar-bench --tune` on a
  /// Zen 4 core.
  BoxCycles boxCycles(int64_t rows, int64_t vectors) {
    constexpr double inFlight = 512, begin = 16, end = 6;
    BoxCycles cycles = termCycles(core, rows, vectors, inA(last));
    double sums = double(rows * vectors);
    double waits = 1 - std::min(1.0, inFlight / (sums * double(terms)));
    cycles.total += (waits * end * sums + begin) / double(terms);
    return cycles;
  }

  /// How many vectors of a a box of windows reads.
  double vectorsOfA(const BoxCandidate &candidate) {
    SmallVector<int64_t> box = boxOf(*this, candidate);
    SmallVector<int64_t> low(sizes.size(), 0), high(low);
    for (unsigned d = 0; d != sizes.size(); ++d)
      high[d] = (d == last ? 1 : d < numParallel ? box[d] : sizes[d]) - 1;
    double count = 1;
    for (auto [from, to] :
         llvm::zip(op.getAMap().compose(low), op.getAMap().compose(high)))
      count *= double(std::abs(to - from) + 1);
    return count;
  }

  /// Sums of windows: b's vectors stay in registers where there is room.
  int64_t windowSums() {
    int64_t left = core.registers - 2;
    return std::max(left - std::min(terms, left / 2), int64_t(1));
  }

  /// A box of windows that share what they read: each vector of a is loaded
  /// once for all sums that it is part of.
  void tryWindow(int64_t out, int64_t in) {
    BoxCandidate candidate = {out * in, in, 1, 0, {}};
    double loads = vectorsOfA(candidate);
    double work = double(in * out * terms) / core.multiplyAddsPerCycle;
    double cost = std::max(work, loads / core.loadsPerCycle) + loads / 8;
    // What is left over at the end of a dim is done again at full cost.
    double boxes = double(llvm::divideCeil(inner, in)) *
                   double(llvm::divideCeil(outer, out));
    cost *= boxes;
    candidate.cost = cost;
    candidate.boxes = {work * boxes, loads / core.loadsPerCycle * boxes, cost};
    choice.candidates.push_back(candidate);
    if (best < 0 || cost < best * 0.99)
      take(cost);
  }

  int64_t allVectors() { return llvm::divideCeil(sizes[last], lanes); }

  void tryVectors(int64_t vectors, int64_t rows) {
    int64_t in = std::min(rows, inner);
    int64_t out = in == inner ? std::min(outer, rows / in) : 1;
    if (in * out != rows)
      return;
    BoxCycles boxes;
    boxes.add(double(outer), totalCycles(inner, allVectors(), in, vectors));
    double cost = boxes.total;
    if (out > 1) {
      cost = totalCycles(outer, allVectors(), out, vectors).total / out *
             boxCycles(rows, vectors).total / boxCycles(out, vectors).total *
             out;
      boxes.add(cost / boxes.total - 1, boxes);
    }
    choice.candidates.push_back({rows, in, vectors, cost * double(terms), {}});
    choice.candidates.back().boxes.add(double(terms), boxes);
    // Among equals, the one that loads least. Vectors of b come from farther
    // away than elements of a, and wait in registers.
    double loads = double(rows + 2 * vectors) / double(rows * vectors);
    // Code for edges is code to load.
    if (allVectors() % vectors != 0)
      loads *= 1.1;
    if (inner % in != 0)
      loads *= 1.02;
    if (best < 0 || cost < best * 0.98 ||
        (loads < bestLoads && cost < best * 1.01)) {
      bestLoads = loads;
      take(cost);
    }
  }

  /// What was tried last is the best so far.
  void take(double cost) {
    best = cost;
    choice.best = choice.candidates.size() - 1;
  }

  /// How many registers of a matrix unit may lie below each other beside so
  /// many, with one for each part of an operand that they share.
  SmallVector<int64_t> matricesBeside(int64_t wide) {
    int64_t parts = llvm::divideCeil(inner, unit->m);
    int64_t most = (unit->accumulators - wide) / (wide + 1);
    return upTo(std::min(most, parts * (parts == 1 ? outer : 1)));
  }

  /// Boxes of whole registers of a matrix unit, `high` by `wide` of them. Rows
  /// are those of one dim, which lie evenly apart in a.
  void tryMatrices(int64_t wide, int64_t high) {
    int64_t parts = llvm::divideCeil(inner, unit->m);
    int64_t columns = llvm::divideCeil(sizes[last], unit->n);
    int64_t groups = sizes[sizes.size() - 2];
    int64_t perProduct = groupsTogether(*this, *unit);
    double products =
        double(terms / groups * llvm::divideCeil(groups, perProduct));
    double load =
        double(unit->m * core.vectorsOfMatrix(*unit)) / core.loadsPerCycle;
    int64_t in = std::min(inner, high * unit->m);
    int64_t out = parts == 1 ? std::min(outer, high) : 1;
    if (!fitsRegisters(*unit, in, out, wide * unit->n))
      return;
    double rowBoxes =
        double(llvm::divideCeil(inner, in) * llvm::divideCeil(outer, out));
    double columnBoxes = double(llvm::divideCeil(columns, wide));
    double rowParts =
        double(outer * (inner / in * llvm::divideCeil(in, unit->m) +
                        llvm::divideCeil(inner % in, unit->m)));
    double matrices = rowParts * double(columns);
    double compute = matrices / unit->stepsPerCycle * products;
    double loads =
        (rowParts * columnBoxes + double(columns) * rowBoxes) * load * products;
    // Through memory to the registers of the epilogue.
    double drain = 2 * matrices * load;
    double cost = std::max(compute, loads) + loads / 8 + drain;
    choice.candidates.push_back(
        {in * out,
         in,
         int64_t(llvm::divideCeil(wide * unit->n, lanes)),
         cost,
         {compute, loads, cost},
         unit});
    if (cost < choice.candidates[choice.best].cost)
      choice.best = choice.candidates.size() - 1;
  }

  /// Whether a box's sums and what they are made of have registers, at the
  /// edges too: each keeps its shape as long as there are sums. Part by part of
  /// a, row by row of sums: of a's parts those of one shape share a register.
  bool fitsRegisters(const MultiplyUnit &unit, int64_t in, int64_t out,
                     int64_t columns) {
    auto shapes = [](int64_t extent, int64_t whole) {
      return int64_t(extent >= whole) + int64_t(extent % whole != 0);
    };
    int64_t groups = sizes[sizes.size() - 2];
    int64_t kinds = shapes(groups, groupsTogether(*this, unit));
    auto fits = [&](int64_t rows, int64_t places, int64_t width) {
      int64_t high = llvm::divideCeil(rows, unit.m) * places;
      int64_t wide = llvm::divideCeil(width, unit.n);
      int64_t left = shapes(rows, unit.m);
      int64_t right = high > 1 ? wide : shapes(width, unit.n);
      return high * wide + (left + right) * kinds <= unit.accumulators;
    };
    auto boxes = [](int64_t extent, int64_t box) {
      SmallVector<int64_t, 2> found = {std::min(extent, box)};
      if (extent > box && extent % box != 0)
        found.push_back(extent % box);
      return found;
    };
    for (int64_t rows : boxes(inner, in))
      for (int64_t places : boxes(outer, out))
        for (int64_t width : boxes(sizes[last], columns))
          if (!fits(rows, places, width))
            return false;
    return true;
  }

  int64_t inner, outer; ///< rows, along the two innermost dims of them
  const MultiplyUnit *unit = nullptr; ///< that is tried; null: vectors
  double best = -1, bestLoads = 0;    ///< of vectors
  BoxChoice choice;
};
} // namespace

BoxChoice ashlar::chooseBoxes(const ContractShape &shape) {
  return BoxChooser(shape).run();
}

int64_t ashlar::mostRows(const ContractShape &shape, int64_t vectors) {
  return BoxChooser(shape).rowsBeside(vectors);
}
