// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What goes to memory and comes from it.

#include "Function.h"

#include "Inputs.h"

#include <algorithm>

namespace ashlar::systolic {

static bool isInterlocked(const Machine &machine) {
  return machine.flags & ASHLAR_SYSTOLIC_INTERLOCKED;
}

Function::Function(const Machine &machine)
    : machine(machine), isBF16(machine.input == ASHLAR_SYSTOLIC_BF16),
      scratchpad("scratchpad", machine.scratchpad_rows, machine.dim,
                 isBF16 ? 2 : 1, isInterlocked(machine)),
      accumulator("accumulator", machine.accumulator_rows, machine.dim, 4,
                  isInterlocked(machine)),
      arrays(std::make_unique<Arrays>()) {}

Function::~Function() = default;

void Function::start(Vector<Binding> given) {
  bindings = std::move(given);
  scratchpad.clear();
  accumulator.clear();
  arrays = std::make_unique<Arrays>();
  ordering = Ordering();
  memoryOrder = MemoryOrder();
  std::fill(std::begin(hasTable), std::end(hasTable), false);
  message.clear();
}

bool Function::fail(const Action &action, const std::string &why) {
  message = "instruction " + std::to_string(action.index) + " (" +
            nameOf(action.funct) + "): " + why;
  return false;
}

bool Function::execute(const Action &action) {
  if (action.kind >= Action::Load && action.kind <= Action::Table)
    number = ordering.issue(action.queue);
  switch (action.kind) {
  case Action::Load:
    return load(action);
  case Action::Store:
    return store(action);
  case Action::Preload:
    return isBF16 ? preload<BF16>(action) : preload<S8>(action);
  case Action::Compute:
    return isBF16 ? compute<BF16>(action) : compute<S8>(action);
  case Action::Vector:
    return vector(action);
  case Action::Table:
    return loadTable(action);
  case Action::Sync:
    ordering.sync(action.from, action.to);
    memoryOrder.forget(ordering);
    return true;
  default:
    return true;
  }
}

/// Checks all bytes that the rows touch, and notes them.
bool Function::memoryRange(const Action &action, const Walk &walk,
                           uint64_t rowBytes, uint8_t *&begin) {
  const Binding &binding = bindings[action.binding];
  int64_t least, greatest;
  walk.byteBounds(least, greatest);
  // Offsets have 48 bits and the walk's sums 58, so nothing overflows.
  int64_t first = int64_t(action.offset) + least;
  int64_t end = int64_t(action.offset) + greatest + int64_t(rowBytes);
  if (first < 0 || uint64_t(end) > binding.bytes)
    return fail(action, "memory: bytes " + std::to_string(first) + " to " +
                            std::to_string(end) + " are not all among the " +
                            std::to_string(binding.bytes) + " of binding " +
                            std::to_string(action.binding));
  bool writes = action.kind == Action::Store;
  if (writes && !binding.isWritable)
    return fail(action, "memory: binding " + std::to_string(action.binding) +
                            " is not to be written");
  auto *data = static_cast<uint8_t *>(binding.data);
  begin = data + action.offset;
  const auto *conflict = memoryOrder.add(
      {action.queue, number, begin, rowBytes, walk, data + first, data + end},
      ordering);
  if (conflict)
    return fail(action, "memory: these bytes may still be in use by the " +
                            queueName(conflict->queue) +
                            " queue: a sync is missing");
  return true;
}

bool Function::load(const Action &action) {
  uint8_t *memory = nullptr;
  uint64_t rowBytes = uint64_t(action.chip.columns) * action.elementBytes;
  if (!action.isNull &&
      !memoryRange(action, action.chip.walk, rowBytes, memory))
    return false;
  return isBF16 ? loadRows<BF16>(action, memory) : loadRows<S8>(action, memory);
}

/// One element on its way into the accumulator.
template <typename Input>
static typename Input::Sum wideElement(const uint8_t *from, bool isWide,
                                       float scale) {
  using Stored = typename Input::Stored;
  if (isWide)
    return loadAs<typename Input::Sum>(from);
  return Input::widen(Input::scaleInput(loadAs<Stored>(from), scale));
}

template <typename Input>
bool Function::loadRows(const Action &action, const uint8_t *memory) {
  using Stored = typename Input::Stored;
  using Sum = typename Input::Sum;
  const Place &place = action.chip.place;
  const uint32_t dim = machine.dim, columns = action.chip.columns;
  const bool isWide = action.elementBytes == 4;
  RowMemory &chip = memoryOf(place);
  std::string why;

  // Columns [from, from + count) of a row of memory to a row's `first` on.
  auto move = [&](int64_t row, uint32_t first, uint32_t count,
                  const uint8_t *from) {
    if (place.inAccumulator && place.accumulates)
      why = chip.read(uint32_t(row), first, first + count, action.queue, number,
                      ordering);
    if (why.empty())
      why = chip.write(uint32_t(row), first, first + count, action.queue,
                       number, ordering);
    if (!why.empty())
      return;
    uint8_t *to = chip.row(uint32_t(row));
    if (!place.inAccumulator) {
      if (!from) {
        std::memset(to + first * sizeof(Stored), 0, count * sizeof(Stored));
      } else if (action.scale == 1) {
        std::memcpy(to + first * sizeof(Stored), from, count * sizeof(Stored));
      } else {
        for (uint32_t j = 0; j < count; ++j)
          storeAs(to + (first + j) * sizeof(Stored),
                  Input::scaleInput(loadAs<Stored>(from + j * sizeof(Stored)),
                                    action.scale));
      }
      return;
    }
    for (uint32_t j = 0; j < count; ++j) {
      Sum value = from ? wideElement<Input>(from + j * action.elementBytes,
                                            isWide, action.scale)
                       : Sum(0);
      uint8_t *target = to + (first + j) * sizeof(Sum);
      storeAs(target, place.accumulates ? Input::add(loadAs<Sum>(target), value)
                                        : value);
    }
  };

  action.chip.walk.forEach([&](uint32_t, int64_t row, int64_t byte) {
    const uint8_t *from = memory ? memory + byte : nullptr;
    row += place.row;
    if (action.pixels > 1) {
      // A pixel also stands beside those before it, in their rows.
      for (uint32_t pixel = 0; pixel < action.pixels && pixel <= row; ++pixel)
        if (why.empty())
          move(row - pixel, action.firstColumn + pixel * columns, columns,
               from);
      return;
    }
    for (uint32_t done = 0; done < columns && why.empty();) {
      uint32_t column = (action.firstColumn + done) % dim;
      uint32_t block = (action.firstColumn + done) / dim;
      uint32_t count = std::min(dim - column, columns - done);
      move(row + int64_t(block) * action.blockStride, column, count,
           from ? from + done * action.elementBytes : nullptr);
      done += count;
    }
  });
  return why.empty() || fail(action, why);
}

/// One element on its way out of a row, at its width.
template <typename Input>
static typename Input::Stored narrowElement(const uint8_t *row, uint32_t column,
                                            const Action &action) {
  if (!action.chip.place.inAccumulator)
    return loadAs<typename Input::Stored>(
        row + column * sizeof(typename Input::Stored));
  return Input::scaled(loadAs<typename Input::Sum>(row + column * 4),
                       action.scale, action.relu);
}

bool Function::store(const Action &action) {
  uint8_t *memory = nullptr;
  uint64_t rowBytes = uint64_t(action.chip.columns) * action.elementBytes;
  Walk walk = action.chip.walk;
  const Pooling &pooling = action.pooling;
  if (pooling.stride) {
    // Rows of memory are those of the pooled image.
    int64_t stride = walk.bytes[0];
    walk.levels = 2;
    walk.counts[0] = pooling.outputColumns;
    walk.counts[1] = pooling.outputRows;
    walk.bytes[1] = stride * pooling.outputWidth;
    walk.rows = pooling.outputColumns * pooling.outputRows;
  }
  if (!memoryRange(action, walk, rowBytes, memory))
    return false;
  if (pooling.stride)
    return isBF16 ? pool<BF16>(action, memory) : pool<S8>(action, memory);
  return isBF16 ? storeRows<BF16>(action, memory)
                : storeRows<S8>(action, memory);
}

template <typename Input>
bool Function::storeRows(const Action &action, uint8_t *memory) {
  const Place &place = action.chip.place;
  const uint32_t dim = machine.dim, columns = action.chip.columns;
  const bool isWhole =
      !place.inAccumulator || place.fullWidth; // goes out as it lies
  RowMemory &chip = memoryOf(place);
  std::string why;
  action.chip.walk.forEach([&](uint32_t, int64_t row, int64_t byte) {
    for (uint32_t done = 0; done < columns && why.empty();) {
      uint32_t column = (action.firstColumn + done) % dim;
      uint32_t block = (action.firstColumn + done) / dim;
      uint32_t count = std::min(dim - column, columns - done);
      auto at = uint32_t(row + place.row + int64_t(block) * action.blockStride);
      why =
          chip.read(at, column, column + count, action.queue, number, ordering);
      const uint8_t *from = chip.row(at);
      uint8_t *to = memory + byte + done * action.elementBytes;
      if (!why.empty())
        return;
      if (isWhole)
        std::memcpy(to, from + column * action.elementBytes,
                    count * action.elementBytes);
      else
        for (uint32_t j = 0; j < count; ++j)
          storeAs(to + j * action.elementBytes,
                  narrowElement<Input>(from, column + j, action));
      done += count;
    }
  });
  return why.empty() || fail(action, why);
}

/// The greatest of each window; what lies outside of the image is 0.
template <typename Input>
bool Function::pool(const Action &action, uint8_t *memory) {
  using Stored = typename Input::Stored;
  const Pooling &p = action.pooling;
  RowMemory &chip = memoryOf(action.chip.place);
  Vector<Stored> greatest(action.chip.columns);
  for (uint32_t y = 0; y < p.outputRows; ++y)
    for (uint32_t x = 0; x < p.outputColumns; ++x) {
      std::fill(greatest.begin(), greatest.end(), Input::least());
      auto take = [&](uint32_t j, Stored value) {
        if (Input::isLess(greatest[j], value))
          greatest[j] = value;
      };
      for (uint32_t window = 0; window < p.size * p.size; ++window) {
        int64_t row = int64_t(y) * p.stride + window / p.size - p.upperPadding;
        int64_t column =
            int64_t(x) * p.stride + window % p.size - p.leftPadding;
        bool isInside =
            row >= 0 && column >= 0 && row < p.rows && column < p.columns;
        auto at = uint32_t(action.chip.place.row + row * p.columns + column);
        if (isInside) {
          std::string why = chip.read(at, 0, action.chip.columns, action.queue,
                                      number, ordering);
          if (!why.empty())
            return fail(action, why);
        }
        for (uint32_t j = 0; j < action.chip.columns; ++j)
          take(j, isInside ? narrowElement<Input>(chip.row(at), j, action)
                           : Stored(0));
      }
      uint8_t *to =
          memory + (int64_t(y) * p.outputWidth + x) * action.chip.walk.bytes[0];
      std::memcpy(to, greatest.data(), greatest.size() * sizeof(Stored));
    }
  return true;
}

bool Function::loadTable(const Action &action) {
  uint8_t *memory = nullptr;
  if (!memoryRange(action, Walk::linear(1, 0), sizeof(ashlar_systolic_table_t),
                   memory))
    return false;
  std::memcpy(&tables[action.table], memory, sizeof(ashlar_systolic_table_t));
  hasTable[action.table] = true;
  return true;
}

} // namespace ashlar::systolic
