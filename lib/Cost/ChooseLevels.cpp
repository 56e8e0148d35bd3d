// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Cost/ChooseLevels.h"
#include "ashlar/Analysis/BoxReach.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Analysis/RingBytes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace ashlar;

/// Of tiles of a grid, which as many columns follow. About as many rows as
/// columns run at once on machines of some hundred workers: 8 x 16, of tiles
/// that are twice as wide as high.
static constexpr int64_t rowsTogether = 8;

namespace {
/// All that is chosen; sizes by dim of the contraction.
struct Candidate {
  SmallVector<int64_t> tile, part; ///< of an accumulator; of one of its group
  int64_t across = 1; ///< parts of the grid side by side that share b's copies
  int64_t slots = 2;
  double cycles = 0;
  Prediction prediction;
};

class LevelChooser {
public:
  LevelChooser(tile::ContractOp op, const MachineModel &machine, bool openSizes)
      : op(op), machine(machine), openSizes(openSizes),
        numParallel(op.getParallel().size()) {
    sizes.assign(op.getParallel().begin(), op.getParallel().end());
    llvm::append_range(sizes, op.getReduced());
    unsigned last = numParallel - 1;
    for (unsigned d = 0; d != numParallel; ++d) {
      bool inA = op.getAMap().isFunctionOfDim(d),
           inB = op.getBMap().isFunctionOfDim(d);
      if (d == last && inA && inB)
        lanes.push_back(d);
      else if (d == last)
        n.push_back(d);
      else if (inA && !inB)
        m.push_back(d);
    }
    for (unsigned d = numParallel; d != sizes.size(); ++d)
      k.push_back(d);
    for (const Scope &scope : machine.scopes)
      if (scope.kind == "grid")
        outer = std::exchange(inner, &scope);
  }

  /// The best of what each unit makes possible.
  std::optional<LevelChoice> run() {
    std::optional<LevelChoice> best;
    std::pair<double, double> least;
    for (const MultiplyUnit *one : findUnits()) {
      unit = one;
      if (!takesOperands() || !findGroup() || !findPath())
        continue;
      candidates.clear();
      enumerate();
      auto choice = chooseCandidate();
      if (choice && (!best || choice->second < least))
        std::tie(best, least) = *choice;
    }
    return best;
  }

private:
  /// Of two that wait for the same memory, that which has less to do is better.
  std::pair<double, double> timeOf(const Candidate &one) {
    return {one.cycles, group->registerBytes ? one.prediction.boxes : 0.0};
  }

  std::optional<std::pair<LevelChoice, std::pair<double, double>>>
  chooseCandidate() {
    llvm::stable_sort(candidates, [&](const Candidate &x, const Candidate &y) {
      return timeOf(x) < timeOf(y);
    });
    // What the verifier does not take is not for this contraction; nor is one
    // whose windows reach farther than its tiles.
    for (const Candidate &one : candidates)
      if (tile::StrategyAttr strategy = strategyOf(one);
          ringBytes(op, strategy) <= near->bytesOfPart() && fits(strategy))
        return std::pair(LevelChoice{strategy, one.prediction}, timeOf(one));
    return std::nullopt;
  }

  /// Those whose threads hold fragments, and the fastest other one for the
  /// types; else for those of the sum.
  SmallVector<const MultiplyUnit *> findUnits() {
    ProductTypes own = productOf(op), wide = own;
    wide.left = wide.right = wide.accumulator;
    SmallVector<const MultiplyUnit *> units;
    const MultiplyUnit *fastest = nullptr;
    for (bool isOwn : {true, false})
      for (const MultiplyUnit &one : machine.units) {
        if (!one.takes(isOwn ? own : wide) || !machine.scope(one.scope) ||
            // Lanes of all three have no rows and terms to share.
            (!lanes.empty() && (one.m != 1 || one.k != 1)))
          continue;
        if (one.fragment && isOwn)
          units.push_back(&one);
        else if (!one.fragment &&
                 (!fastest || one.flopsPerCycle() > fastest->flopsPerCycle()) &&
                 (!fastest || isOwn || !fastest->takes(own)))
          fastest = &one;
      }
    if (fastest)
      units.push_back(fastest);
    return units;
  }

