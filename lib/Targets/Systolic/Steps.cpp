// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// When operands come to the chip and results leave it, step by step, and which
// rows of both memories they have meanwhile; Steps.h says by which rules.
#include "Steps.h"
#include "Margins.h"

#include <algorithm>
#include <limits>
#include <optional>

using namespace ashlar::systolic;

int64_t RowAllocator::take(int64_t length, int step, int distance,
                           int &lastStep) {
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
  if (bankRows && lastBank >= 0) {
    // Each bank goes round by itself.
    std::vector<int64_t> others;
    int64_t first = base / bankRows, end = (base + rows - 1) / bankRows + 1;
    for (int64_t i = 1; i < end - first; ++i) {
      int64_t bank = first + (lastBank - first + i) % (end - first);
      auto found = heads.find(bank);
      others.push_back(found == heads.end() ? std::max(base, bank * bankRows)
                                            : found->second);
      others.push_back(std::max(base, bank * bankRows));
    }
    candidates.insert(candidates.begin(), others.begin(), others.end());
  }
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
    if (bankRows) {
      lastBank = begin / bankRows;
      heads[lastBank] = head;
    }
    return begin;
  }
  return -1;
}

void RowAllocator::use(int64_t begin, int step) {
  Piece &piece = pieces.at(begin);
  piece.lastStep = std::max(piece.lastStep, step);
}

void RowAllocator::keep(int64_t begin) {
  pieces.at(begin).lastStep = std::numeric_limits<int>::max();
}

namespace {
// How many steps lie between the last use of a place and the step that it is
// loaded for. Loads for a step are issued one step before; they know what had
// ended a step before that.
constexpr int loose = 3, tight = 2;

// Results are stored a step after the one that finishes them; what reads them
// is loaded behind that, for the next.
constexpr int stored = 2;
// What stays on chip is copied a step after the one that finishes it, before
// that step's folds.
constexpr int kept = 1;
// Of the vector unit, for a block: about.
constexpr int64_t copyCycles = 64;
// Of the port, on the way out and back: about what a block takes.
constexpr int64_t transferCycles = 200;
// Blocks whose epilogues' operands are on chip at a time.
constexpr int64_t mostOperands = 16;

enum class Added { Yes, NoRoom, TooEarly };

class Planner {
public:
  Planner(const ChipLayout &layout, const Areas &areas, int free,
          WrittenRows *written, Steps &plan)
      : layout(layout), contraction(layout.contraction),
        machine(layout.machine), free(free), written(written), plan(plan),
        part(plan.steps.empty() ? 0 : plan.steps.back().part + 1) {
    cutMemories(areas);
  }

  void run();

private:
  using Key = std::tuple<int64_t, int64_t, int64_t>;
  struct Tiles {
    RowAllocator ring;
    std::map<Key, int64_t> places;
  };

  void cutMemories(const Areas &areas);
  /// A block of the result, and the tile that it gets next.
  struct Open {
    int64_t chunk, nBlock, tile;
    size_t result; ///< of no interest before the first tile
  };

  Added addNext();
  Added add(Open &block);
  void finish(int64_t number, StreamStep &step);
  void addLoad(TileLoad load, StreamStep &step);
  /// The last steps that write what a block's next tile loads, and what it
  /// reads on chip; -1: none does.
  struct Writers {
    int loaded = -1, kept = -1;
  };
  Writers lastWriters(const Open &block);
  int64_t backAt(const Writers &last) const;
  int writtenBy(const TileLoad &load);
  std::vector<TileLoad> operandsOf(const Open &block) const;
  void addStep();
  void noteResults(size_t firstStep);
  std::optional<uint32_t> tileAt(Tiles &tiles, Key key, int64_t rows,
                                 TileLoad load, StreamStep &step);
  int64_t cyclesOf(int64_t chunk, int64_t tile) const;

