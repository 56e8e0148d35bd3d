// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A counter that threads wait on: a short spin first, since the next command
// mostly comes within microseconds, then sleep in the kernel.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_CPU_SIGNAL_H
#define ASHLAR_RUNTIME_LIB_DEVICES_CPU_SIGNAL_H

#include <atomic>
#include <cstdint>

namespace ashlar::runtime {

/// Any thread may call any of it.
class Signal {
public:
  /// Sees what was written before the last advance.
  uint32_t value() const { return counter.load(std::memory_order_acquire); }
  /// Adds one and wakes whoever waits. What was written before is visible to
  /// those who see the new value.
  void advance();
  /// Returns once the value differs from `old`.
  void waitWhile(uint32_t old, unsigned spins);

  /// Whether some are past their spin.
  bool hasSleepers() const {
    return sleepers.load(std::memory_order_relaxed) != 0;
  }

private:
  alignas(64) std::atomic<uint32_t> counter{0}; // the kernel's futex
  std::atomic<uint32_t> sleepers{0};            // in the kernel, or about to be
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_DEVICES_CPU_SIGNAL_H
