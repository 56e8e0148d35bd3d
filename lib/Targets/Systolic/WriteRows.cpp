// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "WriteRows.h"

#include <algorithm>

using namespace ashlar::systolic;

RowsWriter::RowsWriter(const ChipLayout &layout, StreamWriter &writer,
                       const Areas &areas)
    : layout(layout), contraction(layout.contraction),
      rows(layout.contraction.rows), writer(writer), taken(areas) {
  if (isEmpty())
    return;
  for (const Chunk &chunk : layout.chunks)
    mostRows = std::max(mostRows, chunk.rows);
  for (const EpilogueValue &value : rows.values) {
    int phase = 0;
    for (int operand : {value.left, value.right})
      if (operand >= 0)
        phase = std::max(phase, phases[size_t(operand)] +
                                    isReduction(rows.values[size_t(operand)]));
    phases.push_back(phase);
    lastPhase = std::max(lastPhase, phase);
  }
  places.resize(rows.values.size());
  placeOperands();
  placeResults();
}

void RowsWriter::placeOperands() {
  for (size_t v = 0; v < rows.values.size(); ++v) {
    const EpilogueValue &value = rows.values[v];
    if (value.kind != EpilogueValue::Operand)
      continue;
    bool wide = isWide(contraction.operands[value.operand].element);
    int64_t &next = taken.next[wide];
    places[v].address =
        uint32_t(next) | (wide ? ASHLAR_SYSTOLIC_ACCUMULATOR : 0);
    next += rowsOfConstant(layout, value);
  }
}

/// One value of each element may stay in the blocks, while others read it; the
/// last one does. What only its own phase reads needs room for one block.
void RowsWriter::placeResults() {
  const auto &values = rows.values;
  // In the order in which a block gets them.
  auto isBefore = [&](int a, int b) {
    return std::make_pair(phases[size_t(a)], a) <
           std::make_pair(phases[size_t(b)], b);
  };
  std::vector<int> order, lastUse(values.size(), 0);
  for (int v = 0; v < int(values.size()); ++v) {
    order.push_back(v);
    for (int operand : {values[size_t(v)].left, values[size_t(v)].right})
      if (operand >= 0 && isBefore(lastUse[size_t(operand)], v))
        lastUse[size_t(operand)] = v;
  }
  std::sort(order.begin(), order.end(), isBefore);
  int holder = 0; // of the blocks
  places[0].isInBlock = true;
  struct Room {
    uint32_t address;
    int last; ///< that reads what is there
  };
  std::vector<Room> rooms;
  for (int v : order) {
    const EpilogueValue &value = values[size_t(v)];
    if (value.kind != EpilogueValue::Result)
      continue;
    Place &place = places[size_t(v)];
    const int last = lastUse[size_t(v)];
    if (value.reach != Reach::Each) {
      place.blockStep = value.reach == Reach::Row;
      place.address = ASHLAR_SYSTOLIC_ACCUMULATOR | uint32_t(taken.next[1]);
      taken.next[1] += value.reach == Reach::Row ? layout.nBlocks
                       : hasRows(value.reach)    ? mostRows
                                                 : 1;
      continue;
    }
    if (v == rows.result || !isBefore(v, lastUse[size_t(holder)])) {
      holder = v;
      place.isInBlock = true;
      continue;
    }
    bool stays = phases[size_t(last)] > phases[size_t(v)];
    auto room = std::find_if(rooms.begin(), rooms.end(), [&](const Room &one) {
      return !stays && !isBefore(v, one.last);
    });
    if (room == rooms.end()) {
      room = rooms.insert(
          rooms.end(),
          {ASHLAR_SYSTOLIC_ACCUMULATOR | uint32_t(taken.next[1]), last});
      taken.next[1] += mostRows * (stays ? layout.nBlocks : 1);
    }
    room->last = stays ? rows.result : last;
    place.address = room->address;
    place.blockStep = stays ? mostRows : 0;
  }
}

