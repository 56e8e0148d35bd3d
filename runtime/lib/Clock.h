// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a runtime reads the time: the embedder's clock, or the system's.

#ifndef ASHLAR_RUNTIME_LIB_CLOCK_H
#define ASHLAR_RUNTIME_LIB_CLOCK_H

#include "ashlar/runtime/api.h"

namespace ashlar::runtime {

/// Nanoseconds of the monotonic clock.
uint64_t monotonicTime();

class Clock {
public:
  Clock() = default;
  /// Its function is not null.
  explicit Clock(const ashlar_clock_t &own) : own(own) {}

  uint64_t now() const {
    return own.now_ns ? own.now_ns(own.context) : monotonicTime();
  }
  bool isSystems() const { return !own.now_ns; }

private:
  ashlar_clock_t own = {};
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_CLOCK_H
