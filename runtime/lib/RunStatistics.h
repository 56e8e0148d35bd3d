// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What runs of a session came to. One thread counts at a time, any may look:
// so counting is a load and a store, never a locked instruction.

#ifndef ASHLAR_RUNTIME_LIB_RUNSTATISTICS_H
#define ASHLAR_RUNTIME_LIB_RUNSTATISTICS_H

#include "ashlar/runtime/api.h"

#include <atomic>

namespace ashlar::runtime {

/// A sum.
class Counter {
public:
  /// One thread at a time.
  void add(uint64_t amount) {
    value.store(value.load(std::memory_order_relaxed) + amount,
                std::memory_order_relaxed);
  }
  /// Any thread; perhaps without the last.
  uint64_t get() const { return value.load(std::memory_order_relaxed); }

private:
  std::atomic<uint64_t> value{0};
};

/// How often runs took how long, by powers of two.
class Histogram {
public:
  /// One thread at a time.
  void add(uint64_t nanoseconds);
  /// Any thread.
  void addTo(ashlar_histogram_t &out) const;

private:
  Counter sum;                               // nanoseconds
  Counter buckets[ASHLAR_HISTOGRAM_BUCKETS]; // how many took so long
};

/// Of a session, which counts; its budget looks.
struct RunStatistics {
  Counter runs, failures, cancelled, copies, copiedBytes;
  Histogram waiting, running; // before a run, and in it

  /// Any thread.
  void addTo(ashlar_stats_t &out) const;
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_RUNSTATISTICS_H
