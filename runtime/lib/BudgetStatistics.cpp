// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What runs of a budget's sessions came to.

#include "Budget.h"

#include <algorithm>

namespace ashlar::runtime {

void Budget::watch(const RunStatistics &of) {
  std::lock_guard<std::mutex> guard(lock());
  watched.push_back(&of);
}

void Budget::forget(const RunStatistics &of) {
  std::lock_guard<std::mutex> guard(lock());
  auto found = std::find(watched.begin(), watched.end(), &of);
  if (found == watched.end())
    return;
  watched.erase(found);
  of.addTo(ended);
}

void Budget::countFallbacks(uint64_t count) {
  std::lock_guard<std::mutex> guard(lock());
  ended.fallbacks += count;
}

void Budget::countSaved(uint64_t bytes) noexcept {
  std::lock_guard<std::mutex> guard(lock());
  for (Budget *each = this; each; each = each->parent.get())
    each->saved += bytes;
}

ashlar_stats_t Budget::ownStats() const {
  ashlar_stats_t sum = ended;
  for (const RunStatistics *each : watched)
    each->addTo(sum);
  return sum;
}

static void addTimes(const ashlar_histogram_t &of, ashlar_histogram_t &out) {
  out.count += of.count;
  out.sum_ns += of.sum_ns;
  for (unsigned i = 0; i < ASHLAR_HISTOGRAM_BUCKETS; ++i)
    out.buckets[i] += of.buckets[i];
}

void Budget::addStats(ashlar_stats_t &out) const {
  ashlar_stats_t own = ownStats();
  out.runs += own.runs;
  out.failures += own.failures;
  out.cancelled += own.cancelled;
  out.copies += own.copies;
  out.copied_bytes += own.copied_bytes;
  out.fallbacks += own.fallbacks;
  out.refusals += refusals;
  addTimes(own.waiting, out.waiting);
  addTimes(own.running, out.running);
  for (const Budget *child : children)
    child->addStats(out);
}

void Budget::query(ashlar_stats_t &out) const {
  std::lock_guard<std::mutex> guard(lock());
  addStats(out);
}

Gate::Tenant &Budget::tenant() {
  Budget *each = this;
  while (each->parent && each->parent->parent)
    each = each->parent.get();
  return each->ownTenant;
}

} // namespace ashlar::runtime