  const ChipLayout &layout;
  const Contraction &contraction;
  const Machine &machine;
  Tiles a, b;
  RowAllocator c, narrow,
      wide; // results; operands in the scratchpad, accumulator
  const int free;
  WrittenRows *const written;
  Steps &plan;
  const size_t part;
  /// Rows of the largest tiles: places of one size are taken again without
  /// leaving holes.
  int64_t mostChunk = 0, mostA = 0, mostB = 0;
  std::vector<Open> open;                             ///< oldest first
  std::map<int64_t, std::vector<int64_t>> unfinished; ///< results, by chunk
  size_t opened = 0; ///< so many of all blocks have been
  std::map<std::tuple<int, int64_t, int64_t, int64_t, int64_t>, int> writers;
};
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
         (contraction.isDepthwise ? layout.nBlocks : 1);
  for (int64_t tile = 0; tile < tiles; ++tile) {
    mostB = std::max(mostB, layout.bRows(tile));
  }
  allB = mostB * tiles * layout.nBlocks * layout.batches();
  int64_t operands[2] = {0, 0};
  for (const EpilogueValue &value : contraction.epilogue.values)
    if (value.kind == EpilogueValue::Operand && hasRows(value.reach) &&
        !contraction.operands[value.operand].kept)
      ++operands[isWide(contraction.operands[value.operand].element)];

  int64_t rows = areas.end[0] - areas.next[0];
  int64_t ofOperands =
      std::min(rows / 4, mostOperands * operands[0] * mostChunk);
  narrow = RowAllocator(areas.next[0], ofOperands, free);
  rows -= ofOperands;
  // A as often as it changes from step to step, B what is left.
  int64_t ofA = std::min(allA, 3 * mostA);
  if (ofA + std::min(allB, 3 * mostB) > rows)
    ofA = std::min(allA, 2 * mostA);
  if (allA > ofA && ofA + allB < rows)
    ofA = std::min(allA, rows - allB);
  ofA = std::max<int64_t>(0, std::min(ofA, rows - mostB));
  a.ring = RowAllocator(areas.next[0] + ofOperands, ofA, free);
  b.ring = RowAllocator(areas.next[0] + ofOperands + ofA, rows - ofA, free);

  rows = areas.end[1] - areas.next[1];
  ofOperands = std::min(rows / 2, mostOperands * operands[1] * mostChunk);
  // All columns of some rows, and what comes next.
  if (contraction.rows.exist())
    ofOperands =
        std::min(ofOperands, std::max(rows - 2 * layout.nBlocks * mostChunk,
                                      2 * operands[1] * mostChunk));
  wide = RowAllocator(areas.next[1], ofOperands, free);
  // The vector unit works on one block while the next one is computed.
  c = RowAllocator(areas.next[1] + ofOperands, rows - ofOperands, free,
                   int64_t(machine.accumulator_rows) /
                       machine.accumulator_banks);
}

/// Of the array, without gaps.
int64_t Planner::cyclesOf(int64_t chunk, int64_t tile) const {
  if (contraction.isDepthwise)
    return layout.tileEnds[size_t(tile)] * layout.chunks[size_t(chunk)].rows *
           machine.dim / machine.vector_lanes;
  return layout.cyclesOf(layout.chunks[size_t(chunk)], tile);
}

/// Where a tile lies for the last step; loads it if it is not there.
std::optional<uint32_t> Planner::tileAt(Tiles &tiles, Key key, int64_t rows,
                                        TileLoad load, StreamStep &step) {
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
  addLoad(load, step);
  return uint32_t(place);
}

/// The last step that writes any of what a load brings; -1: none.
int Planner::writtenBy(const TileLoad &load) {
  if (!written)
    return -1;
  auto [found, isNew] = writers.insert(
      {{load.kind, load.chunk, load.nBlock, load.tile, load.operand}, -1});
  if (isNew)
    found->second = written->lastOf(loadsOf(layout, load));
  return found->second;
}

void Planner::addLoad(TileLoad load, StreamStep &step) {
  load.written = writtenBy(load);
  step.loads.push_back(load);
}

