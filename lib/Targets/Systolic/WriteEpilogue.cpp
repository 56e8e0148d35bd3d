// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "WriteEpilogue.h"
#include "Margins.h"

#include <algorithm>

using namespace ashlar::systolic;

EpilogueWriter::EpilogueWriter(const ChipLayout &layout, StreamWriter &writer,
                               const Areas &areas)
    : layout(layout), contraction(layout.contraction), writer(writer),
      taken(areas) {
  assignBuffers();
}

bool EpilogueWriter::isEmpty() const {
  return contraction.epilogue.result == 0 && !contraction.result.kept;
}

/// Results lie where an operand lay that nobody needs any more; the last one
/// in the block itself.
void EpilogueWriter::assignBuffers() {
  const auto &values = contraction.epilogue.values;
  std::vector<int> lastUse(values.size(), -1);
  for (int v = 0; v < int(values.size()); ++v)
    for (int operand : {values[v].left, values[v].right})
      if (operand >= 0)
        lastUse[operand] = v;
  buffers.assign(values.size(), -1);
  constants.assign(values.size(), 0);
  int64_t mostRows = 0;
  for (const Chunk &chunk : layout.chunks)
    mostRows = std::max(mostRows, chunk.rows);

  std::vector<bool> wideFree, narrowFree; // from buffer 1 on
  std::vector<int> wideRows;
  bool blockIsFree = false;
  auto takeFrom = [](std::vector<bool> &pool) {
    auto found = std::find(pool.begin(), pool.end(), true);
    if (found == pool.end())
      found = pool.insert(pool.end(), true);
    *found = false;
    return int(found - pool.begin()) + 1;
  };
  for (int v = 0; v < int(values.size()); ++v) {
    const EpilogueValue &value = values[v];
    if (value.kind == EpilogueValue::Sum)
      buffers[v] = 0;
    if (value.kind != EpilogueValue::Result)
      continue;
    for (int operand : {value.left, value.right}) {
      if (operand < 0 || lastUse[operand] != v || buffers[operand] < 0)
        continue;
      if (values[operand].isNarrow)
        narrowFree[size_t(buffers[operand] - 1)] = true;
      else if (buffers[operand] == 0)
        blockIsFree = true;
      else if (hasRows(values[operand].reach))
        wideFree[size_t(buffers[operand] - 1)] = true;
    }
    if (v == contraction.epilogue.result) {
      buffers[v] = 0;
    } else if (!hasRows(value.reach)) {
      constants[v] = ASHLAR_SYSTOLIC_ACCUMULATOR | uint32_t(taken.next[1]++);
    } else if (value.isNarrow) {
      buffers[v] = takeFrom(narrowFree);
    } else if (blockIsFree) {
      blockIsFree = false;
      buffers[v] = 0;
    } else {
      buffers[v] = takeFrom(wideFree);
    }
  }
  bool hasTemporaries = !wideFree.empty() || !narrowFree.empty();
  pieceRows = std::min<int64_t>(
      mostRows,
      hasTemporaries
          ? std::max<int64_t>(layout.dim, layout.machine.accumulator_rows / 32)
          : mostRows);
  for (size_t i = 0; i < wideFree.size(); ++i) {
    wideBuffers.push_back(ASHLAR_SYSTOLIC_ACCUMULATOR |
                          uint32_t(taken.next[1]));
    taken.next[1] += pieceRows;
  }
  for (size_t i = 0; i < narrowFree.size(); ++i) {
    narrowBuffers.push_back(uint32_t(taken.next[0]));
    taken.next[0] += pieceRows;
  }
  for (int v = 0; v < int(values.size()); ++v) {
    const EpilogueValue &value = values[v];
    if (value.kind != EpilogueValue::Operand || hasRows(value.reach))
      continue;
    bool wide = isWide(contraction.operands[value.operand].element);
    int64_t &next = taken.next[wide];
    constants[v] = uint32_t(next) | (wide ? ASHLAR_SYSTOLIC_ACCUMULATOR : 0);
    next += rowsOfConstant(layout, value);
  }
}

/// Whether an operand is the same for all batches.
static bool isShared(const Contraction &contraction, const Access &access) {
  for (unsigned d : contraction.batch)
    if (access.strides[d] && contraction.sizes[d] > 1)
      return false;
  return true;
}

