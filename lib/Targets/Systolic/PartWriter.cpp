// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "PartWriter.h"
#include "Margins.h"

#include <algorithm>
#include <limits>

using namespace ashlar::systolic;

void ashlar::systolic::interleave(const Commands &first,
                                  const Commands &second) {
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

PartWriter::PartWriter(const Contraction &contraction, const Machine &machine,
                       const Choice &choice, const Cuts *cuts,
                       const Areas &areas, StreamWriter &writer)
    : layout(contraction, machine, choice, cuts),
      epilogue(layout, writer, areas), rows(layout, writer, epilogue.areas()),
      writer(writer), taken(rows.areas()) {
  if (hasMargins() && isStored())
    marginRow = uint32_t(taken.next[isWide(contraction.result.element)]++);
  if (choice.isOnLanes) {
    partialRows = machine.vector_lanes / machine.dim;
    partialRow = uint32_t(taken.next[1]);
    taken.next[1] += partialRows;
  }
}

bool PartWriter::fits() const {
  for (int memory : {0, 1})
    if ((taken.next[memory] - taken.begin[memory]) * 2 >
        taken.end[memory] - taken.begin[memory])
      return false;
  return true;
}

uint32_t PartWriter::engine() const {
  return hasLanes() ? vectorQueue : arrayQueues;
}

void PartWriter::collect(const std::vector<Transfer> &transfers, unsigned id,
                         Commands &commands) const {
  for (const Transfer &transfer : transfers)
    for (const Transfer &piece : writer.split(transfer))
      commands.push_back([this, piece, id] { writer.load(id, piece); });
}

static unsigned mvinOf(TileLoad::Kind kind) {
  return kind == TileLoad::A   ? 0
         : kind == TileLoad::B ? 1
                               : EpilogueWriter::mvin;
}

std::vector<Transfer> PartWriter::constantLoads() const {
  std::vector<Transfer> loads = epilogue.constantLoads();
  for (const Transfer &load : rows.constantLoads())
    loads.push_back(load);
  return loads;
}

void PartWriter::collectConstants(Commands &commands) const {
  collect(constantLoads(), EpilogueWriter::mvin, commands);
}

void PartWriter::collectLoads(const StreamStep &step, int64_t after,
                              int64_t last, Commands &commands) const {
  for (const TileLoad &tile : step.loads)
    if (tile.written > after && tile.written <= last)
      collect(loadsOf(layout, tile), mvinOf(tile.kind), commands);
}

Fold PartWriter::foldOf(const Steps &plan, const Unit &unit,
                        int64_t block) const {
  const ResultBlock &result = plan.results[size_t(unit.result)];
  Fold fold = layout.fold(layout.chunks[size_t(result.chunk)], result.nBlock,
                          unit.tile, block, unit.a, unit.b);
  fold.array = result.array;
  // Output-stationary, all of a tile arrives at once.
  bool isFirst = fold.isOutputStationary ? unit.tile == 0 : block == 0;
  fold.c = ASHLAR_SYSTOLIC_ACCUMULATOR | result.place |
           (!isFirst || layout.contraction.epilogue.bias >= 0
                ? ASHLAR_SYSTOLIC_ACCUMULATE
                : 0);
  return fold;
}

std::vector<ArrayStep> PartWriter::stepsOf(const Steps &plan,
                                           const Unit &unit) const {
  std::vector<Fold> folds;
  for (int64_t block = layout.tileBegin(unit.tile);
       block < layout.tileEnds[size_t(unit.tile)]; ++block)
    folds.push_back(foldOf(plan, unit, block));
  return arraySteps(folds, writer);
}

void PartWriter::collectFolds(const Steps &plan, const StreamStep &step,
                              Commands &commands) {
  if (hasLanes()) {
    commands.push_back([this, &plan, &step] { writeLanes(plan, step); });
    return;
  }
  // Arrays take turns, so that none waits in the order of issue.
  size_t most = 0;
  std::vector<std::vector<ArrayStep>> byArray(layout.machine.arrays);
  for (const Unit &unit : step.units)
    for (const ArrayStep &one : stepsOf(plan, unit)) {
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

void PartWriter::collectStores(const Steps &plan, const StreamStep &step,
                               Commands &commands) const {
  const Contraction &contraction = layout.contraction;
  auto store = [&](const Access &access, bool relu, float scale) {
    uint32_t wide = isWide(access.element) ? ASHLAR_SYSTOLIC_FULL_WIDTH : 0;
    for (int64_t number : step.finished) {
      const ResultBlock &result = plan.results[size_t(number)];
      for (const Transfer &transfer : layout.rowsOfResults(
               access, layout.chunks[size_t(result.chunk)], result.nBlock,
               ASHLAR_SYSTOLIC_ACCUMULATOR | wide | result.place))
        for (const Transfer &piece : writer.split(transfer))
          commands.push_back(
              [this, piece, relu, scale] { writer.store(piece, relu, scale); });
    }
  };
  if (isStored())
    store(contraction.result, contraction.epilogue.relu,
          contraction.epilogue.scale);
  if (contraction.unrounded)
    store(*contraction.unrounded, false, 1);
}

/// On the vector unit, with the epilogue of what is finished.
void PartWriter::writeLanes(const Steps &plan, const StreamStep &step) {
  for (const Unit &unit : step.units) {
    if (layout.choice.isOnLanes)
      writeTerms(plan, unit);
    else
      writeTaps(plan, unit);
    if (unit.tile + 1 == int64_t(layout.tileEnds.size()))
      epilogue.write(plan.results[size_t(unit.result)]);
  }
}

void PartWriter::writeTaps(const Steps &plan, const Unit &unit) {
  bool isInteger = layout.machine.input == ASHLAR_SYSTOLIC_S8;
  for (int64_t tap = 0; tap < int64_t(layout.kBlocks.size()); ++tap) {
    Fold fold = foldOf(plan, unit, tap);
    auto rows = uint32_t(
        layout.chunks[size_t(plan.results[size_t(unit.result)].chunk)].rows);
    VectorOperand image{fold.a, 1, joinLevels(fold.rows)};
    writer.vector(ASHLAR_SYSTOLIC_MULTIPLY, isInteger,
                  {fold.c, rows, fold.columns}, image, {fold.b, 1},
                  ASHLAR_SYSTOLIC_ONE_ROW);
  }
}

/// All terms of a tile in rows of partial sums, which are then one.
void PartWriter::writeTerms(const Steps &plan, const Unit &unit) {
  bool isInteger = layout.machine.input == ASHLAR_SYSTOLIC_S8;
  uint32_t terms = 0;
  for (int64_t block = layout.tileBegin(unit.tile);
       block < layout.tileEnds[size_t(unit.tile)]; ++block)
    terms += uint32_t(layout.kBlocks[size_t(block)].depth);
  Fold fold = foldOf(plan, unit, layout.tileBegin(unit.tile));
  const uint32_t sums = ASHLAR_SYSTOLIC_ACCUMULATOR | partialRow;
  uint32_t left = std::min(terms, partialRows);
  auto multiply = [&](uint32_t first, uint32_t rows, uint32_t result,
                      const std::vector<Level> &walk) {
    writer.vector(ASHLAR_SYSTOLIC_MULTIPLY, isInteger,
                  {result, rows, fold.columns}, {unit.b + first, 1},
                  {unit.a + first, 1}, ASHLAR_SYSTOLIC_ONE_COLUMN, walk);
  };
  multiply(0, left, sums, {});
  for (uint32_t done = left; done < terms;) {
    // Whole rounds, then what is left of one.
    uint32_t rounds =
        std::min((terms - done) / left, layout.machine.command_rows / left);
    rounds = std::min<uint32_t>(rounds, 65535);
    uint32_t rows = rounds ? rounds * left : terms - done;
    std::vector<Level> walk;
    if (rounds > 1)
      walk = {{left, 1}, {rounds, 0}};
    multiply(done, rows, sums | ASHLAR_SYSTOLIC_ACCUMULATE, walk);
    done += rows;
  }
  auto add = [&](uint32_t result, uint32_t rows, uint32_t a, uint32_t b) {
    writer.vector(ASHLAR_SYSTOLIC_ADD, isInteger, {result, rows, fold.columns},
                  {a, 1}, {b, 1}, ASHLAR_SYSTOLIC_EACH_ROW);
  };
  for (; left > 2; left = (left + 1) / 2)
    add(sums, left / 2, sums, sums + (left + 1) / 2);
  if (left == 2)
    add(fold.c, 1, sums, sums + 1);
  else
    writer.vectorImmediate(ASHLAR_SYSTOLIC_COPY, isInteger,
                           {fold.c, 1, fold.columns}, {sums, 1}, 0);
}

bool PartWriter::keepsPlanes(const StreamStep &step) const {
  const Contraction &contraction = layout.contraction;
  return keeps() && !rows.isEmpty() && !step.finished.empty() &&
         contraction.count(contraction.n) == contraction.result.kept->columns;
}

std::vector<int64_t> PartWriter::planesOf(const Steps &plan,
                                          const StreamStep &step) const {
  const KeptValue &kept = *layout.contraction.a.kept;
  std::vector<int64_t> planes;
  for (const Unit &unit : step.units)
    for (const ArrayStep &one : stepsOf(plan, unit))
      planes.push_back((int64_t(one.piece.a) - kept.place) / kept.rows);
  return planes;
}

void PartWriter::writeEpilogues(const Steps &plan, const StreamStep &step,
                                const Callback &kept) {
  for (int64_t result : rows.isEmpty() ? step.finished : step.summed)
    epilogue.write(plan.results[size_t(result)]);
  if (rows.isEmpty())
    return;
  // All blocks of some rows finish together, in the order of columns.
  auto count = size_t(layout.nBlocks);
  for (size_t first = 0; first < step.finished.size(); first += count) {
    std::vector<const ResultBlock *> blocks;
    for (size_t i = first; i < first + count; ++i)
      blocks.push_back(&plan.results[size_t(step.finished[i])]);
    bool isLast = first + count == step.finished.size();
    rows.write(blocks, [&](size_t block) {
      if (keeps() && !rows.keeps(*blocks[block]))
        epilogue.keep(*blocks[block]);
      if (kept && isLast)
        kept(int64_t(block));
    });
  }
}

void PartWriter::writeFirstStep(const Steps &plan, const StreamStep &step) {
  if (hasLanes()) {
    Commands loads;
    collectLoads(step, -2, std::numeric_limits<int64_t>::max(), loads);
    for (const auto &command : loads)
      command();
    epilogue.loadConstants();
    writer.sync(loadQueue, vectorQueue);
    return writeLanes(plan, step);
  }
  for (const TileLoad &tile : step.loads)
    if (tile.kind == TileLoad::Bias)
      for (const Transfer &transfer : loadsOf(layout, tile))
        writer.load(mvinOf(tile.kind), transfer);
  // Folds of different units may share a tile. What stays on chip is there.
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
    for (const ArrayStep &one : stepsOf(plan, unit)) {
      int64_t block = layout.tileBegin(unit.tile) + one.fold;
      bool isNew = !layout.contraction.a.kept &&
                   loadUpTo(TileLoad::A, unit.a, block, loadedA);
      isNew |= loadUpTo(TileLoad::B, unit.b, block, loadedB);
      if (isNew)
        writer.sync(loadQueue, arrayQueues);
      writer.foldPiece(one.piece, one.isFirst, one.isLast);
    }
  for (const Transfer &load : constantLoads())
    writer.load(EpilogueWriter::mvin, load);
  for (const TileLoad &tile : step.loads)
    if (tile.kind == TileLoad::Operand)
      for (const Transfer &transfer : loadsOf(layout, tile))
        writer.load(EpilogueWriter::mvin, transfer);
}

void PartWriter::writeMargins() {
  const Contraction &contraction = layout.contraction;
  Element element = contraction.result.element;
  auto dim = uint32_t(layout.dim);
  uint32_t place = marginRow;
  if (isWide(element))
    place |= ASHLAR_SYSTOLIC_ACCUMULATOR;
  if (contraction.pad == 0) {
    Transfer zeros;
    zeros.place = place;
    zeros.columns = dim;
    zeros.elementBytes = uint32_t(bytesOf(element));
    writer.load(EpilogueWriter::mvin, zeros);
  } else {
    writer.vectorImmediate(ASHLAR_SYSTOLIC_FILL,
                           element == Element::S32 || element == Element::S8,
                           {place, 1, dim}, {}, contraction.pad);
  }
  writer.sync(loadQueue | vectorQueue, storeQueue);
  if (isWide(element))
    place |= ASHLAR_SYSTOLIC_FULL_WIDTH;
  for (const Transfer &transfer : marginStores(layout, place))
    writer.store(transfer, contraction.epilogue.relu,
                 contraction.epilogue.scale);
}
