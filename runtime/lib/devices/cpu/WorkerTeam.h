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

class WorkerTeam {
public:
  using Function = void (*)(void *context, uint32_t worker);

  WorkerTeam() = default;
  ~WorkerTeam();
  /// Starts `count` - 1 threads.
  Status start(uint32_t count);

  uint32_t size() const { return uint32_t(threads.size()) + 1; }

  /// Calls function(context, 0), and at the same time function(context, i) on
  /// each other worker that comes before that has returned: they help with what
  /// is shared out, and nobody waits for one that has no CPU. One that was late
  /// for the run before may call it twice. Returns when all calls have.
  void run(Function function, void *context);

  /// Whether some workers have been waiting for so long that they sleep.
  bool isAsleep() const { return opened.hasSleepers(); }

private:
  struct Worker {
    WorkerTeam *team;
    uint32_t number;
  };
  void work(uint32_t worker);
  bool enter();
  void leave();

  static constexpr uint32_t closed = uint32_t(1) << 31;

  Vector<Worker> workers;
  Vector<Thread> threads;
  unsigned spins = 0;
  Function function = nullptr;
  void *context = nullptr;
  std::atomic<bool> quit{false};
  Signal opened;
  Signal left;
  /// How many others are inside a run, and whether more may enter.
  alignas(64) std::atomic<uint32_t> gate{closed};
};

/// How many threads this process may run on at the same time.
uint32_t availableCpus();

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_DEVICES_CPU_WORKERTEAM_H
