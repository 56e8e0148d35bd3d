// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Steps.h"

#include <algorithm>
#include <optional>

using namespace ashlar::systolic;

int64_t Ring::take(int64_t length, int step, int distance, int &lastStep) {
  if (length > rows)
    return -1;
  auto isFree = [&](int64_t begin) {
    if (begin < base || begin + length > base + rows)
      return false;
    for (const auto &[at, piece] : pieces)
      if (at < begin + length && piece.end > begin &&
          piece.lastStep > step - distance)
        return false;
    return true;
  };
  std::vector<int64_t> candidates = {head, base};
  for (const auto &[at, piece] : pieces)
    candidates.push_back(piece.end);
  for (int64_t begin : candidates) {
    if (!isFree(begin))
      continue;
    for (auto it = pieces.begin(); it != pieces.end();) {
      bool isTaken =
          it->second.begin < begin + length && it->second.end > begin;
      if (isTaken)
        lastStep = std::max(lastStep, it->second.lastStep);
      it = isTaken ? pieces.erase(it) : std::next(it);
    }
    pieces[begin] = {begin, begin + length, step};
    head = begin + length;
    return begin;
  }
  return -1;
}

void Ring::use(int64_t begin, int step) {
  Piece &piece = pieces.at(begin);
  piece.lastStep = std::max(piece.lastStep, step);
}

namespace {
// How many steps lie between the last use of a place and the step that it is
// loaded for. Loads for a step are issued one step before; they know what had
// ended a step before that.
constexpr int loose = 3, tight = 2;

class Planner {
public:
  Planner(const Layout &layout, const Areas &areas)
      : layout(layout), problem(layout.problem), machine(layout.machine) {
    cutMemories(areas);
  }

  Steps run();

private:
  using Key = std::tuple<int64_t, int64_t, int64_t>;
  struct Tiles {
    Ring ring;
    std::map<Key, int64_t> places;
  };

  void cutMemories(const Areas &areas);
  bool add(int64_t chunk, int64_t nBlock, int64_t tile);
  std::optional<uint32_t> tileAt(Tiles &tiles, Key key, int64_t rows,
                                 TileLoad load, Step &step);
  int64_t cyclesOf(int64_t chunk, int64_t tile) const;

  const Layout &layout;
  const Problem &problem;
  const Machine &machine;
  Tiles a, b;
  Ring c, narrow, wide; // results; operands in the scratchpad, accumulator
  Steps plan;
  /// Rows of the largest tiles: places of one size are taken again without
  /// leaving holes.
  int64_t mostChunk = 0, mostA = 0, mostB = 0;
  int64_t stepCycles = 0;
};

bool hasRows(Reach reach) {
  return reach == Reach::Each || reach == Reach::Column;
}
} // namespace

void Planner::cutMemories(const Areas &areas) {
  int64_t allA = 0, allB = 0;
  auto tiles = int64_t(layout.tileEnds.size());
  for (const Chunk &chunk : layout.chunks) {
    mostChunk = std::max(mostChunk, chunk.rows);
    for (int64_t tile = 0; tile < tiles; ++tile) {
      int64_t rows = layout.aRows(chunk, tile);
      mostA = std::max(mostA, rows);
    }
  }
  allA = mostA * tiles * int64_t(layout.chunks.size()) *
         (problem.isDepthwise ? layout.nBlocks : 1);
  for (int64_t tile = 0; tile < tiles; ++tile) {
    mostB = std::max(mostB, layout.bRows(tile));
  }
  allB = mostB * tiles * layout.nBlocks * layout.batches();
  int64_t operands[2] = {0, 0};
  for (const EpilogueValue &value : problem.epilogue.values)
    if (value.kind == EpilogueValue::Operand && hasRows(value.reach))
      ++operands[isWide(problem.operands[value.operand].element)];

  int64_t rows = int64_t(machine.scratchpad_rows) - areas.fixedRows[0];
  int64_t ofOperands = std::min(rows / 4, 4 * operands[0] * mostChunk);
  narrow = Ring(areas.fixedRows[0], ofOperands);
  rows -= ofOperands;
  // A as often as it changes from step to step, B what is left.
  int64_t ofA = std::min(allA, 3 * mostA);
  if (ofA + std::min(allB, 3 * mostB) > rows)
    ofA = std::min(allA, 2 * mostA);
  if (allA > ofA && ofA + allB < rows)
    ofA = std::min(allA, rows - allB);
  ofA = std::max<int64_t>(0, std::min(ofA, rows - mostB));
  a.ring = Ring(areas.fixedRows[0] + ofOperands, ofA);
  b.ring = Ring(areas.fixedRows[0] + ofOperands + ofA, rows - ofA);

  rows = int64_t(machine.accumulator_rows) - areas.fixedRows[1];
  ofOperands = std::min(rows / 2, 4 * operands[1] * mostChunk);
  wide = Ring(areas.fixedRows[1], ofOperands);
  c = Ring(areas.fixedRows[1] + ofOperands, rows - ofOperands);
}