/// What the epilogue of a block reads, element by element; places are not
/// known.
std::vector<TileLoad> Planner::operandsOf(const Open &block) const {
  std::vector<TileLoad> loads;
  for (const EpilogueValue &value : contraction.epilogue.values)
    if (value.kind == EpilogueValue::Operand && hasRows(value.reach))
      loads.push_back(
          {TileLoad::Operand, block.chunk, block.nBlock, 0, value.operand});
  return loads;
}

Planner::Writers Planner::lastWriters(const Open &block) {
  Writers last;
  if (!written)
    return last;
  int64_t lane = contraction.isDepthwise ? block.nBlock : 0;
  (contraction.a.kept ? last.kept : last.loaded) =
      writtenBy({TileLoad::A, block.chunk, lane, block.tile});
  last.loaded =
      std::max(last.loaded,
               writtenBy({TileLoad::B, block.chunk, block.nBlock, block.tile}));
  if (block.tile + 1 == int64_t(layout.tileEnds.size()))
    for (const TileLoad &load : operandsOf(block))
      if (!contraction.operands[load.operand].kept)
        last.loaded = std::max(last.loaded, writtenBy(load));
  return last;
}

/// Adds a tile of a block to the last step, or leaves the step as it was.
Added Planner::add(Open &block) {
  int now = int(plan.steps.size()) - 1;
  auto [chunk, nBlock, tile, number] = block;
  const Chunk &rows = layout.chunks[size_t(chunk)];
  bool isLast = tile + 1 == int64_t(layout.tileEnds.size());
  // Rings are copied back where not everything fits.
  Tiles oldA = a, oldB = b;
  RowAllocator oldC = c, oldNarrow = narrow, oldWide = wide;
  StreamStep oldStep = plan.steps.back();
  StreamStep &step = plan.steps.back();
  const size_t results = plan.results.size();
  auto giveUp = [&, result = number] {
    a = oldA, b = oldB, c = oldC, narrow = oldNarrow, wide = oldWide;
    plan.steps.back() = oldStep;
    plan.results.resize(results);
    if (result < results)
      plan.results[result].operands.clear();
    return Added::NoRoom;
  };
  int64_t lane = contraction.isDepthwise ? nBlock : 0;
  TileLoad loadOfA{TileLoad::A, chunk, lane, tile};
  std::optional<uint32_t> placeOfA = 0;
  if (contraction.a.kept)
    step.keptFrom = std::max(step.keptFrom, writtenBy(loadOfA));
  else
    placeOfA = tileAt(a, {chunk, tile, lane}, mostA, loadOfA, step);
  auto placeOfB = tileAt(b, {rows.batch, nBlock, tile}, mostB,
                         {TileLoad::B, chunk, nBlock, tile}, step);
  if (!placeOfA || !placeOfB)
    return giveUp();
  if (tile == 0) {
    int before = -1;
    int64_t place = c.take(mostChunk, now, loose, before);
    if (place < 0)
      return giveUp();
    c.keep(place);
    step.reusesResults |= before >= 0;
    number = results;
    plan.results.push_back({chunk,
                            nBlock,
                            uint32_t(place),
                            uint32_t(results % machine.arrays),
                            {}});
    if (contraction.epilogue.bias >= 0)
      addLoad({TileLoad::Bias, chunk, nBlock, tile,
               unsigned(contraction.epilogue.bias), uint32_t(place)},
              step);
  }
  step.units.push_back({int64_t(number), tile, *placeOfA, *placeOfB});
  if (isLast) {
    ResultBlock &finished = plan.results[number];
    for (TileLoad load : operandsOf(block)) {
      if (contraction.operands[load.operand].kept) {
        // Both are the vector unit's, one after the other.
        finished.operands.push_back(0);
        continue;
      }
      bool inAccumulator = isWide(contraction.operands[load.operand].element);
      int before = -1;
      int64_t place =
          (inAccumulator ? wide : narrow).take(mostChunk, now, loose, before);
      if (place < 0)
        return giveUp();
      step.reusesOperands |= before >= 0;
      finished.operands.push_back(uint32_t(place));
      load.place = uint32_t(place);
      addLoad(load, step);
    }
    finish(int64_t(number), step);
  }
  step.cycles += cyclesOf(chunk, tile) / machine.arrays;
  block.result = number;
  ++block.tile;
  return Added::Yes;
}