std::vector<Transfer> RowsWriter::constantLoads() const {
  std::vector<Transfer> loads;
  for (size_t v = 0; v < rows.values.size(); ++v) {
    const EpilogueValue &value = rows.values[v];
    if (value.kind != EpilogueValue::Operand)
      continue;
    for (const Transfer &load :
         loadsOfConstant(layout, value, places[v].address))
      loads.push_back(load);
  }
  return loads;
}

VectorOperand
RowsWriter::operandOf(int v, const std::vector<const ResultBlock *> &blocks,
                      size_t block) const {
  const EpilogueValue &value = rows.values[size_t(v)];
  const Place &place = places[size_t(v)];
  if (place.isInBlock)
    return {ASHLAR_SYSTOLIC_ACCUMULATOR | blocks[block]->place};
  int64_t behind = value.kind == EpilogueValue::Operand
                       ? rowOfConstant(layout, value, *blocks[block])
                       : place.blockStep * int64_t(block);
  return {uint32_t(place.address + behind), hasRows(value.reach) ? 1 : 0};
}

bool RowsWriter::keeps(const ResultBlock &block) const {
  const KeptValue *kept = contraction.result.kept;
  if (!kept || kept->isStored || contraction.unrounded ||
      contraction.epilogue.relu)
    return false;
  const Chunk &chunk = layout.chunks[size_t(block.chunk)];
  return layout.keptRows(contraction.result, chunk, block.nBlock, 0, chunk.rows)
             .size() == 1;
}

void RowsWriter::writeValue(int v,
                            const std::vector<const ResultBlock *> &blocks,
                            size_t block) {
  const EpilogueValue &value = rows.values[size_t(v)];
  const bool reduces = isReduction(value);
  const Reach reach = reduces ? Reach::Each : value.reach;
  uint32_t place = operandOf(v, blocks, block).place;
  // The other blocks' come to the first one's.
  if (reduces && block > 0)
    place |= ASHLAR_SYSTOLIC_ACCUMULATE;
  auto count = uint32_t(layout.chunks[size_t(blocks[block]->chunk)].rows);
  auto columns = uint32_t(layout.columnsOf(blocks[block]->nBlock));
  Matrix result = {place, hasRows(reach) ? count : 1,
                   hasColumns(reach) ? columns : 1};
  std::vector<Level> walk;
  if (v == rows.result && keeps(*blocks[block])) {
    const Chunk &chunk = layout.chunks[size_t(blocks[block]->chunk)];
    Box box = layout.keptRows(contraction.result, chunk, blocks[block]->nBlock,
                              0, chunk.rows)[0];
    result.address = uint32_t(box.bytes);
    walk = rowsOfKept(box);
  }
  VectorOperand left = operandOf(value.left, blocks, block);
  if (value.right < 0 ||
      rows.values[size_t(value.right)].kind == EpilogueValue::Number) {
    double number =
        value.right < 0 ? 0 : rows.values[size_t(value.right)].number;
    writer.vectorImmediate(value.funct, false, result, left, number, walk);
    return;
  }
  writer.vector(value.funct, false, result, left,
                operandOf(value.right, blocks, block),
                rightMode(reach, rows.values[size_t(value.right)].reach), walk);
}

void RowsWriter::write(const std::vector<const ResultBlock *> &blocks,
                       const std::function<void(size_t)> &done) {
  for (int phase = 0; phase <= lastPhase; ++phase)
    for (size_t block = 0; block < blocks.size(); ++block) {
      for (int v = 0; v < int(rows.values.size()); ++v) {
        const EpilogueValue &value = rows.values[size_t(v)];
        // What has no columns is the same for all blocks.
        bool isOnce = !hasColumns(value.reach) && !isReduction(value);
        if (value.kind == EpilogueValue::Result && phases[size_t(v)] == phase &&
            (block == 0 || !isOnce))
          writeValue(v, blocks, block);
      }
      if (phase == lastPhase)
        done(block);
    }
}
