// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What runs of a session came to. One thread counts at a time, any may look:
// so counting is a load and a store, never a locked instruction.

#ifndef ASHLAR_RUNTIME_LIB_RUNSTATISTICS_H
#define ASHLAR_RUNTIME_LIB_RUNSTATISTICS_H

#include "ashlar/runtime/api.h"

#include <atomic>

namespace ashlar::runtime {

class Counter {
public:
  void add(uint64_t amount) {
    value.store(value.load(std::memory_order_relaxed) + amount,
                std::memory_order_relaxed);
  }
  uint64_t get() const { return value.load(std::memory_order_relaxed); }

private:
  std::atomic<uint64_t> value{0};
};

class Histogram {
public:
  void add(uint64_t nanoseconds);
  void addTo(ashlar_histogram_t &out) const;

private:
  Counter sum;
  Counter buckets[ASHLAR_HISTOGRAM_BUCKETS];
};

struct RunStatistics {
  Counter runs, failures, cancelled, copies, copiedBytes;
  Histogram waiting, running;

  void addTo(ashlar_stats_t &out) const;
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_RUNSTATISTICS_H