/// A result whose sums are there. Where rows are combined it waits for those of
/// its rows' other columns.
void Planner::finish(int64_t number, StreamStep &step) {
  const ResultBlock &result = plan.results[size_t(number)];
  std::vector<int64_t> all = {number};
  if (contraction.rows.exist()) {
    step.summed.push_back(number);
    std::vector<int64_t> &waiting = unfinished[result.chunk];
    waiting.push_back(number);
    if (int64_t(waiting.size()) < layout.nBlocks)
      return;
    all = std::move(waiting);
    unfinished.erase(result.chunk);
    std::sort(all.begin(), all.end(), [&](int64_t x, int64_t y) {
      return plan.results[size_t(x)].nBlock < plan.results[size_t(y)].nBlock;
    });
  }
  for (int64_t one : all) {
    step.finished.push_back(one);
    c.giveBack(plan.results[size_t(one)].place, int(plan.steps.size()) - 1);
  }
}

/// When what those steps finish has been stored and loaded again, or copied.
int64_t Planner::backAt(const Writers &last) const {
  auto endOf = [&](int number) {
    const StreamStep &step = plan.steps[size_t(number)];
    return step.start + step.cycles + 2 * machine.dim;
  };
  int64_t at = 0;
  if (last.loaded >= 0)
    at = endOf(last.loaded) + 2 * int64_t(machine.memory_latency) +
         transferCycles;
  if (last.kept >= 0)
    at = std::max<int64_t>(at, endOf(last.kept) + copyCycles);
  return at;
}

/// The oldest block whose operands are there, or else the one whose operands
/// come first, or a new one.
Added Planner::addNext() {
  int now = int(plan.steps.size()) - 1;
  StreamStep &step = plan.steps.back();
  auto tiles = int64_t(layout.tileEnds.size());
  Open next = {0, 0, 0, ~size_t(0)};
  std::vector<Open *> blocks;
  for (Open &block : open)
    blocks.push_back(&block);
  if (opened < layout.blocks.size()) {
    next.chunk = layout.blocks[opened].chunk;
    next.nBlock = layout.blocks[opened].nBlock;
    blocks.push_back(&next);
  }
  Open *chosen = nullptr;
  int64_t earliest = std::numeric_limits<int64_t>::max();
  for (Open *block : blocks) {
    Writers last = lastWriters(*block);
    if ((last.loaded >= 0 && last.loaded + stored > now) ||
        (last.kept >= 0 && last.kept + kept > now) || backAt(last) >= earliest)
      continue;
    chosen = block;
    earliest = backAt(last);
    if (earliest <= step.start)
      break;
  }
  // Not together with what need not wait.
  if (!chosen || (earliest > step.start && !step.units.empty()))
    return Added::TooEarly;
  step.start = std::max(step.start, earliest);
  Added added = add(*chosen);
  if (chosen == &next && added == Added::Yes) {
    ++opened;
    open.push_back(next);
  } else if (chosen == &next && !open.empty()) {
    // Those that wait have their places already: until then.
    int64_t first = std::numeric_limits<int64_t>::max();
    for (const Open &block : open)
      first = std::min(first, backAt(lastWriters(block)));
    step.start = std::max(step.start, first);
    return Added::TooEarly;
  }
  open.erase(std::remove_if(open.begin(), open.end(),
                            [&](const Open &one) { return one.tile == tiles; }),
             open.end());
  return added;
}

