// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Threads that live as long as a session and help the one that runs it, worker
// 0, with what is shared out.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_CPU_WORKERTEAM_H
#define ASHLAR_RUNTIME_LIB_DEVICES_CPU_WORKERTEAM_H

#include "../../OwnMemory.h"
#include "../../Thread.h"
#include "Signal.h"

namespace ashlar::runtime {

/// One thread at a time starts it and runs work with it.
class WorkerTeam {
public:
  /// Given the run's context and the number of a worker, below size().
  using Function = void (*)(void *context, uint32_t worker);

  WorkerTeam() = default;
  ~WorkerTeam();
  /// Starts `count` - 1 threads.
  Status start(uint32_t count);

  /// The caller's thread included.
  uint32_t size() const { return uint32_t(threads.size()) + 1; }

  /// Calls function(context, 0), and at the same time function(context, i) on
  /// each other worker that comes before that has returned: they help with what
  /// is shared out, and nobody waits for one that has no CPU. One that was late
  /// for the run before may call it twice. Returns when all calls have.
  void run(Function function, void *context);

  /// Whether some workers have been waiting for so long that they sleep.
  bool isAsleep() const { return opened.hasSleepers(); }

private:
  /// What a thread is told; stays where it is.
  struct Worker {
    WorkerTeam *team; // whose it is
    uint32_t number;  // from 1 on
  };
  /// What a thread does until it is to end.
  void work(uint32_t worker);
  /// False: the run is over, or none has begun. Otherwise the run waits for
  /// `leave`.
  bool enter();
  /// The last to leave a closed run wakes who waits for it.
  void leave();

  static constexpr uint32_t closed = uint32_t(1) << 31; // nobody may enter

  Vector<Worker> workers;        // all but worker 0
  Vector<Thread> threads;        // one for each of them
  unsigned spins = 0;            // of a wait, before it sleeps
  Function function = nullptr;   // of the run, written while the gate is closed
  void *context = nullptr;       // its own
  std::atomic<bool> quit{false}; // threads end instead of working
  Signal opened;                 // a run has begun, or threads are to end
  Signal left;                   // the last one has left a closed run
  /// How many others are inside a run, and whether more may enter.
  alignas(64) std::atomic<uint32_t> gate{closed};
};

/// How many threads this process may run on at the same time.
uint32_t availableCpus();

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_DEVICES_CPU_WORKERTEAM_H