  bool findGroup() {
    group = machine.scope(unit->scope);
    sums = machine.memory(unit->accumulatorSpace);
    return group->registerBytes || sums;
  }

  /// A unit with fragments reads terms, or rows and columns, side by side.
  bool takesOperands() {
    if (!unit->fragment)
      return true;
    if (k.empty() || m.empty() || n.empty())
      return false;
    for (auto [map, side] : {std::pair(op.getAMap(), m.back()),
                             std::pair(op.getBMap(), n.back())}) {
      if (map.getNumResults() < 2)
        return false;
      // A unit that goes on by itself finds rows without a thread's help: they
      // lie in a box as they are counted.
      if (unit->fragment->inFlight != 0) {
        int64_t before = -1;
        for (AffineExpr expr : map.getResults())
          for (int64_t d = 0; d != int64_t(map.getNumDims()); ++d) {
            int64_t step = stepAlong(expr, d);
            if (step != 0 && step != 1)
              return false;
            if (step == 0 || !llvm::is_contained(m, unsigned(d)))
              continue;
            if (d <= before)
              return false;
            before = d;
          }
      }
      AffineExpr last = map.getResults().back();
      if (last != getAffineDimExpr(k.back(), op.getContext()) &&
          last != getAffineDimExpr(side, op.getContext()))
        return false;
    }
    return true;
  }

  /// Whether an engine's pieces lie where it can copy them.
  bool takes(const CopyEngine &engine, Value operand, AffineMap map) {
    auto type = cast<ShapedType>(operand.getType());
    int64_t bytes = elementBytes(type.getElementType());
    if (engine.alignmentBytes <= std::max<int64_t>(bytes, 4))
      return true;
    // Rows that threads read are padded.
    return !readsLanes() && type.getRank() != 0 &&
           isa<AffineDimExpr>(map.getResults().back()) &&
           !type.isDynamicDim(type.getRank() - 1) &&
           type.getShape().back() * bytes % engine.alignmentBytes == 0;
  }

  /// The engines from the farthest memory to where the unit reads operands.
  bool findPath() {
    near = nullptr;
    for (const Memory &memory : machine.memories)
      if (memory.managed && llvm::is_contained(unit->leftFrom, memory.name))
        near = &memory;
    if (!near)
      return false;
    // Backwards, the shortest first: few engines, so a plain search.
    std::vector<std::vector<const CopyEngine *>> ways = {{}};
    for (size_t i = 0; i != ways.size() && i < 64; ++i) {
      const std::string &to =
          ways[i].empty() ? near->name : ways[i].front()->from;
      if (to == machine.memories.back().name) {
        path = ways[i];
        return true;
      }
      for (const CopyEngine &engine : machine.copyEngines)
        if (engine.to == to && takes(engine, op.getA(), op.getAMap()) &&
            takes(engine, op.getB(), op.getBMap())) {
          ways.push_back(ways[i]);
          ways.back().insert(ways.back().begin(), &engine);
        }
    }
    return false;
  }

  /// Whether threads multiply element by element.
  bool readsLanes() { return unit->m == 1 && unit->k == 1; }

  bool isGridded() { return machine.workers.count > 1; }

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

  void enumerate() {
    int64_t rows = 1;
    for (unsigned d : m)
      rows *= sizes[d];
    unsigned columns = numParallel - 1, terms = sizes.size() - 1;
    int64_t most = std::max<int64_t>(unit->mostN ? unit->mostN : 512, unit->n);
    for (int64_t tm : multiples(unit->m, rows, 512))
      for (int64_t tn : multiples(unit->n, sizes[columns], most)) {
        Candidate one;
        one.tile.assign(sizes.size(), 1);
        one.tile[columns] = tn;
        for (int64_t tk : multiples(unit->k, k.empty() ? 1 : sizes[terms],
                                    std::max<int64_t>(128, unit->k))) {
          if (!k.empty())
            one.tile[terms] = tk;
          splitRows(one, tm, int64_t(m.size()) - 1);
        }
        if (!hasWindows())
          continue;
        // All of a window at once, whose neighbours share most of it.
        for (unsigned d : k)
          one.tile[d] = sizes[d];
        splitRows(one, tm, int64_t(m.size()) - 1);
      }
  }

