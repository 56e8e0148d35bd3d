// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a call asks of a device: addresses instead of bindings, numbers instead
// of size expressions. Built when a call is bound, then run many times.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_COMMANDLIST_H
#define ASHLAR_RUNTIME_LIB_DEVICES_COMMANDLIST_H

#include "../Clock.h"
#include "../OwnMemory.h"

#include <atomic>
#include <cstdint>
#include <memory>

namespace ashlar::runtime {

class Trace;

/// A place in a device's memory: a pointer, or a handle that only the device
/// can read, and how many bytes behind it. Nobody but the device follows it,
/// unless the device says that its memory can be seen by the host.
struct DeviceAddress {
  void *base = nullptr; // a pointer or a handle, as the device has it
  uint64_t offset = 0;  // bytes

  /// Where bases are pointers.
  void *pointer() const {
    return base ? static_cast<char *>(base) + offset : nullptr;
  }
  DeviceAddress operator+(uint64_t bytes) const {
    return {base, offset + bytes};
  }
  bool operator==(const DeviceAddress &other) const {
    return base == other.base && offset == other.offset;
  }
  bool operator!=(const DeviceAddress &other) const {
    return !(*this == other);
  }
};

/// One step of a run. Which fields count, its kind says.
struct Command {
  enum Kind : uint32_t {
    Dispatch,
    Copy, // within one device
    Barrier,
    // The session's own: a copy from device `target` to `device`; and `device`
    // goes on when what `target` has been given so far is finished.
    Transfer,
    Order,
    // What decides where to go on; Sequencer.h follows it. Blocks are laid out
    // one after the other.
    Check,     // the call fails unless the byte is set
    Branch,    // goes to `target` unless the byte is set
    Jump,      // goes to `target`
    LoopEnter, // counter `loop` starts at 0
    LoopTest,  // goes to `target` when the byte is not set or the counter has
               // reached `extent`; a negative extent is no limit
    LoopNext   // counts, then goes to `target`
  };
  static constexpr uint32_t none = ~uint32_t(0); // of a number in a list

  Kind kind;
  uint32_t firstPointer;   // into CommandList::pointers; a copy has two, source
                           // and target; what reads a byte has one, or `none`
  uint32_t firstParameter; // into CommandList::parameters
  uint32_t target;         // into CommandList::commands, or a device
  uint32_t loop;           // whose counter; of a copy that moves, else `none`
  uint32_t pointers;       // of a dispatch: how many
  uint32_t device;         // of the session's: whose work it is
  uint32_t launch;         // of a dispatch: into CommandList::launches, or none
  const void *kernel;      // the device's own handle
  int64_t extent;          // groups of a dispatch, bytes of a copy, iterations
  int64_t strides[2];      // bytes by which a copy moves in each iteration
  uint64_t cycles;         // of a dispatch: the least that one worker needs, at
                           // the largest sizes; 0: not known

  bool isControl() const { return kind >= Check; }
  /// What a device can be given.
  bool isSubmitted() const { return kind <= Barrier; }
};

/// How deep blocks nest at most, the outermost not counted.
inline constexpr uint32_t maximumNesting = 16;

/// All commands of a call, resolved, and what they refer to by number. One
/// thread at a time changes it; devices only read it.
struct CommandList {
  /// What may be touched behind a pointer.
  struct Extent {
    uint64_t bytes;
    bool isWritten;
  };
  /// How a kernel with workgroups is launched.
  struct Launch {
    int64_t grid[3];    // workgroups; their product is the command's extent
    uint32_t firstBlob; // into blobs: one for each of its tensor maps, in order
  };
  /// What a device made of a tensor map.
  struct alignas(64) Blob {
    ASHLAR_OWN_NEW
    unsigned char bytes[128];
  };
  Vector<Command> commands;        // in order
  Vector<DeviceAddress> addresses; // of bindings and copies
  Vector<void *> pointers;         // the same, where bases are pointers
  Vector<Extent> extents;          // one per address
  Vector<int64_t> parameters;      // numbers of dispatches
  Vector<Launch> launches;         // of dispatches with workgroups
  std::unique_ptr<Blob[]> blobs;   // encoded before the first run
  // Some command has more than one group; otherwise one worker does it all.
  bool parallel = false;
  // Some command is control flow.
  bool structured = false;
  // Some command is another device's than the first.
  bool isShared = false;
  // Some command is an order: barriers are then each device's own.
  bool isOrdered = false;
  // For people, one per command; only filled while a trace is on.
  Vector<const char *> labels;
};

/// Commands of a list, the last one excluded.
struct CommandRange {
  size_t begin, end;
};

/// Of the loops around a command, by depth: a loop sets its own when it begins.
struct LoopCounters {
  int64_t values[maximumNesting];

