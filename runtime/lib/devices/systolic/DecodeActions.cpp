// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What each command asks of its engine.

#include "Decoder.h"

#include "Fields.h"

#include <utility>

namespace ashlar::systolic {

//===-- What actions have in common ---------------------------------------===//

Place Decoder::placeOf(uint32_t address) const {
  Place place;
  if (address == ASHLAR_SYSTOLIC_GARBAGE)
    return place;
  place.exists = true;
  place.inAccumulator = address & ASHLAR_SYSTOLIC_ACCUMULATOR;
  place.accumulates = address & ASHLAR_SYSTOLIC_ACCUMULATE;
  place.fullWidth = address & ASHLAR_SYSTOLIC_FULL_WIDTH;
  place.row = address & ASHLAR_SYSTOLIC_ROW_MASK;
  return place;
}

bool Decoder::checkSize(const char *what, uint32_t found, uint32_t most) {
  if (found != 0 && found <= most)
    return true;
  return fail(std::string(what) + ": expected 1 to " + text(most) + ", found " +
              text(found));
}

bool Decoder::walkOf(unsigned stream, uint32_t rows, int64_t step,
                     int64_t bytes, const char *what, Walk &walk) {
  const StreamLevels &levels = streams[stream];
  if (levels.levels == 0) {
    walk = Walk::linear(rows, step, bytes);
    return true;
  }
  walk = levels.walk;
  walk.levels = levels.levels;
  walk.rows = rows;
  uint64_t all = 1;
  for (unsigned level = 0; level < walk.levels; ++level) {
    all *= walk.counts[level];
    if (all > ~uint32_t(0))
      return fail(std::string(what) + ": its stream has more than 2^32 rows");
  }
  if (rows > all)
    return fail(std::string(what) + ": its stream has " + text(int64_t(all)) +
                " rows, the command asks for " + text(rows));
  return true;
}

/// That every row is in its memory, also in the blocks beside it.
bool Decoder::checkRows(const Operand &operand, const char *what,
                        uint32_t blocks, uint32_t blockStride) {
  int64_t least, greatest;
  operand.walk.rowBounds(least, greatest);
  least += operand.place.row;
  greatest += operand.place.row + int64_t(blocks - 1) * blockStride;
  bool inAccumulator = operand.place.inAccumulator;
  int64_t limit =
      inAccumulator ? machine.accumulator_rows : machine.scratchpad_rows;
  if (least >= 0 && greatest < limit)
    return true;
  return fail(std::string(what) + ": rows " + text(least) + " to " +
              text(greatest) + " are not all among the " + text(limit) +
              " of the " + (inAccumulator ? "accumulator" : "scratchpad"));
}

bool Decoder::memoryAddress(uint64_t rs1, Action &action) {
  action.isNull = rs1 == 0;
  if (action.isNull)
    return true;
  uint32_t binding = uint32_t(rs1 >> ASHLAR_SYSTOLIC_BINDING_SHIFT);
  if (binding == 0 || binding > kernel.bindings)
    return fail("memory: expected one of " + text(kernel.bindings) +
                " bindings, found " + text(int64_t(binding) - 1));
  action.binding = binding - 1;
  action.offset = rs1 & ((uint64_t(1) << ASHLAR_SYSTOLIC_BINDING_SHIFT) - 1);
  return true;
}

//===-- Memory ------------------------------------------------------------===//

bool Decoder::decodeLoad(const Command &command, Action &action, unsigned id) {
  const LoadState &load = loads[id];
  if (!load.configured)
    return fail("no config_ld came before it");
  action.kind = Action::Load;
  action.queue = ASHLAR_SYSTOLIC_LOAD;
  if (!memoryAddress(command.rs1, action))
    return false;
  uint32_t rows = bits(command.rs2, 48, 16);
  action.chip.columns = bits(command.rs2, 32, 16);
  action.chip.place = placeOf(uint32_t(command.rs2));
  if (!action.chip.place.exists)
    return fail("there is no row to load into");
  if (!checkSize("rows", rows, machine.command_rows) ||
      !checkSize("columns", action.chip.columns, 65535) ||
      !walkOf(ASHLAR_SYSTOLIC_STREAM_MVIN + id, rows, 1, int64_t(load.stride),
              "memory", action.chip.walk))
    return false;
  action.firstColumn = firstColumns[id];
  action.blockStride = load.blockStride;
  action.scale = load.scale;
  action.pixels = load.pixels;
  bool isWide = action.chip.place.inAccumulator && !load.narrow;
  uint32_t inputBytes = machine.input == ASHLAR_SYSTOLIC_BF16 ? 2 : 1;
  action.elementBytes = isWide ? 4 : inputBytes;
  if (machine.command_row_bytes &&
      action.chip.columns * action.elementBytes > machine.command_row_bytes)
    return fail("columns: expected at most " +
                text(machine.command_row_bytes / action.elementBytes) +
                ", found " + text(action.chip.columns));
  if (action.pixels > 1 &&
      (action.chip.place.inAccumulator ||
       action.firstColumn + action.chip.columns * action.pixels > machine.dim))
    return fail("expected pixels that repeat to fit in a scratchpad's row, "
                "found " +
                text(action.pixels) + " times " + text(action.chip.columns));
  uint32_t blocks =
      (action.firstColumn + action.chip.columns - 1) / machine.dim + 1;
  return checkRows(action.chip, "chip", blocks, action.blockStride);
}

/// The rows that pooling reads, as an image of rows times columns.
bool Decoder::decodePool(Action &action) {
  const Pooling &pool = action.pooling;
  if (pool.size == 0 || pool.outputRows == 0 || pool.outputColumns == 0 ||
      pool.rows == 0 || pool.columns == 0)
    return fail("pooling: expected a window, rows and columns");
  if (action.chip.place.inAccumulator && action.chip.place.fullWidth)
    return fail("pooling: expected narrow elements");
  // In memory: from one pooled element of a row to the next.
  action.chip.walk = Walk::linear(pool.rows * pool.columns, 1, storeStride);
  return checkSize("columns", action.chip.columns, machine.dim) &&
         checkRows(action.chip, "chip");
}

bool Decoder::decodeStore(const Command &command, Action &action) {
  if (!stConfigured)
    return fail("no config_st came before it");
  action.kind = Action::Store;
  action.queue = ASHLAR_SYSTOLIC_STORE;
  if (!memoryAddress(command.rs1, action))
    return false;
  if (action.isNull)
    return fail("memory: the address is null");
  uint32_t rows = bits(command.rs2, 48, 16);
  action.chip.columns = bits(command.rs2, 32, 16);
  action.chip.place = placeOf(uint32_t(command.rs2));
  if (!action.chip.place.exists)
    return fail("there is no row to store");
  action.firstColumn = firstColumns[3];
  action.blockStride = storeBlockStride ? storeBlockStride : machine.dim;
  action.scale = storeScale;
  action.relu = storeRelu;
  action.pooling = pooling;
  uint32_t inputBytes = machine.input == ASHLAR_SYSTOLIC_BF16 ? 2 : 1;
  bool isWide = action.chip.place.inAccumulator && action.chip.place.fullWidth;
  if (isWide && machine.flags & ASHLAR_SYSTOLIC_NARROW_RESULTS)
    return fail(std::string("machine ") + machine.name +
                " stores no elements of 32 bits");
  action.elementBytes = isWide ? 4 : inputBytes;
  if (pooling.stride)
    return decodePool(action);
  if (!checkSize("rows", rows, machine.command_rows) ||
      !checkSize("columns", action.chip.columns, 65535) ||
      !walkOf(ASHLAR_SYSTOLIC_STREAM_MVOUT, rows, 1, storeStride, "memory",
              action.chip.walk))
    return false;
  uint32_t blocks =
      (action.firstColumn + action.chip.columns - 1) / machine.dim + 1;
  return checkRows(action.chip, "chip", blocks, action.blockStride);
}

bool Decoder::decodeTable(const Command &command, Action &action) {
  action.kind = Action::Table;
  action.queue = ASHLAR_SYSTOLIC_VECTOR;
  if (!memoryAddress(command.rs1, action))
    return false;
  if (action.isNull || command.rs2 >= ASHLAR_SYSTOLIC_TABLES)
    return fail("expected an address and a table below " +
                text(ASHLAR_SYSTOLIC_TABLES));
  action.table = uint32_t(command.rs2);
  return true;
}

//===-- Arrays ------------------------------------------------------------===//

bool Decoder::decodePreload(const Command &command, Action &action) {
  if (!exConfigured)
    return fail("no config_ex came before it");
  action.kind = Action::Preload;
  action.queue = ASHLAR_SYSTOLIC_EXECUTE + command.unit;
  action.outputStationary = outputStationary;
  action.bTransposed = bTransposed && !outputStationary;
  Operand &matrix = action.stationary;
  matrix.place = placeOf(uint32_t(command.rs1));
  uint32_t rows = bits(command.rs1, 48, 16);
  matrix.columns = bits(command.rs1, 32, 16);
  if (matrix.place.exists) {
    if (!checkSize("rows", rows, machine.dim) ||
        !checkSize("columns", matrix.columns, machine.dim))
      return false;
    if (matrix.place.inAccumulator)
      return fail("an array reads the scratchpad, not the accumulator");
    // A transposed matrix lies there the other way round.
    if (action.bTransposed)
      std::swap(rows, matrix.columns);
    matrix.walk = Walk::linear(rows, 1);
    if (!checkRows(matrix, outputStationary ? "D" : "B"))
      return false;
  }
  preloaded[command.unit] = {true, command.rs2};
  return true;
}

bool Decoder::decodeCompute(const Command &command, Action &action,
                            bool flips) {
  const Preloaded &before = preloaded[command.unit];
  if (!before.exists)
    return fail("no preload of this array came before it");
  action.kind = Action::Compute;
  action.queue = ASHLAR_SYSTOLIC_EXECUTE + command.unit;
  action.flips = flips;
  action.outputStationary = outputStationary;
  action.aTransposed = aTransposed;
  action.bTransposed = bTransposed && outputStationary;
  action.shift = outputStationary ? shift : 0;
  action.relu = exRelu;
  auto sized = [&](Operand &operand, uint64_t bitsOf, uint32_t &rows) {
    operand.place = placeOf(uint32_t(bitsOf));
    operand.columns = bits(bitsOf, 32, 16);
    rows = bits(bitsOf, 48, 16);
    if (operand.place.exists && operand.place.inAccumulator)
      return fail("an array reads the scratchpad, not the accumulator");
    return true;
  };
  uint32_t aRows, movingRows, cRows = bits(before.c, 48, 16);
  if (!sized(action.a, command.rs1, aRows) ||
      !sized(action.moving, command.rs2, movingRows))
    return false;
  if (!action.a.place.exists)
    return fail("A: expected a matrix, found none: its data would be "
                "undefined");
  bool isLong = !outputStationary && !aTransposed;
  uint32_t mostRows = isLong ? machine.command_rows : machine.dim;
  if (!checkSize("rows of A", aRows, mostRows) ||
      !checkSize("columns of A", action.a.columns, machine.dim))
    return false;
  if (aTransposed)
    std::swap(aRows, action.a.columns);
  if (!walkOf(ASHLAR_SYSTOLIC_STREAM_A, aRows, aStride, 0, "A",
              action.a.walk) ||
      !checkRows(action.a, "A"))
    return false;
  const char *moving = outputStationary ? "B" : "D";
  if (action.moving.place.exists) {
    if (!checkSize("rows of B or D", movingRows,
                   outputStationary ? machine.dim : mostRows) ||
        !checkSize("columns of B or D", action.moving.columns, machine.dim))
      return false;
    if (action.bTransposed)
      std::swap(movingRows, action.moving.columns);
    action.moving.walk = Walk::linear(movingRows, 1);
    if (!checkRows(action.moving, moving))
      return false;
  } else if (outputStationary) {
    return fail("B: expected a matrix, found none");
  }
  action.c.place = placeOf(uint32_t(before.c));
  action.c.columns = bits(before.c, 32, 16);
  if (!action.c.place.exists)
    return true;
  return checkSize("rows of C", cRows, mostRows) &&
         checkSize("columns of C", action.c.columns, machine.dim) &&
         walkOf(ASHLAR_SYSTOLIC_STREAM_C, cRows, cStride, 0, "C",
                action.c.walk) &&
         checkRows(action.c, "C");
}

//===-- The vector unit ---------------------------------------------------===//

bool Decoder::decodeVector(const Command &command, Action &action) {
  uint32_t funct = command.funct;
  action.kind = Action::Vector;
  action.queue = ASHLAR_SYSTOLIC_VECTOR;
  action.isInteger = isInteger;
  action.right = right;
  bool isBinary = funct > ASHLAR_SYSTOLIC_COPY && funct < ASHLAR_SYSTOLIC_FILL;
  bool ofFloats =
      funct >= ASHLAR_SYSTOLIC_EXP && funct <= ASHLAR_SYSTOLIC_LOOKUP;
  if (ofFloats && isInteger)
    return fail("expected the type f32, found s32");
  uint32_t rows = bits(command.rs1, 48, 16);
  uint32_t columns = bits(command.rs1, 32, 16);
  action.result.place = placeOf(uint32_t(command.rs1));
  if (!action.result.place.exists)
    return fail("there is no row for the result");
  if (!checkSize("rows", rows, machine.command_rows) ||
      !checkSize("columns", columns, machine.dim))
    return false;
  bool reduces = funct >= ASHLAR_SYSTOLIC_ROW_MAXIMUM;
  auto operand = [&](Operand &out, uint32_t stream, uint32_t width,
                     int64_t step, const char *what) {
    out.columns = width;
    return walkOf(stream, rows, step, 0, what, out.walk) &&
           checkRows(out, what);
  };
  if (!operand(action.result, ASHLAR_SYSTOLIC_STREAM_RESULT,
               reduces ? 1 : columns, 1, "result"))
    return false;
  action.immediate = bits(command.rs2, 32, 32);
  if (funct == ASHLAR_SYSTOLIC_LOOKUP &&
      action.immediate >= ASHLAR_SYSTOLIC_TABLES)
    return fail("expected a table below " + text(ASHLAR_SYSTOLIC_TABLES) +
                ", found " + text(action.immediate));
  if (funct == ASHLAR_SYSTOLIC_FILL)
    return true;
  action.left.place = placeOf(uint32_t(command.rs2));
  if (!action.left.place.exists)
    return fail("there is no left operand");
  if (!operand(action.left, ASHLAR_SYSTOLIC_STREAM_LEFT, columns, 1, "left"))
    return false;
  if (!isBinary)
    return true;
  action.second.place = placeOf(action.immediate);
  if (!action.second.place.exists)
    return fail("there is no right operand");
  return operand(action.second, ASHLAR_SYSTOLIC_STREAM_RIGHT,
                 right == ASHLAR_SYSTOLIC_ONE_COLUMN ? 1 : columns,
                 right == ASHLAR_SYSTOLIC_ONE_ROW ? 0 : 1, "right");
}

} // namespace ashlar::systolic
