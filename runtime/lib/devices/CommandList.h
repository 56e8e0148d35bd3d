// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a call asks of a device: addresses instead of bindings, numbers instead
// of size expressions. Built when a call is bound, then run many times.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_COMMANDLIST_H
#define ASHLAR_RUNTIME_LIB_DEVICES_COMMANDLIST_H

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace ashlar::runtime {

class Trace;

struct Command {
  enum Kind : uint32_t { Dispatch, Copy, Barrier };
  Kind kind;
  uint32_t firstPointer;   // into CommandList::pointers; a copy has two,
                           // source and target
  uint32_t firstParameter; // into CommandList::parameters
  const void *kernel;      // the device's own handle
  int64_t extent;          // groups of a dispatch, bytes of a copy
};

struct CommandList {
  std::vector<Command> commands;
  std::vector<void *> pointers;
  std::vector<int64_t> parameters;
  // Some command has more than one group; otherwise one worker does it all.
  bool parallel = false;
  // For people, one per command; only filled while a trace is on.
  std::vector<const char *> labels;
};

/// What a run and its observers tell each other while it goes on.
class RunControl {
public:
  static constexpr uint64_t none = ~uint64_t(0);

  /// The first failure wins; later commands are skipped.
  void fail(uint32_t command, int32_t code) {
    uint64_t expected = none;
    failure.compare_exchange_strong(expected,
                                    uint64_t(command) << 32 | uint32_t(code));
    stop.store(true, std::memory_order_relaxed);
  }
  void cancel() {
    cancelled.store(true, std::memory_order_relaxed);
    stop.store(true, std::memory_order_relaxed);
  }
  bool stopped() const { return stop.load(std::memory_order_relaxed); }
  bool wasCancelled() const {
    return cancelled.load(std::memory_order_relaxed);
  }
  bool failed(uint32_t &command, int32_t &code) const {
    uint64_t packed = failure.load();
    command = uint32_t(packed >> 32);
    code = int32_t(uint32_t(packed));
    return packed != none;
  }

  std::shared_ptr<Trace> trace; // null: nothing is recorded

private:
  std::atomic<bool> stop{false};
  std::atomic<bool> cancelled{false};
  std::atomic<uint64_t> failure{none};
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_DEVICES_COMMANDLIST_H
