// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The half of the simulator that counts: when each action would start and end
// on the machine. It sees no data, so that a stream is timed without running
// it. docs/systolic.md, "Cycles", is what it implements.
//
// Actions come in the order of issue. Each has a queue, a number in it, and for
// every queue the number of commands that must have ended before it starts:
// from syncs, and on an interlocked machine from the rows it touches. Whenever
// the issuer cannot go on, the command that can start first does.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_SYSTOLIC_TIMING_H
#define ASHLAR_RUNTIME_LIB_DEVICES_SYSTOLIC_TIMING_H

#include "Intervals.h"
#include "Ordering.h"

#include <functional>

namespace ashlar::systolic {

/// What came of a region's commands.
struct RegionTime {
  uint64_t commands = 0;                   // that were issued
  uint64_t first = ~uint64_t(0), last = 0; // cycles; last is exclusive
  uint64_t arrayBusy = 0;    // cycles in which an array took operands, summed
  uint64_t multiplyAdds = 0; // of the arrays, padding left out
  uint64_t vectorBusy = 0;   // cycles of the vector unit
  uint64_t loadBytes = 0, storeBytes = 0; // over the port, in whole bursts
  // Cycles times the requests that were in flight, where those are limited.
  uint64_t loadFlight = 0, storeFlight = 0;
  Intervals work; // of each command, until its result is there
};

/// One command on its engine, for a picture.
struct Slice {
  uint64_t begin, end;           // while its engine is busy
  uint64_t index;                // of the command
  uint32_t queue, funct, region; // of the command
};

/// Of one kernel, once. One thread.
class Timing {
public:
  ASHLAR_OWN_NEW
  Timing(const Machine &machine, size_t regions);

  /// In the order of issue.
  void add(const Action &action);
  /// Runs what is left. Afterwards the figures are final.
  void finish();

  /// Until the last queue is idle.
  uint64_t cycles() const { return lastEnd; }
  /// One for each of the kernel's regions; the last one is for what came
  /// before any region.
  const Vector<RegionTime> &regions() const { return times; }

  /// Called for each command, in the order in which they start.
  std::function<void(const Slice &)> observe;

private:
  /// Rows of one memory, as banks: how often each cycle on average.
  struct BankUse {
    bool inAccumulator;        // else of the scratchpad
    uint32_t firstBank, banks; // that it goes through
    double rowsPerCycle;       // on average
  };
  /// A command that waits, with what it costs.
  struct Entry {
    Action::Kind kind;
    uint32_t queue, number, funct, region;
    uint64_t index;      // of the command
    uint64_t issued = 0; // when it came to its queue
    /// Commands of each queue that must have ended.
    uint32_t wait[queueCount] = {};
    uint64_t busy = 0;         // cycles of the engine
    uint64_t bytes = 0;        // over the port
    uint64_t requests = 0;     // that these are, where they are limited
    uint64_t multiplyAdds = 0; // of an array, padding left out
    bool outputStationary = false, flips = false, hasMatrix = false;
    bool isTransposed = false;
    unsigned uses = 0; // of banks
    BankUse use[3];
  };
  /// Commands that wait, and the engine that they wait for.
  struct Queue {
    runtime::Deque<Entry> waiting; // in order, at most queue_depth
    Vector<uint64_t> ends;         // of all simulated, never decreasing
    uint64_t roomAt = 0;           // when the last of the waiting has left
    uint64_t free = 0;             // when the next one may start
    // When each of the requests in flight will have been answered, in turn.
    Vector<uint64_t> answers;
    size_t oldest = 0; // of the answers
    // What its engine does: preloads beside everything else.
    struct Running {
      uint64_t begin = 0, end = 0;
      unsigned uses = 0;
      BankUse use[3];
    } running[2];
  };
  /// When parts of an array are free, in cycles.
  struct Array {
    uint64_t weightPortFree = 0, weightsReady = 0;
    uint64_t lastStart = 0, lastResult = 0;
    // When the last two output-stationary sums have left their registers, as
    // seen where operands go in.
    uint64_t drained[2] = {0, 0};
  };
  /// On an interlocked machine: a row's last commands, by queue; 0: none.
  struct RowUse {
    uint32_t writer[queueCount] = {};
    uint32_t reader[queueCount] = {};
  };

  /// What a command costs and waits for.
  Entry describe(const Action &action);
  void describeDMA(const Action &action, Entry &entry);
  /// Of banks, by an operand.
  void addUse(Entry &entry, const Operand &operand, double rowsPerCycle);
  void waitForRows(const Action &action, Entry &entry);
  void waitForRow(Entry &entry, bool inAccumulator, int64_t row, bool writes);

  void pass(Entry entry);
  bool startOne();
  bool isReady(const Entry &entry) const;
  /// When it can start, if its queue comes to it now.
  uint64_t startOf(const Entry &entry) const;
  /// Starts it: what it occupies, when it ends, whose work it was.
  void run(Entry entry, uint64_t start);
  uint64_t stallAtBanks(const Entry &entry, uint64_t start) const;
  uint64_t occupyPort(const Entry &entry, uint64_t start);
  uint64_t sendRequests(const Entry &entry, uint64_t start, uint64_t &sent);

  const Machine machine;    // a copy
  Ordering ordering;        // as issued
  Vector<RegionTime> times; // see regions()
  uint32_t region;          // of what is added next
  uint64_t issueTime = 0;   // when the issuer goes on
  uint64_t portFree = 0;    // when memory's port is
  uint64_t lastEnd = 0;     // of all commands
  Queue queues[queueCount]; // by number
  Array arrays[ASHLAR_SYSTOLIC_MAX_ARRAYS];
  Vector<RowUse> rowUses[2]; // scratchpad, accumulator; if interlocked
};

/// The cycles of the union of the intervals of all regions of this kind,
/// waiting and all, without those in which only regions of another kind had
/// commands at work.
uint64_t cyclesOf(const Kernel &kernel, const Timing &timing, uint32_t kind);

} // namespace ashlar::systolic

#endif // ASHLAR_RUNTIME_LIB_DEVICES_SYSTOLIC_TIMING_H