void Planner::addStep() {
  int64_t start = 0;
  if (!plan.steps.empty())
    start = plan.steps.back().start + plan.steps.back().cycles;
  plan.steps.emplace_back();
  plan.steps.back().part = part;
  plan.steps.back().start = start;
}

void Planner::run() {
  addStep();
  // Where others have been, everything has to have left: operands, sums and
  // what the epilogue keeps.
  int first = free < 0 ? 0 : free + loose;
  while (int(plan.steps.size()) - 1 < first)
    addStep();
  plan.steps.back().opensPart = true;
  size_t firstStep = plan.steps.size() - 1;
  auto isIdle = [&](size_t before) {
    return firstStep < before || plan.steps[firstStep - before].units.empty();
  };
  plan.steps.back().isFresh = isIdle(1) && isIdle(2);
  // Steps may have to pass without any folds until places are free; once
  // nothing is in use any more there is as much room as ever.
  for (int empty = 0; opened < layout.blocks.size() || !open.empty();) {
    bool isFull = plan.steps.back().cycles >= layout.choice.stepCycles;
    Added added = isFull ? Added::NoRoom : addNext();
    if (added == Added::Yes) {
      empty = 0;
      continue;
    }
    empty += plan.steps.back().units.empty() && added == Added::NoRoom;
    if (empty > loose) {
      plan.error = "its tiles do not fit on chip";
      return;
    }
    addStep();
  }
  if (written)
    noteResults(firstStep);
}

/// Where results lie, and what is around them, for contractions that follow.
void Planner::noteResults(size_t firstStep) {
  // The row around them is stored with the first step.
  written->note(marginStores(layout, 0), int(firstStep) - stored + 1);
  for (size_t i = firstStep; i < plan.steps.size(); ++i)
    for (int64_t number : plan.steps[i].finished) {
      const ResultBlock &result = plan.results[size_t(number)];
      const Chunk &chunk = layout.chunks[size_t(result.chunk)];
      written->note(
          layout.rowsOfResults(contraction.result, chunk, result.nBlock, 0),
          int(i));
      if (contraction.unrounded)
        written->note(layout.rowsOfResults(*contraction.unrounded, chunk,
                                           result.nBlock, 0),
                      int(i));
    }
}

std::vector<Transfer> ashlar::systolic::loadsOf(const ChipLayout &layout,
                                                const TileLoad &tile) {
  const Chunk &chunk = layout.chunks[size_t(tile.chunk)];
  int64_t begin = layout.tileBegin(tile.tile);
  int64_t end = layout.tileEnds[size_t(tile.tile)];
  const Contraction &contraction = layout.contraction;
  switch (tile.kind) {
  case TileLoad::A:
    return layout.loadsOfA(chunk, tile.tile, tile.nBlock, begin, end,
                           tile.place);
  case TileLoad::B:
    return layout.loadsOfB(chunk.batch, tile.nBlock, tile.tile, begin, end,
                           tile.place);
  case TileLoad::Bias: {
    std::vector<Transfer> rows = layout.rowOfColumns(
        contraction.operands[tile.operand], chunk.batch, tile.nBlock,
        ASHLAR_SYSTOLIC_ACCUMULATOR | tile.place, false);
    for (Transfer &row : rows)
      row.levels = {{uint32_t(chunk.rows), 1, 0}};
    return rows;
  }
  case TileLoad::Operand:
    break;
  }
  const Access &access = contraction.operands[tile.operand];
  bool isColumn = true;
  for (unsigned d : contraction.n)
    isColumn &= access.strides[d] == 0 || contraction.sizes[d] == 1;
  uint32_t space = isWide(access.element) ? ASHLAR_SYSTOLIC_ACCUMULATOR : 0;
  return layout.rowsOfResults(access, chunk, tile.nBlock, space | tile.place,
                              isColumn);
}

void ashlar::systolic::planSteps(const ChipLayout &layout, const Areas &areas,
                                 int free, WrittenRows *written, Steps &plan) {
  Planner(layout, areas, free, written, plan).run();
}