int64_t ashlar::systolic::rowsOfConstant(const ChipLayout &layout,
                                         const EpilogueValue &value) {
  const Access &access = layout.contraction.operands[value.operand];
  return (value.reach == Reach::Row ? layout.nBlocks : 1) *
         (isShared(layout.contraction, access) ? 1 : layout.batches());
}

std::vector<Transfer>
ashlar::systolic::loadsOfConstant(const ChipLayout &layout,
                                  const EpilogueValue &value, uint32_t place) {
  std::vector<Transfer> loads;
  int64_t blocks = value.reach == Reach::Row ? layout.nBlocks : 1;
  for (int64_t i = 0; i < rowsOfConstant(layout, value); ++i)
    for (const Transfer &load : layout.rowOfColumns(
             layout.contraction.operands[value.operand], i / blocks, i % blocks,
             uint32_t(place + i), value.reach == Reach::Element))
      loads.push_back(load);
  return loads;
}

int64_t ashlar::systolic::rowOfConstant(const ChipLayout &layout,
                                        const EpilogueValue &value,
                                        const ResultBlock &block) {
  const Access &access = layout.contraction.operands[value.operand];
  int64_t batch = isShared(layout.contraction, access)
                      ? 0
                      : layout.chunks[size_t(block.chunk)].batch;
  return value.reach == Reach::Row ? batch * layout.nBlocks + block.nBlock
                                   : batch;
}

std::vector<Transfer> EpilogueWriter::constantLoads() const {
  std::vector<Transfer> loads;
  const auto &values = contraction.epilogue.values;
  for (size_t v = 0; v < values.size(); ++v) {
    const EpilogueValue &value = values[v];
    if (value.kind != EpilogueValue::Operand || hasRows(value.reach))
      continue;
    for (const Transfer &load : loadsOfConstant(layout, value, constants[v]))
      loads.push_back(load);
  }
  return loads;
}

void EpilogueWriter::loadConstants() {
  for (const Transfer &load : constantLoads())
    writer.load(mvin, load);
}

uint32_t ashlar::systolic::rightMode(Reach reach, Reach right) {
  if (hasColumns(reach) && !hasColumns(right))
    return ASHLAR_SYSTOLIC_ONE_COLUMN;
  if (hasRows(reach) && !hasRows(right))
    return ASHLAR_SYSTOLIC_ONE_ROW;
  return ASHLAR_SYSTOLIC_EACH_ROW;
}

std::vector<Level> ashlar::systolic::rowsOfKept(const Box &box) {
  std::vector<Level> levels;
  if (box.levels.size() == 1 && box.levels[0].bytes == 1)
    return levels;
  for (const Level &level : box.levels)
    levels.push_back({level.count, int32_t(level.bytes)});
  return levels;
}

/// The operand that a value is, if it lies on chip already.
const Access *EpilogueWriter::keptOperand(int v) const {
  if (v < 0 ||
      contraction.epilogue.values[size_t(v)].kind != EpilogueValue::Operand)
    return nullptr;
  const Access &access =
      contraction.operands[contraction.epilogue.values[size_t(v)].operand];
  return access.kept ? &access : nullptr;
}

/// Rows from `first` on; temporary ones begin with those of the piece.
VectorOperand EpilogueWriter::operandOf(int v, const ResultBlock &block,
                                        int64_t piece, int64_t first,
                                        int64_t rows) const {
  const EpilogueValue &value = contraction.epilogue.values[size_t(v)];
  auto row = uint32_t(first);
  if (!hasRows(value.reach)) {
    if (value.kind == EpilogueValue::Result)
      return {constants[size_t(v)], 0};
    return {
        uint32_t(constants[size_t(v)] + rowOfConstant(layout, value, block)),
        0};
  }
  if (const Access *kept = keptOperand(v)) {
    Box box = layout.keptRows(*kept, layout.chunks[size_t(block.chunk)],
                              block.nBlock, first, rows)[0];
    return {uint32_t(box.bytes), 1, rowsOfKept(box)};
  }
  if (value.kind == EpilogueValue::Operand) {
    size_t number = 0;
    for (int other = 0; other < v; ++other) {
      const EpilogueValue &before = contraction.epilogue.values[size_t(other)];
      number += before.kind == EpilogueValue::Operand && hasRows(before.reach);
    }
    bool wide = isWide(contraction.operands[value.operand].element);
    return {(block.operands[number] + row) |
            (wide ? ASHLAR_SYSTOLIC_ACCUMULATOR : 0)};
  }
  int buffer = buffers[size_t(v)];
  if (value.isNarrow && v != contraction.epilogue.result)
    return {narrowBuffers[size_t(buffer - 1)] + uint32_t(first - piece)};
  if (buffer == 0)
    return {ASHLAR_SYSTOLIC_ACCUMULATOR | (block.place + row)};
  return {wideBuffers[size_t(buffer - 1)] + uint32_t(first - piece)};
}

