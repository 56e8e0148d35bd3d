// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a runtime reads the time: the embedder's clock, or the system's.

#ifndef ASHLAR_RUNTIME_LIB_CLOCK_H
#define ASHLAR_RUNTIME_LIB_CLOCK_H

#include "ashlar/runtime/api.h"

namespace ashlar::runtime {

/// Nanoseconds of the monotonic clock.
uint64_t monotonicTime();

/// A copy is the same clock. Any thread.
class Clock {
public:
  Clock() = default;
  /// Its function is not null.
  explicit Clock(const ashlar_clock_t &own) : own(own) {}

  /// Nanoseconds; of which beginning, only the clock knows.
  uint64_t now() const {
    return own.now_ns ? own.now_ns(own.context) : monotonicTime();
  }
  /// Others may stand still: they are asked, never slept by.
  bool isSystems() const { return !own.now_ns; }

private:
  ashlar_clock_t own = {}; // without a function, the system's
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_CLOCK_H
