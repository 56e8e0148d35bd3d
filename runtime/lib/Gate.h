// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who runs next where more runs are asked for than workers are allowed. Each
// tenant has a clock that goes forward by the work its runs take, divided by
// its share; the tenant whose clock is behind goes first, and within a tenant
// the run with the highest priority, then the one that came first. A tenant
// that was idle starts at the present, so that it saves up no claims.
// (Start-time fair queueing: Goyal, Vin, Cheng, SIGCOMM 1996.)

#ifndef ASHLAR_RUNTIME_LIB_GATE_H
#define ASHLAR_RUNTIME_LIB_GATE_H

#include "OwnMemory.h"
#include "devices/CommandList.h"

#include <condition_variable>
#include <mutex>

namespace ashlar::runtime {

/// Any thread.
class Gate {
public:
  /// Of a tenant; the gate's lock guards all but the share.
  class Tenant {
  public:
    std::atomic<uint32_t> share{1}; // at least 1; weights the clock

  private:
    friend class Gate;
    uint64_t clock = 0;    // nanoseconds of one worker, divided by the share
    uint64_t estimate = 0; // the last run's, before the division
    uint32_t present = 0;  // runs that wait or go on
  };
  /// A run that has been let in.
  struct Pass {
    Tenant *tenant = nullptr; // null: there is no gate
    uint32_t workers = 0;     // that it takes
    uint64_t charged = 0;     // to the tenant's clock so far
  };

  /// How many workers run at the same time; 0: as many as there are.
  void open(uint32_t workers) { slots = workers; }
  /// Everybody is let in at once.
  bool isOpen() const { return slots == 0; }

  /// Waits for its turn; false if the run was stopped before. `queue`, where
  /// the run's trace is to count who waits: its label there.
  bool enter(Tenant &tenant, uint32_t workers, int32_t priority,
             const RunControl &control, Pass &out, const char *queue = nullptr);
  /// With what the run took, by the clock of the host; lets others in.
  void leave(const Pass &pass, uint64_t nanoseconds);
  /// How many runs wait.
  size_t waiting() {
    std::lock_guard<std::mutex> lock(mutex);
    return waiters.size();
  }

private:
  /// A run before the gate, on its thread's stack.
  struct Waiter {
    Tenant *tenant;       // whose run it is
    uint32_t workers;     // that it will take
    int32_t priority;     // higher goes first
    bool isIn = false;    // `admit` has let it in
    uint64_t charged = 0; // for that, to the tenant's clock
    std::condition_variable changed = {};
  };
  void admit();

  std::mutex mutex;
  uint32_t slots = 0;     // workers at a time; 0: no gate
  uint32_t used = 0;      // by runs that are in
  uint64_t present = 0;   // the clock of who went last
  List<Waiter *> waiters; // in the order they came
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_GATE_H
