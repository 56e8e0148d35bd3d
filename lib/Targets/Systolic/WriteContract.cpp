// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of issue: docs/systolic.md, "How to order a stream", says why.
#include "ArraySteps.h"
#include "Lowering.h"
#include "WriteEpilogue.h"

#include <algorithm>
#include <functional>

using namespace ashlar::systolic;

namespace {
constexpr uint32_t load = 1u << ASHLAR_SYSTOLIC_LOAD;
constexpr uint32_t store = 1u << ASHLAR_SYSTOLIC_STORE;
constexpr uint32_t vector = 1u << ASHLAR_SYSTOLIC_VECTOR;
constexpr uint32_t execute =
    ASHLAR_SYSTOLIC_ALL_QUEUES & ~((1u << ASHLAR_SYSTOLIC_EXECUTE) - 1);

class ContractWriter {
public:
  ContractWriter(const Layout &layout, const Steps &plan, StreamWriter &writer,
                 EpilogueWriter &epilogue, uint32_t marginRow)
      : layout(layout), plan(plan), writer(writer), epilogue(epilogue),
        marginRow(marginRow) {}

  void write();

private:
  using Commands = std::vector<std::function<void()>>;

  void writeFirstStep();
  void writeLanes(const Step &step);
  void collectLoads(const Step &step, Commands &commands);
  void collectFolds(const Step &step, Commands &commands);
  void collectStores(const Step &step, Commands &commands);
  void collect(std::vector<Transfer> transfers, unsigned id,
               Commands &commands);
  std::vector<Transfer> loadsOf(const TileLoad &tile) const;
  Fold foldOf(const Unit &unit, int64_t block) const;
  std::vector<ArrayStep> stepsOf(const Unit &unit) const;
  void writeMargins();
  void interleave(const Commands &first, const Commands &second);
  static void run(const Commands &commands) {
    for (const auto &command : commands)
      command();
  }
  const Step *stepAt(int64_t i) const {
    return i >= 0 && i < int64_t(plan.steps.size()) ? &plan.steps[size_t(i)]
                                                    : nullptr;
  }

  const Layout &layout;
  const Steps &plan;
  StreamWriter &writer;
  EpilogueWriter &epilogue;
  const uint32_t marginRow; ///< full of what margins hold
};
} // namespace

void ContractWriter::collect(std::vector<Transfer> transfers, unsigned id,
                             Commands &commands) {
  for (const Transfer &transfer : transfers)
    for (const Transfer &piece : writer.split(transfer))
      commands.push_back([this, piece, id] { writer.load(id, piece); });
}

std::vector<Transfer> ContractWriter::loadsOf(const TileLoad &tile) const {
  const Chunk &chunk = layout.chunks[size_t(tile.chunk)];
  int64_t begin = layout.tileBegin(tile.tile);
  int64_t end = layout.tileEnds[size_t(tile.tile)];
  switch (tile.kind) {
  case TileLoad::A:
    return layout.loadsOfA(chunk, tile.tile, tile.nBlock, begin, end,
                           tile.place);
  case TileLoad::B:
    return layout.loadsOfB(chunk.batch, tile.nBlock, tile.tile, begin, end,
                           tile.place);
  case TileLoad::Bias: {
    std::vector<Transfer> rows = layout.rowOfColumns(
        layout.problem.operands[tile.operand], chunk.batch, tile.nBlock,
        ASHLAR_SYSTOLIC_ACCUMULATOR | tile.place, false);
    for (Transfer &row : rows)
      row.levels = {{uint32_t(chunk.rows), 1, 0}};
    return rows;
  }
  case TileLoad::Operand:
    break;
  }
  const Problem &problem = layout.problem;
  const Access &access = problem.operands[tile.operand];
  bool isColumn = true;
  for (unsigned d : problem.n)
    isColumn &= access.strides[d] == 0 || problem.sizes[d] == 1;
  uint32_t space = isWide(access.element) ? ASHLAR_SYSTOLIC_ACCUMULATOR : 0;
  return layout.rowsOfResults(access, chunk, tile.nBlock, space | tile.place,
                              isColumn);
}

static unsigned mvinOf(TileLoad::Kind kind) {
  return kind == TileLoad::A   ? 0
         : kind == TileLoad::B ? 1
                               : EpilogueWriter::mvin;
}

void ContractWriter::collectLoads(const Step &step, Commands &commands) {
  for (const TileLoad &tile : step.loads)
    collect(loadsOf(tile), mvinOf(tile.kind), commands);
}