void EpilogueWriter::writeRows(const ResultBlock &block, int64_t first,
                               int64_t rows) {
  const auto &values = contraction.epilogue.values;
  for (int v = 0; v < int(values.size()); ++v)
    if (values[size_t(v)].kind == EpilogueValue::Result)
      writeValue(v, block, first, first, rows);
}

/// Rows of a piece.
void EpilogueWriter::writeValue(int v, const ResultBlock &block, int64_t piece,
                                int64_t first, int64_t rows) {
  const auto &values = contraction.epilogue.values;
  const EpilogueValue &value = values[size_t(v)];
  for (int operand : {value.left, value.right})
    if (const Access *kept = keptOperand(operand)) {
      std::vector<Box> boxes = layout.keptRows(
          *kept, layout.chunks[size_t(block.chunk)], block.nBlock, first, rows);
      if (boxes.size() == 1)
        continue;
      for (const Box &box : boxes)
        writeValue(v, block, piece, box.rows, box.count());
      return;
    }
  auto columns = uint32_t(layout.columnsOf(block.nBlock));
  Matrix result = {operandOf(v, block, piece, first, rows).place,
                   hasRows(value.reach) ? uint32_t(rows) : 1,
                   hasColumns(value.reach) ? columns : 1};
  VectorOperand left = {0, 1};
  if (value.left >= 0)
    left = operandOf(value.left, block, piece, first, rows);
  if (value.right < 0 ||
      values[size_t(value.right)].kind == EpilogueValue::Number) {
    double number = value.right < 0 ? 0 : values[size_t(value.right)].number;
    return writer.vectorImmediate(value.funct, value.actsOnIntegers, result,
                                  left, number);
  }
  VectorOperand right = operandOf(value.right, block, piece, first, rows);
  writer.vector(value.funct, value.actsOnIntegers, result, left, right,
                rightMode(value.reach, values[size_t(value.right)].reach));
}

/// What mvout would do on the way to memory.
void EpilogueWriter::keep(const ResultBlock &block) {
  bool isInteger = layout.machine.input == ASHLAR_SYSTOLIC_S8;
  const Chunk &chunk = layout.chunks[size_t(block.chunk)];
  for (const Box &box : layout.keptRows(contraction.result, chunk, block.nBlock,
                                        0, chunk.rows)) {
    Matrix result = {uint32_t(box.bytes), uint32_t(box.count()),
                     uint32_t(layout.columnsOf(block.nBlock))};
    VectorOperand sums = {ASHLAR_SYSTOLIC_ACCUMULATOR |
                          uint32_t(block.place + box.rows)};
    std::vector<Level> walk = rowsOfKept(box);
    if (contraction.epilogue.relu)
      writer.vectorImmediate(ASHLAR_SYSTOLIC_MAXIMUM_IMMEDIATE, isInteger,
                             result, sums, 0, walk);
    else
      writer.vectorImmediate(ASHLAR_SYSTOLIC_COPY, isInteger, result, sums, 0,
                             walk);
  }
}

void EpilogueWriter::writeMargins() {
  bool isInteger = layout.machine.input == ASHLAR_SYSTOLIC_S8;
  const KeptValue &kept = *contraction.result.kept;
  for (const Box &box : keptMargins(layout))
    for (int64_t first = 0; first < kept.columns; first += layout.dim)
      writer.vectorImmediate(
          ASHLAR_SYSTOLIC_FILL, isInteger,
          {uint32_t(box.bytes + first / layout.dim * kept.rows),
           uint32_t(box.count()),
           uint32_t(std::min(layout.dim, kept.columns - first))},
          {}, contraction.pad, rowsOfKept(box));
}

void EpilogueWriter::write(const ResultBlock &block) {
  int64_t rows = layout.chunks[size_t(block.chunk)].rows;
  if (contraction.epilogue.result != 0)
    for (int64_t first = 0; first < rows; first += pieceRows)
      writeRows(block, first, std::min(pieceRows, rows - first));
  if (contraction.result.kept && !contraction.rows.exist())
    keep(block);
}
