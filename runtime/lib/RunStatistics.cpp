// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RunStatistics.h"

namespace ashlar::runtime {

void Histogram::add(uint64_t nanoseconds) {
  // Bucket i ends at 2^(10 + i).
  unsigned bucket = 0;
  if (nanoseconds > 1024)
    bucket = 54 - unsigned(__builtin_clzll(nanoseconds - 1));
  if (bucket >= ASHLAR_HISTOGRAM_BUCKETS)
    bucket = ASHLAR_HISTOGRAM_BUCKETS - 1;
  buckets[bucket].add(1);
  sum.add(nanoseconds);
}

void Histogram::addTo(ashlar_histogram_t &out) const {
  for (unsigned i = 0; i < ASHLAR_HISTOGRAM_BUCKETS; ++i) {
    out.buckets[i] += buckets[i].get();
    out.count += buckets[i].get();
  }
  out.sum_ns += sum.get();
}

void RunStatistics::addTo(ashlar_stats_t &out) const {
  out.runs += runs.get();
  out.failures += failures.get();
  out.cancelled += cancelled.get();
  out.copies += copies.get();
  out.copied_bytes += copiedBytes.get();
  waiting.addTo(out.waiting);
  running.addTo(out.running);
}

} // namespace ashlar::runtime
