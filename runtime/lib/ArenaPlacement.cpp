// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ArenaPlacement.h"

#include <algorithm>

namespace ashlar::runtime {

static bool meet(const ArenaValue &x, const ArenaValue &y) {
  return x.first <= y.last && y.first <= x.last;
}

/// Values in `order` one after another, each in the lowest place that is free
/// while it lives; where no gap is looked for, above all that lives beside it.
static uint64_t place(const Vector<ArenaValue *> &order, bool fillGaps) {
  // What has a place, lowest first.
  Vector<const ArenaValue *> placed;
  placed.reserve(order.size());
  uint64_t end = 0;
  for (ArenaValue *value : order) {
    uint64_t at = 0;
    for (const ArenaValue *other : placed) {
      if (!meet(*value, *other))
        continue;
      if (fillGaps && at + value->size <= other->offset)
        break;
      at = std::max(at, other->offset + other->size);
    }
    value->offset = at;
    end = std::max(end, at + value->size);
    auto after =
        fillGaps
            ? std::upper_bound(placed.begin(), placed.end(), at,
                               [](uint64_t offset, const ArenaValue *other) {
                                 return offset < other->offset;
                               })
            : placed.end();
    placed.insert(after, value);
  }
  return end;
}

uint64_t placeInArena(Vector<ArenaValue> &values) {
  Vector<ArenaValue *> order;
  order.reserve(values.size());
  for (ArenaValue &value : values)
    order.push_back(&value);
  // Equal ones as they came, without the memory that std::stable_sort takes.
  // One function for both orders: sorting is a good deal of code.
  bool bySize = false;
  auto comesFirst = [&bySize](const ArenaValue *x, const ArenaValue *y) {
    if (bySize && x->size != y->size)
      return x->size > y->size;
    return x->planned != y->planned ? x->planned < y->planned : x < y;
  };
  std::sort(order.begin(), order.end(), comesFirst);
  uint64_t kept = place(order, false);
  Vector<uint64_t> offsets;
  offsets.reserve(values.size());
  for (const ArenaValue &value : values)
    offsets.push_back(value.offset);
  bySize = true;
  std::sort(order.begin(), order.end(), comesFirst);
  uint64_t greedy = place(order, true);
  if (greedy < kept)
    return greedy;
  for (size_t i = 0; i != values.size(); ++i)
    values[i].offset = offsets[i];
  return kept;
}

bool takePlan(Vector<ArenaValue> &values) {
  for (ArenaValue &x : values) {
    x.offset = x.planned;
    for (const ArenaValue *y = values.data(); y != &x; ++y)
      if (x.first <= y->last && y->first <= x.last &&
          x.offset < y->offset + y->size && y->offset < x.offset + x.size)
        return false;
  }
  return true;
}

} // namespace ashlar::runtime