Fold ContractWriter::foldOf(const Unit &unit, int64_t block) const {
  const ResultBlock &result = plan.results[size_t(unit.result)];
  Fold fold = layout.fold(layout.chunks[size_t(result.chunk)], result.nBlock,
                          unit.tile, block, unit.a, unit.b);
  fold.array = result.array;
  // Output-stationary, all of a tile arrives at once.
  bool isFirst = fold.isOutputStationary ? unit.tile == 0 : block == 0;
  fold.c = ASHLAR_SYSTOLIC_ACCUMULATOR | result.place |
           (!isFirst || layout.problem.epilogue.bias >= 0
                ? ASHLAR_SYSTOLIC_ACCUMULATE
                : 0);
  return fold;
}

std::vector<ArrayStep> ContractWriter::stepsOf(const Unit &unit) const {
  std::vector<Fold> folds;
  for (int64_t block = layout.tileBegin(unit.tile);
       block < layout.tileEnds[size_t(unit.tile)]; ++block)
    folds.push_back(foldOf(unit, block));
  return arraySteps(folds, writer);
}

void ContractWriter::collectFolds(const Step &step, Commands &commands) {
  if (layout.problem.isDepthwise) {
    commands.push_back([this, &step] { writeLanes(step); });
    return;
  }
  // Arrays take turns, so that none waits in the order of issue.
  size_t most = 0;
  std::vector<std::vector<ArrayStep>> byArray(layout.machine.arrays);
  for (const Unit &unit : step.units)
    for (const ArrayStep &one : stepsOf(unit)) {
      auto &steps = byArray[one.piece.array];
      steps.push_back(one);
      most = std::max(most, steps.size());
    }
  for (size_t i = 0; i < most; ++i)
    for (const auto &steps : byArray)
      if (i < steps.size())
        commands.push_back([this, one = steps[i]] {
          writer.foldPiece(one.piece, one.isFirst, one.isLast);
        });
}

void ContractWriter::collectStores(const Step &step, Commands &commands) {
  const Access &access = layout.problem.result;
  const Epilogue &out = layout.problem.epilogue;
  uint32_t wide = isWide(access.element) ? ASHLAR_SYSTOLIC_FULL_WIDTH : 0;
  for (int64_t number : step.finished) {
    const ResultBlock &result = plan.results[size_t(number)];
    uint32_t place = ASHLAR_SYSTOLIC_ACCUMULATOR | wide | result.place;
    for (const Transfer &transfer : layout.rowsOfResults(
             access, layout.chunks[size_t(result.chunk)], result.nBlock, place))
      for (const Transfer &piece : writer.split(transfer))
        commands.push_back(
            [this, piece, &out] { writer.store(piece, out.relu, out.scale); });
  }
}

/// Tap by tap on the vector unit, then the epilogue.
void ContractWriter::writeLanes(const Step &step) {
  bool isInteger = layout.machine.input == ASHLAR_SYSTOLIC_S8;
  for (const Unit &unit : step.units) {
    for (int64_t tap = 0; tap < int64_t(layout.kBlocks.size()); ++tap) {
      Fold fold = foldOf(unit, tap);
      auto rows = uint32_t(
          layout.chunks[size_t(plan.results[size_t(unit.result)].chunk)].rows);
      VectorOperand image{fold.a, 1, joinLevels(fold.rows)};
      writer.vector(ASHLAR_SYSTOLIC_MULTIPLY, isInteger,
                    {fold.c, rows, fold.columns}, image, {fold.b, 1},
                    ASHLAR_SYSTOLIC_ONE_ROW);
    }
    epilogue.write(plan.results[size_t(unit.result)]);
  }
}

/// The second's commands spread evenly among the first's: a queue that is full
/// holds up what is issued after it.
void ContractWriter::interleave(const Commands &first, const Commands &second) {
  size_t done = 0;
  for (size_t i = 0; i < first.size(); ++i) {
    size_t upTo = (i + 1) * second.size() / first.size();
    for (; done < upTo; ++done)
      second[done]();
    first[i]();
  }
  for (; done < second.size(); ++done)
    second[done]();
}