  /// Whether each point has a small window of its own, of one channel.
  bool hasWindows() {
    int64_t terms = 1;
    for (unsigned d : k)
      terms *= sizes[d];
    return !lanes.empty() && k.size() > 1 && terms <= 64;
  }

  /// Rows lie in boxes of powers of two, over the two innermost dims at will.
  void splitRows(Candidate one, int64_t rows, int64_t i) {
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
  void splitGroup(Candidate one) {
    for (int64_t count = 1; count <= machine.groupsOf(*group); count *= 2)
      for (int64_t down = count; down >= 1; down /= 2) {
        one.part.assign(one.tile.begin(), one.tile.begin() + numParallel);
        int64_t left = down;
        for (unsigned d : m) {
          int64_t factor = std::gcd(left, one.part[d]);
          one.part[d] /= factor;
          left /= factor;
        }
        int64_t &columns = one.part[numParallel - 1], right = count / down;
        if (left != 1 || columns % (right * unit->n) != 0 ||
            rowsOf(one.part) % unit->m != 0 || !hasRowsInside(one))
          continue;
        columns /= right;
        if (!fitsSums(one))
          continue;
        for (one.slots = 2; one.slots <= 4; ++one.slots)
          for (one.across = 1; one.across <= mostAcross(one); one.across *= 2)
            if (fitsOperands(one)) {
              predict(one);
              candidates.push_back(one);
            }
      }
  }

  /// Whether rows that a unit with fragments reads side by side lie so: 16
  /// bytes of them, or all of a tile where the unit goes on by itself, which
  /// finds the next term behind a row of it.
  bool hasRowsInside(const Candidate &one) {
    if (!unit->fragment ||
        !op.getAMap().getResults().back().isFunctionOfDim(m.back()))
      return true;
    if (unit->fragment->inFlight != 0)
      return one.part[m.back()] % unit->m == 0 &&
             one.tile[m.back()] == rowsOf(one.tile);
    int64_t least = 16 / elementBytes(elementOf(op.getA()));
    return one.part[m.back()] % std::max<int64_t>(least, 1) == 0;
  }

  int64_t rowsOf(ArrayRef<int64_t> tile) {
    int64_t rows = 1;
    for (unsigned d : m)
      rows *= tile[d];
    return rows;
  }
  int64_t columnsOf(ArrayRef<int64_t> tile) { return tile[numParallel - 1]; }
  int64_t termsOf(const Candidate &one) {
    int64_t terms = 1;
    for (unsigned d : k)
      terms *= one.tile[d];
    return terms;
  }

  /// How many parts beside each other a copy may reach.
  int64_t mostAcross(const Candidate &one) {
    if (!outer || path.size() != 1 || !dimAcross(one))
      return 1;
    return std::min(path.front()->multicast,
                    std::max<int64_t>(1, inner->count));
  }
  /// The outermost row dim with several parts, which read the same b.
  std::optional<unsigned> dimAcross(const Candidate &one) {
    for (unsigned d : m)
      if (sizes[d] > one.tile[d])
        return d;
    return std::nullopt;
  }
  bool fitsSums(const Candidate &one) {
    int64_t bytes = rowsOf(one.part) * columnsOf(one.part) *
                    elementBytes(op.getAccumulatorType());
    int64_t held = rowsOf(one.part) * columnsOf(one.part);
    if (unit->accumulators > 1 && held > unit->accumulators * unit->m * unit->n)
      return false;
    if (group->registerBytes) // and as much again for operands and addresses
      return bytes <= group->registerBytes * 3 / 4;
    return 2 * bytes <= sums->bytesOfPart();
  }
  int64_t bytesOfA(const Candidate &one) {
    if (!group->registerBytes) // arrays walk windows by themselves
      return rowsOf(one.tile) * (lanes.empty() ? 1 : columnsOf(one.tile)) *
             termsOf(one) * elementBytes(elementOf(op.getA()));
    return bytesOf(op.getA(), op.getAMap(), one);
  }
  int64_t bytesOfB(const Candidate &one) {
    if (!group->registerBytes)
      return columnsOf(one.tile) * termsOf(one) *
             elementBytes(elementOf(op.getB()));
    return bytesOf(op.getB(), op.getBMap(), one);
  }
  /// Of what a tile reads of an operand.
  static int64_t bytesOf(Value operand, AffineMap map, const Candidate &one) {
    SmallVector<unsigned> dims(map.getNumDims());
    std::iota(dims.begin(), dims.end(), 0);
    int64_t bytes = elementBytes(elementOf(operand));
    for (AffineExpr expr : map.getResults())
      bytes *=
          BoxReach(expr, dims, ArrayRef(one.tile).take_front(map.getNumDims()))
              .length;
    return bytes;
  }
  static Type elementOf(Value value) {
    return cast<ShapedType>(value.getType()).getElementType();
  }
  /// Elements of an operand that a tile has along its last dim.
  int64_t rowOf(AffineMap map, const Candidate &one) {
    int64_t row = 1;
    for (unsigned d = 0; map.getNumResults() && d != map.getNumDims(); ++d)
      if (map.getResults().back().isFunctionOfDim(d))
        row *= one.tile[d];
    return row;
  }
  bool fitsOperands(const Candidate &one) {
    // What goes on by itself finds rows by their swizzle.
    if (unit->fragment && unit->fragment->inFlight != 0)
      for (auto [operand, map] : {std::pair(op.getA(), op.getAMap()),
                                  std::pair(op.getB(), op.getBMap())})
        if (!layoutOf(operand, rowOf(map, one)))
          return false;
    return one.slots * (bytesOfA(one) + bytesOfB(one)) <= near->bytesOfPart();
  }

  /// Waves of parts, each of which takes its slowest resource's time for each
  /// tile of terms, and what of the copies' latency stays visible.
  void predict(Candidate &one) {
    double parts = 1, iterations = 1;
    for (unsigned d = 0; d != numParallel; ++d)
      parts *= double(llvm::divideCeil(sizes[d], one.tile[d]));
    for (unsigned d : k)
      iterations *= double(llvm::divideCeil(sizes[d], one.tile[d]));
    double steps = double(llvm::divideCeil(rowsOf(one.part), unit->m)) *
                   double(llvm::divideCeil(columnsOf(one.part), unit->n)) *
                   double(llvm::divideCeil(termsOf(one), unit->k));
    // A worker's rate is that of all who may issue; few cannot fill it.
    double compute =
        steps * double(machine.groupsOf(*group)) / unit->stepsPerCycle;
    double copy = 0, latency = 0;
    for (const CopyEngine *engine : path) {
      copy = std::max(copy, cyclesOfCopies(one, *engine));
      latency += engine->startCycles;
    }
    latency += machine.memories.back().latencyCycles;
    double iteration = std::max(compute, copy);
    double serial = compute + copy; // of who copies, then computes
    // Threads meet in each iteration, and read what is near through its ports.
    if (group->registerBytes && near->banks > 1) {
      double reads = cyclesOfReads(one),
             barrier = machine.costs.barrierNs * machine.clock.hz / 1e9;
      iteration = std::max(iteration, reads) + barrier;
      serial = std::max(compute, reads) + copy + barrier;
    }
    // Steps that go on keep their slots, and what threads copy by themselves is
    // there when they go on.
    int64_t ahead = one.slots - 1;
    if (unit->fragment)
      ahead -= unit->fragment->inFlight;
    if (group->registerBytes &&
        llvm::none_of(path, [](auto *one) { return one->asynchronous; }))
      // Other parts on the same worker compute meanwhile.
      iteration =
          std::max(iteration, (serial + latency) / double(residents(one)));
    else
      iteration += std::max(0.0, latency - double(ahead) * iteration) /
                   double(ahead + 1);
    const Memory &main = machine.memories.back();
    double results = double(rowsOf(one.tile) * columnsOf(one.tile)) *
                     double(elementBytes(elementOf(op.getInit())));
    double drain = results / machine.writeBytesPerCycle(main);
    double waves = std::ceil(parts / double(machine.workers.count));
    double all = waves * (latency + iterations * iteration + drain) +
                 machine.costs.launchNs * machine.clock.hz / 1e9;
    double once = double(byteSize(op.getA().getType())) +
                  double(byteSize(op.getB().getType())) +
                  double(byteSize(op.getInit().getType()));
    double rate = main.sharedBytesPerSecond
                      ? main.sharedBytesPerSecond / machine.clock.hz
                      : machine.readBytesPerCycle(main);
    one.prediction.compute = waves * iterations * compute;
    one.prediction.nearest = waves * iterations * copy;
    one.prediction.boxes = all;
    one.prediction.main = once / rate;
    one.cycles = one.prediction.cycles();
  }

  /// A thread copies element by element, each as long as the least there is.
  double cyclesOfCopies(const Candidate &one, const CopyEngine &engine) {
    auto cyclesOf = [&](Value operand, int64_t bytes) {
      int64_t each = elementBytes(elementOf(operand));
      bool isByThreads = group->registerBytes && engine.minimumBytes < 16;
      double longer =
          isByThreads ? double(std::max(each, engine.minimumBytes)) / each : 1;
      return double(bytes) * longer / engine.bytesPerCycle;
    };
    return cyclesOf(op.getA(), bytesOfA(one)) +
           cyclesOf(op.getB(), bytesOfB(one)) / one.across;
  }

  /// Parts that one worker has at a time, as far as the nearest memory lets it.
  int64_t residents(const Candidate &one) {
    constexpr int64_t most = 4;
    int64_t bytes =
        std::max<int64_t>(1, one.slots * (bytesOfA(one) + bytesOfB(one)));
    return std::clamp<int64_t>(near->bytes / bytes, 1, most);
  }

  /// What all groups read of the nearest memory for one tile of terms.
  double cyclesOfReads(const Candidate &one) {
    int64_t groups = 1;
    for (auto [part, tile] : llvm::zip(one.part, one.tile))
      groups *= llvm::divideCeil(tile, part);
    // What all lanes read at once costs as much as what each reads of its own.
    int64_t ofRow = readsLanes() ? near->banks * near->lineBytes
                                 : elementBytes(elementOf(op.getA()));
    int64_t bytes = groups * termsOf(one) *
                    (rowsOf(one.part) * ofRow +
                     columnsOf(one.part) * elementBytes(elementOf(op.getB())));
    return double(bytes) / machine.readBytesPerCycle(*near);
  }

  /// Where elements of a slot lie, so that its readers do not meet in banks.
  tile::LayoutAttr layoutOf(Value operand, int64_t rowElements) {
    int64_t bytes = elementBytes(elementOf(operand));
    MLIRContext *context = op.getContext();
    int64_t rank = cast<ShapedType>(operand.getType()).getRank();
    // Rows of at most so many bytes, whose number changes the place of units of
    // 16 bytes in them; what is longer is cut into blocks of such.
    int64_t row = std::min(rowElements * bytes, near->swizzleBytes);
    if (!readsLanes() && row >= 32 && rowElements * bytes % row == 0) {
      int64_t base = llvm::Log2_64(16 / bytes);
      return tile::LayoutAttr::get(
          context, {}, {}, {int64_t(llvm::Log2_64(row / 16)), base, 3},
          rowElements * bytes == row ? 0 : row / bytes);
    }
    // Lanes read many rows at once; arrays have a port for each bank.
    if (near->banks == 1 || !readsLanes() || !group->registerBytes)
      return {};
    SmallVector<int64_t> pad(rank, 0);
    pad.back() = std::max<int64_t>(1, 4 / bytes);
    return tile::LayoutAttr::get(context, {}, pad, {});
  }

  tile::StrategyAttr strategyOf(const Candidate &one) {
    Builder b(op.getContext());
    SmallVector<tile::LevelAttr> levels;
    SmallVector<int64_t> terms(one.tile.begin() + numParallel, one.tile.end()),
        none(terms.size(), 0),
        parallel(one.tile.begin(), one.tile.begin() + numParallel);
    auto add = [&](tile::LevelKind kind, StringRef scope,
                   ArrayRef<int64_t> tiles, ArrayRef<int64_t> reduced,
                   ArrayRef<int64_t> order) {
      levels.push_back(tile::LevelAttr::get(b.getContext(), kind, scope, tiles,
                                            reduced, order));
    };
    SmallVector<int64_t> order;
    if (isGridded()) {
      if (one.across > 1) {
        SmallVector<int64_t> wide(parallel);
        wide[*dimAcross(one)] *= one.across;
        add(tile::LevelKind::Grid, outer->name, wide, none, {});
      }
      add(tile::LevelKind::Grid, inner->name, parallel, none, {});
    } else {
      for (unsigned d = 0; d != numParallel; ++d)
        order.push_back(d);
    }
    order.append(k.begin(), k.end());
    int64_t inside = levels.size();
    add(tile::LevelKind::Loop, "", parallel, terms, order);
    if (one.part != parallel)
      add(tile::LevelKind::Group, group->name, one.part, none, {});
    SmallVector<tile::HopAttr> hops;
    for (auto [kind, operand] : {std::pair(tile::OperandKind::A, op.getA()),
                                 std::pair(tile::OperandKind::B, op.getB())})
      for (const CopyEngine *engine : path) {
        bool isLast = engine == path.back();
        AffineMap map =
            kind == tile::OperandKind::A ? op.getAMap() : op.getBMap();
        hops.push_back(tile::HopAttr::get(
            b.getContext(), kind, tile::HopKind::Ring, engine->to, inside,
            isLast ? one.slots : 1, engine->name,
            isLast ? layoutOf(operand, rowOf(map, one)) : tile::LayoutAttr()));
      }
    SmallVector<int64_t> masked;
    for (unsigned d = 0; d != sizes.size(); ++d)
      if (int64_t across = dimAcross(one) == d ? one.across : 1;
          openSizes || sizes[d] % (one.tile[d] * across) != 0)
        masked.push_back(d);
    SmallVector<int64_t> rows(m.begin(), m.end()), columns(n.begin(), n.end()),
        depth(k.begin(), k.end()), both(lanes.begin(), lanes.end());
    return tile::StrategyAttr::get(
        b.getContext(), unit->name, /*shape=*/{}, rows, columns, depth,
        /*group=*/{}, both, levels, hops, unit->accumulatorSpace,
        /*promote=*/-1, masked, /*partials=*/"", hints());
  }

  DictionaryAttr hints() {
    Builder b(op.getContext());
    if (!unit->fragment)
      return b.getDictionaryAttr({});
    auto pairs = [](const std::vector<FragmentStep> &steps) {
      SmallVector<int64_t> all;
      for (const FragmentStep &step : steps)
        all.append({step.rows, step.columns});
      return all;
    };
    auto fragment = tile::FragmentAttr::get(
        b.getContext(), pairs(unit->fragment->registers),
        pairs(unit->fragment->lanes), unit->fragment->inFlight);
    NamedAttribute all[] = {
        b.getNamedAttr("fragment", fragment),
        b.getNamedAttr("raster", b.getI64IntegerAttr(rowsTogether))};
    return b.getDictionaryAttr(all);
  }

  bool fits(tile::StrategyAttr strategy) {
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

  tile::ContractOp op;
  const MachineModel &machine;
  bool openSizes; ///< which dims a caller chooses is not known here: any
  unsigned numParallel;
  SmallVector<int64_t> sizes; ///< of all dims
  SmallVector<unsigned> m, n, k, lanes;
  const MultiplyUnit *unit = nullptr;
  const Scope *group = nullptr;
  const Scope *inner = nullptr, *outer = nullptr; ///< the innermost grids
  const Memory *near = nullptr, *sums = nullptr;
  std::vector<const CopyEngine *> path; ///< far to near
  std::vector<Candidate> candidates;
};
} // namespace

std::optional<LevelChoice> ashlar::chooseLevels(tile::ContractOp op,
                                                const MachineModel &machine,
                                                bool openSizes) {
  if (llvm::is_contained(op.getParallel(), 0) ||
      llvm::is_contained(op.getReduced(), 0))
    return std::nullopt;
  return LevelChooser(op, machine, openSizes).run();
}