/// Of the array, without gaps.
int64_t Planner::cyclesOf(int64_t chunk, int64_t tile) const {
  if (problem.isDepthwise)
    return layout.tileEnds[size_t(tile)] * layout.chunks[size_t(chunk)].rows *
           machine.dim / machine.vector_lanes;
  return layout.cyclesOf(layout.chunks[size_t(chunk)], tile);
}

/// Where a tile lies for the last step; loads it if it is not there.
std::optional<uint32_t> Planner::tileAt(Tiles &tiles, Key key, int64_t rows,
                                        TileLoad load, Step &step) {
  int now = int(plan.steps.size()) - 1;
  auto found = tiles.places.find(key);
  if (found != tiles.places.end()) {
    tiles.ring.use(found->second, now);
    return uint32_t(found->second);
  }
  int64_t place = tiles.ring.take(rows, now, loose, step.reuses);
  if (place < 0)
    place = tiles.ring.take(rows, now, tight, step.reuses);
  if (place < 0)
    return std::nullopt;
  for (auto it = tiles.places.begin(); it != tiles.places.end();)
    it = tiles.ring.holds(it->second) && it->second != place
             ? std::next(it)
             : tiles.places.erase(it);
  tiles.places[key] = place;
  load.place = uint32_t(place);
  step.loads.push_back(load);
  return uint32_t(place);
}

/// Adds a unit to the last step. False: no room; the step is as it was.
bool Planner::add(int64_t chunk, int64_t nBlock, int64_t tile) {
  int now = int(plan.steps.size()) - 1;
  const Chunk &rows = layout.chunks[size_t(chunk)];
  auto tiles = int64_t(layout.tileEnds.size());
  // Rings are copied back where not everything fits.
  Tiles oldA = a, oldB = b;
  Ring oldC = c, oldNarrow = narrow, oldWide = wide;
  Step oldStep = plan.steps.back();
  Step &step = plan.steps.back();
  auto giveUp = [&] {
    a = oldA, b = oldB, c = oldC, narrow = oldNarrow, wide = oldWide;
    plan.steps.back() = oldStep;
    return false;
  };
  int64_t block = problem.isDepthwise ? nBlock : 0;
  auto placeOfA = tileAt(a, {chunk, tile, block}, mostA,
                         {TileLoad::A, chunk, block, tile}, step);
  auto placeOfB = tileAt(b, {rows.batch, nBlock, tile}, mostB,
                         {TileLoad::B, chunk, nBlock, tile}, step);
  if (!placeOfA || !placeOfB)
    return giveUp();
  if (tile == 0) {
    int before = -1;
    int64_t place = c.take(mostChunk, now, loose, before);
    if (place < 0)
      return giveUp();
    step.reusesResults |= before >= 0;
    ResultBlock result{chunk,
                       nBlock,
                       uint32_t(place),
                       uint32_t(plan.results.size() % machine.arrays),
                       {}};
    plan.results.push_back(result);
    if (problem.epilogue.bias >= 0)
      step.loads.push_back({TileLoad::Bias, chunk, nBlock, tile,
                            unsigned(problem.epilogue.bias), result.place});
  } else {
    c.use(plan.results.back().place, now);
  }
  auto result = int64_t(plan.results.size()) - 1;
  step.units.push_back({result, tile, *placeOfA, *placeOfB});
  if (tile + 1 < tiles)
    return true;
  ResultBlock &finished = plan.results.back();
  for (const EpilogueValue &value : problem.epilogue.values) {
    if (value.kind != EpilogueValue::Operand || !hasRows(value.reach))
      continue;
    bool inAccumulator = isWide(problem.operands[value.operand].element);
    int before = -1;
    int64_t place =
        (inAccumulator ? wide : narrow).take(mostChunk, now, loose, before);
    if (place < 0) {
      if (tile == 0)
        plan.results.pop_back();
      else
        finished.operands.clear();
      return giveUp();
    }
    step.reusesOperands |= before >= 0;
    finished.operands.push_back(uint32_t(place));
    TileLoad load{TileLoad::Operand, chunk,          nBlock, tile,
                  value.operand,     uint32_t(place)};
    step.loads.push_back(load);
  }
  step.finished.push_back(result);
  return true;
}

Steps Planner::run() {
  auto tiles = int64_t(layout.tileEnds.size());
  plan.steps.emplace_back();
  for (int64_t chunk = 0; chunk < int64_t(layout.chunks.size()); ++chunk)
    for (int64_t nBlock = 0; nBlock < layout.nBlocks; ++nBlock)
      for (int64_t tile = 0; tile < tiles; ++tile) {
        bool isFull = stepCycles >= layout.choice.stepCycles * machine.arrays;
        if (isFull || !add(chunk, nBlock, tile)) {
          if (!plan.steps.back().units.empty())
            plan.steps.emplace_back();
          stepCycles = 0;
          if (!add(chunk, nBlock, tile)) {
            plan.error = "its tiles do not fit on chip";
            return plan;
          }
        }
        stepCycles += cyclesOf(chunk, tile);
      }
  return plan;
}

Steps ashlar::systolic::planSteps(const Layout &layout, const Areas &areas) {
  return Planner(layout, areas).run();
}
