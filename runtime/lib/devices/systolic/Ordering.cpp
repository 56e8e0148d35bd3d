// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Ordering.h"

#include <algorithm>

namespace ashlar::systolic {

std::string queueName(uint32_t queue) {
  static const char *const names[] = {"load", "store", "vector"};
  return queue < ASHLAR_SYSTOLIC_EXECUTE
             ? names[queue]
             : "execute " + std::to_string(queue - ASHLAR_SYSTOLIC_EXECUTE);
}

uint32_t Ordering::issue(uint32_t queue) {
  std::copy_n(known[queue], queueCount, awaited[queue]);
  return ++issued[queue];
}

void Ordering::sync(uint32_t from, uint32_t to) {
  // What the commands waited for has ended as well.
  uint32_t told[queueCount] = {};
  for (uint32_t p = 0; p < queueCount; ++p) {
    if (!(from >> p & 1))
      continue;
    told[p] = std::max(told[p], issued[p]);
    for (uint32_t q = 0; q < queueCount; ++q)
      told[q] = std::max(told[q], awaited[p][q]);
  }
  for (uint32_t c = 0; c < queueCount; ++c)
    if (to >> c & 1)
      for (uint32_t q = 0; q < queueCount; ++q)
        known[c][q] = std::max(known[c][q], told[q]);
}

bool MemoryOrder::overlap(const Access &a, const Access &b) {
  if (a.lowest >= b.end || b.lowest >= a.end)
    return false;
  auto rows = [](const Access &access) {
    Vector<std::pair<const uint8_t *, const uint8_t *>> all;
    all.reserve(access.walk.rows);
    access.walk.forEach([&](uint32_t, int64_t, int64_t byte) {
      all.push_back(
          {access.begin + byte, access.begin + byte + access.rowBytes});
    });
    std::sort(all.begin(), all.end());
    return all;
  };
  auto first = rows(a), second = rows(b);
  for (size_t i = 0, j = 0; i < first.size() && j < second.size();) {
    if (first[i].second <= second[j].first)
      ++i;
    else if (second[j].second <= first[i].first)
      ++j;
    else
      return true;
  }
  return false;
}

const MemoryOrder::Access *MemoryOrder::add(const Access &access,
                                            const Ordering &ordering) {
  for (const Access &before : accesses) {
    bool writes = before.queue == ASHLAR_SYSTOLIC_STORE ||
                  access.queue == ASHLAR_SYSTOLIC_STORE;
    if (writes && !ordering.knows(access.queue, before.queue, before.number) &&
        overlap(before, access)) {
      conflict = before;
      return &conflict;
    }
  }
  accesses.push_back(access);
  return nullptr;
}

void MemoryOrder::forget(const Ordering &ordering) {
  auto isKnown = [&](const Access &access) {
    for (uint32_t queue :
         {ASHLAR_SYSTOLIC_LOAD, ASHLAR_SYSTOLIC_STORE, ASHLAR_SYSTOLIC_VECTOR})
      if (!ordering.knows(queue, access.queue, access.number))
        return false;
    return true;
  };
  accesses.erase(std::remove_if(accesses.begin(), accesses.end(), isKnown),
                 accesses.end());
}

} // namespace ashlar::systolic