/// Starts with the first rows that are there.
void ContractWriter::writeFirstStep() {
  const Step &step = plan.steps[0];
  if (layout.problem.isDepthwise) {
    Commands loads;
    collectLoads(step, loads);
    run(loads);
    epilogue.loadConstants();
    writer.sync(load, vector);
    return writeLanes(step);
  }
  for (const TileLoad &tile : step.loads)
    if (tile.kind == TileLoad::Bias)
      for (const Transfer &transfer : loadsOf(tile))
        writer.load(mvinOf(tile.kind), transfer);
  // Folds of different units may share a tile.
  std::map<uint32_t, int64_t> loadedA, loadedB; // place to next block
  auto loadUpTo = [&](TileLoad::Kind kind, uint32_t place, int64_t block,
                      std::map<uint32_t, int64_t> &loaded) {
    auto tile = std::find_if(step.loads.begin(), step.loads.end(),
                             [&](const TileLoad &one) {
                               return one.kind == kind && one.place == place;
                             });
    int64_t next = layout.tileBegin(tile->tile);
    auto [at, isNew] = loaded.insert({place, next});
    if (at->second > block)
      return false;
    const Chunk &chunk = layout.chunks[size_t(tile->chunk)];
    for (const Transfer &transfer :
         kind == TileLoad::A
             ? layout.loadsOfA(chunk, tile->tile, tile->nBlock, at->second,
                               block + 1, place)
             : layout.loadsOfB(chunk.batch, tile->nBlock, tile->tile,
                               at->second, block + 1, place))
      writer.load(mvinOf(kind), transfer);
    at->second = block + 1;
    return true;
  };
  for (const Unit &unit : step.units)
    for (const ArrayStep &one : stepsOf(unit)) {
      int64_t block = layout.tileBegin(unit.tile) + one.fold;
      bool isNew = loadUpTo(TileLoad::A, unit.a, block, loadedA);
      isNew |= loadUpTo(TileLoad::B, unit.b, block, loadedB);
      if (isNew)
        writer.sync(load, execute);
      writer.foldPiece(one.piece, one.isFirst, one.isLast);
    }
  epilogue.loadConstants();
  for (const TileLoad &tile : step.loads)
    if (tile.kind == TileLoad::Operand)
      for (const Transfer &transfer : loadsOf(tile))
        writer.load(EpilogueWriter::mvin, transfer);
}

void ContractWriter::write() {
  // Lanes are computed by the vector unit, and so is what follows, at once.
  const bool hasLanes = layout.problem.isDepthwise;
  const bool hasVector = !hasLanes && !epilogue.isEmpty();
  const uint32_t engine = hasLanes ? vector : execute;
  auto count = int64_t(plan.steps.size());
  // By step: whether its places are taken by another than the next but one.
  std::vector<bool> isReusedLater(size_t(count + 2), false);
  for (int64_t i = 0; i < count; ++i)
    if (int64_t before = plan.steps[size_t(i)].reuses;
        before >= 0 && before + 2 < i)
      isReusedLater[size_t(before)] = true;
  for (int64_t i = 0; i < count + 2; ++i) {
    const Step *now = stepAt(i), *next = stepAt(i + 1);
    const Step *before = stepAt(i - 1), *last = stepAt(i - 2);
    Commands loads, stores, folds;
    if (i == 0) {
      writeFirstStep();
      writeMargins();
    } else if (now) {
      writer.sync(now->reusesResults ? load | store : load,
                  engine | (hasVector ? vector : 0));
    }
    if (i == count && hasVector)
      writer.sync(load, vector);
    if (last)
      collectStores(*last, stores);
    if (last && hasVector)
      writer.sync(vector, store);
    if (next && next->reusesOperands)
      writer.sync(vector, load);
    if (next && next->reuses == i - 1 && i)
      writer.sync(engine, load);
    if (next)
      collectLoads(*next, loads);
    if (now && i)
      collectFolds(*now, folds);
    if (!writer.isInterlocked()) {
      run(stores);
      run(loads);
    }
    if (before && hasVector) {
      writer.sync(execute, vector);
      for (int64_t result : before->finished)
        epilogue.write(plan.results[size_t(result)]);
    }
    // Before what it must not wait for: later loads take the places of the
    // step before.
    bool isReused = i && isReusedLater[size_t(i - 1)];
    uint32_t waiting = (isReused ? load : 0) | (hasVector ? 0 : store);
    if (i && i <= count && waiting)
      writer.sync(engine, waiting);
    if (!writer.isInterlocked()) {
      run(folds);
      continue;
    }
    Commands others = stores;
    others.insert(others.end(), loads.begin(), loads.end());
    if (folds.empty())
      run(others);
    else
      interleave(folds, others);
  }
}