  /// Bytes by which side i of a copy has moved on.
  int64_t moved(const Command &copy, unsigned i) const {
    return copy.loop == Command::none ? 0 : values[copy.loop] * copy.strides[i];
  }
};

/// What a run and its observers tell each other while it goes on.
class RunControl {
public:
  static constexpr uint64_t none = ~uint64_t(0); // of `failure`

  /// The first failure wins; later commands are skipped. What a device knows
  /// beyond the code, `why` says.
  void fail(uint32_t command, int32_t code, String why = {}) {
    uint64_t expected = none;
    if (failure.compare_exchange_strong(expected, uint64_t(command) << 32 |
                                                      uint32_t(code)))
      reason = std::move(why);
    stop.store(true, std::memory_order_relaxed);
  }
  /// Any thread. Work under way ends first.
  void cancel() {
    cancelled.store(true, std::memory_order_relaxed);
    stop.store(true, std::memory_order_relaxed);
  }
  /// Asked before each piece of work; past the deadline there is none.
  bool stopped() const {
    return stop.load(std::memory_order_relaxed) || (deadline && isLate());
  }
  /// After the run: whether anything went wrong; it failed, was cancelled or
  /// late.
  bool wasStopped() const { return stop.load(std::memory_order_relaxed); }
  bool wasLate() const { return late.load(std::memory_order_relaxed); }
  bool wasCancelled() const {
    return cancelled.load(std::memory_order_relaxed);
  }
  /// After the run: which command failed first, and with which code.
  bool failed(uint32_t &command, int32_t &code) const {
    uint64_t packed = failure.load();
    command = uint32_t(packed >> 32);
    code = int32_t(uint32_t(packed));
    return packed != none;
  }

  /// After the run.
  const String &failureReason() const { return reason; }

  /// Of a device that is lost: its first and last dispatch of this run that
  /// nobody knows to have ended.
  void suspect(uint32_t first, uint32_t last) {
    suspects.store(uint64_t(first) << 32 | last);
  }
  /// Whether there are such.
  bool suspected(uint32_t &first, uint32_t &last) const {
    uint64_t packed = suspects.load();
    first = uint32_t(packed >> 32);
    last = uint32_t(packed);
    return packed != none;
  }

  /// For another run. Who cancels meanwhile may come too late.
  void reset(const Clock &clock, uint64_t newDeadline);
  /// Of the clock; 0: none.
  uint64_t deadlineTime() const { return deadline; }

  /// Of times and of the deadline.
  const Clock &clock() const { return time; }

  std::shared_ptr<Trace> trace; // null: nothing is recorded

private:
  /// Looks at the clock; from the deadline on the run is stopped.
  bool isLate() const;

  Clock time;                            // the runtime's
  uint64_t deadline = 0;                 // of the clock; 0: none
  mutable std::atomic<bool> stop{false}; // nothing more is begun
  mutable std::atomic<bool> late{false}; // the deadline was why
  std::atomic<bool> cancelled{false};    // somebody's call was why
  std::atomic<uint64_t> failure{none};   // command << 32 | code; none
  std::atomic<uint64_t> suspects{none};  // first << 32 | last; none
  String reason;                         // the device's, of the first failure
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_DEVICES_COMMANDLIST_H
