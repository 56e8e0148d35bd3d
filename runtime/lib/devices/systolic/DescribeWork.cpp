// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How much work a command is, and on an interlocked machine which commands it
// waits for.

#include "Timing.h"

#include <algorithm>

namespace ashlar::systolic {

static uint64_t divideUp(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

void Timing::addUse(Entry &entry, const Operand &operand, double rowsPerCycle) {
  if (!operand.place.exists || operand.walk.rows == 0)
    return;
  bool inAccumulator = operand.place.inAccumulator;
  uint32_t rows = inAccumulator
                      ? machine.accumulator_rows / machine.accumulator_banks
                      : machine.scratchpad_rows / machine.scratchpad_banks;
  int64_t least, greatest;
  operand.walk.rowBounds(least, greatest);
  auto first = uint32_t((operand.place.row + least) / rows);
  auto last = uint32_t((operand.place.row + greatest) / rows);
  entry.use[entry.uses++] = {inAccumulator, first, last - first + 1,
                             rowsPerCycle};
}

/// Bytes in whole bursts, what continues in memory together.
void Timing::describeDMA(const Action &action, Entry &entry) {
  const uint64_t burst = machine.memory_burst_bytes;
  const uint64_t rowBytes = uint64_t(action.chip.columns) * action.elementBytes;
  Walk walk = action.chip.walk;
  if (action.pooling.stride) {
    int64_t stride = walk.bytes[0];
    walk = Walk::linear(action.pooling.outputColumns, 1, stride);
    walk.levels = 2;
    walk.counts[1] = action.pooling.outputRows;
    walk.bytes[1] = stride * action.pooling.outputWidth;
    walk.rows *= action.pooling.outputRows;
  }
  int64_t begin = 0, end = 0;
  bool any = false;
  auto close = [&] {
    if (any)
      entry.bytes += divideUp(uint64_t(end), burst) * burst -
                     uint64_t(begin) / burst * burst;
  };
  // Of a row, what lies between two borders of the largest request: the
  // smallest request that holds it.
  const uint64_t most = machine.request_bytes;
  auto request = [&](uint64_t at) {
    const uint64_t last = at + rowBytes;
    while (at < last) {
      uint64_t next = std::min(last, (at / most + 1) * most), count = 1;
      uint64_t size = burst;
      while (at / size != (next - 1) / size)
        size *= 2;
      if (size == most && next == at + most) { // and all that are as whole
        count = (last - at) / most;
        next = at + count * most;
      }
      entry.bytes += count * size;
      entry.requests += count;
      at = next;
    }
  };
  // An offset before its binding's first byte is Function's to refuse.
  walk.forEach([&](uint32_t, int64_t, int64_t byte) {
    int64_t at = std::max<int64_t>(0, int64_t(action.offset) + byte);
    if (machine.requests_in_flight)
      return request(uint64_t(at));
    if (!any || at != end) {
      close();
      begin = at;
      any = true;
    }
    end = at + int64_t(rowBytes);
  });
  close();
  uint64_t rate = machine.memory_bytes_per_1024_cycles;
  entry.busy = divideUp(entry.bytes * 1024, rate);
  // Narrow rows: as many a cycle as a bank takes.
  uint64_t blocks =
      (action.firstColumn + action.chip.columns - 1) / machine.dim + 1;
  uint64_t rows = action.chip.walk.rows * blocks;
  entry.busy =
      std::max(entry.busy, divideUp(rows, machine.bank_rows_per_cycle));
}

Timing::Entry Timing::describe(const Action &action) {
  Entry entry = {};
  entry.kind = action.kind;
  entry.queue = action.queue;
  entry.number = ordering.issue(action.queue);
  entry.funct = action.funct;
  entry.region = region;
  entry.index = action.index;
  for (uint32_t q = 0; q < queueCount; ++q)
    entry.wait[q] = q == entry.queue ? 0 : ordering.knownOf(entry.queue, q);
  const uint64_t dim = machine.dim;
  uint32_t rows = action.chip.walk.rows;

  switch (action.kind) {
  case Action::Load:
  case Action::Store: {
    if (!action.isNull)
      describeDMA(action, entry);
    else
      entry.busy = divideUp(rows, machine.bank_rows_per_cycle);
    addUse(entry, action.chip,
           double(rows) / double(std::max<uint64_t>(1, entry.busy)));
    break;
  }
  case Action::Table:
    entry.bytes = sizeof(ashlar_systolic_table_t);
    break;
  case Action::Preload:
    entry.hasMatrix = action.stationary.place.exists;
    entry.isTransposed = action.bTransposed;
    entry.busy = entry.hasMatrix ? dim : 0;
    addUse(entry, action.stationary, 1);
    break;
  case Action::Compute: {
    entry.outputStationary = action.outputStationary;
    entry.flips = action.flips;
    uint32_t height =
        action.aTransposed ? action.a.columns : action.a.walk.rows;
    uint32_t depth = action.aTransposed ? action.a.walk.rows : action.a.columns;
    const Operand &b = action.moving;
    uint32_t width = action.outputStationary
                         ? (action.bTransposed ? b.walk.rows : b.columns)
                         : action.c.columns;
    uint32_t rowsOfC = action.c.place.exists ? action.c.walk.rows : 0;
    entry.busy = action.outputStationary ? std::max(depth, machine.least_depth)
                                         : std::max(height, rowsOfC);
    entry.multiplyAdds = uint64_t(height) * depth * width;
    // Output-stationary: a result leaves.
    entry.hasMatrix = action.c.place.exists;
    addUse(entry, action.a, 1);
    addUse(entry, action.moving, 1);
    addUse(entry, action.c, 1);
    break;
  }
  default: { // Vector
    bool isSpecial = action.funct >= ASHLAR_SYSTOLIC_EXP &&
                     action.funct <= ASHLAR_SYSTOLIC_LOOKUP;
    uint64_t lanes = isSpecial ? machine.special_lanes : machine.vector_lanes;
    uint64_t elements = uint64_t(action.result.walk.rows) * dim;
    entry.busy = divideUp(elements, lanes);
    double rate = double(action.result.walk.rows) / double(entry.busy);
    addUse(entry, action.left, rate);
    addUse(entry, action.second, rate);
    addUse(entry, action.result, rate);
  }
  }
  if (machine.flags & ASHLAR_SYSTOLIC_INTERLOCKED)
    waitForRows(action, entry);
  return entry;
}

void Timing::waitForRow(Entry &entry, bool inAccumulator, int64_t row,
                        bool writes) {
  RowUse &use = rowUses[inAccumulator][size_t(row)];
  for (uint32_t q = 0; q < queueCount; ++q) {
    // A queue keeps its own order, except for what an array reads again.
    bool isOwn = q == entry.queue;
    if (!isOwn || !writes)
      entry.wait[q] = std::max(entry.wait[q], use.writer[q]);
    if (writes && !isOwn)
      entry.wait[q] = std::max(entry.wait[q], use.reader[q]);
  }
  (writes ? use.writer : use.reader)[entry.queue] = entry.number;
}

void Timing::waitForRows(const Action &action, Entry &entry) {
  auto visit = [&](const Operand &operand, bool writes, uint32_t blocks = 1,
                   uint32_t blockStride = 0, uint32_t before = 0) {
    if (!operand.place.exists)
      return;
    operand.walk.forEach([&](uint32_t, int64_t row, int64_t) {
      row += operand.place.row;
      for (uint32_t block = 0; block < blocks; ++block)
        waitForRow(entry, operand.place.inAccumulator,
                   row + int64_t(block) * blockStride, writes);
      for (uint32_t back = 1; back <= before && back <= row; ++back)
        waitForRow(entry, operand.place.inAccumulator, row - back, writes);
    });
  };
  bool isMemory = action.kind == Action::Load || action.kind == Action::Store;
  uint32_t blocks =
      isMemory
          ? (action.firstColumn + action.chip.columns - 1) / machine.dim + 1
          : 1;
  visit(action.chip, action.kind == Action::Load, blocks, action.blockStride,
        action.pixels - 1);
  visit(action.stationary, false);
  visit(action.a, false);
  visit(action.moving, false);
  visit(action.c, true);
  visit(action.left, false);
  visit(action.second, false);
  visit(action.result, true);
}

} // namespace ashlar::systolic