/// What lies around the results: one row, stored again and again.
void ContractWriter::writeMargins() {
  const Problem &problem = layout.problem;
  if (problem.margins.empty())
    return;
  const Access &access = problem.result;
  auto dim = uint32_t(layout.dim);
  int64_t bytes = bytesOf(access.element);
  uint32_t place = marginRow;
  if (isWide(access.element))
    place |= ASHLAR_SYSTOLIC_ACCUMULATOR;
  if (problem.pad == 0) {
    Transfer zeros;
    zeros.place = place;
    zeros.columns = dim;
    zeros.elementBytes = uint32_t(bytes);
    writer.load(EpilogueWriter::mvin, zeros);
  } else {
    writer.vectorImmediate(ASHLAR_SYSTOLIC_FILL,
                           access.element == Element::S32 ||
                               access.element == Element::S8,
                           {place, 1, dim}, {}, problem.pad);
  }
  writer.sync(load | vector, store);
  if (isWide(access.element))
    place |= ASHLAR_SYSTOLIC_FULL_WIDTH;
  for (const Margin &margin : problem.margins) {
    // Elements that follow each other are columns, up to a row of them.
    std::vector<Digit> digits;
    int64_t columns = 1;
    for (size_t i = margin.digits.size(); i-- > 0;) {
      const Digit &digit = margin.digits[i];
      if (digits.empty() && digit.bytes == columns)
        columns *= digit.size;
      else
        digits.insert(digits.begin(), {digit.size, digit.bytes * bytes, 0});
    }
    for (int64_t first = 0; first < columns;) {
      Transfer transfer;
      transfer.place = place;
      transfer.columns = uint32_t(std::min<int64_t>(dim, columns - first));
      transfer.elementBytes = uint32_t(bytes);
      transfer.memory = ashlar_systolic_address(
          access.binding, uint64_t((margin.offset + first) * bytes));
      int64_t times = (columns - first) / transfer.columns;
      std::vector<Level> levels;
      levels.push_back({uint32_t(times), 0, int64_t(transfer.columns) * bytes});
      for (size_t i = digits.size(); i-- > 0;)
        levels.push_back({uint32_t(digits[i].size), 0, digits[i].bytes});
      transfer.levels = joinLevels(levels);
      writer.store(transfer, problem.epilogue.relu, problem.epilogue.scale);
      first += times * transfer.columns;
    }
  }
}

/// What has a place of its own before tiles get theirs.
static bool takeAreas(const Problem &problem, const Machine &machine,
                      const EpilogueWriter &epilogue, Areas &areas,
                      uint32_t &marginRow) {
  areas = epilogue.areas();
  marginRow = 0;
  if (!problem.margins.empty())
    marginRow = uint32_t(areas.fixedRows[isWide(problem.result.element)]++);
  return areas.fixedRows[0] <= int64_t(machine.scratchpad_rows) / 2 &&
         areas.fixedRows[1] <= int64_t(machine.accumulator_rows) / 2;
}

std::string ashlar::systolic::whyNotChoice(const Problem &problem,
                                           const Machine &machine,
                                           const Choice &choice) {
  StreamBuilder builder("", 0);
  if (!(machine.flags & ASHLAR_SYSTOLIC_EXTENDED))
    return writeContract(problem, machine, choice, builder);
  Layout layout(problem, machine, choice);
  StreamWriter writer(machine, builder);
  Areas areas;
  uint32_t marginRow;
  EpilogueWriter epilogue(layout, writer);
  if (!takeAreas(problem, machine, epilogue, areas, marginRow))
    return "the epilogue's operands do not fit on chip";
  return planSteps(layout, areas).error;
}

std::string ashlar::systolic::writeContract(const Problem &problem,
                                            const Machine &machine,
                                            const Choice &choice,
                                            StreamBuilder &builder) {
  Layout layout(problem, machine, choice);
  StreamWriter writer(machine, builder);
  EpilogueWriter epilogue(layout, writer);
  Areas areas;
  uint32_t marginRow;
  if (!takeAreas(problem, machine, epilogue, areas, marginRow))
    return "the epilogue's operands do not fit on chip";
  Steps plan = planSteps(layout, areas);
  if (!plan.error.empty())
    return plan.error;
  ContractWriter(layout, plan, writer, epilogue, marginRow).write();
  return writer.error();
}
