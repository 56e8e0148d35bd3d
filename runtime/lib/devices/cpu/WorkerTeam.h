// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Threads that live as long as a session and walk its command lists together.
// The thread that asks for a run is worker 0.

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

  /// Calls function(context, i) for each worker i at the same time and returns
  /// when all have returned.
  void run(Function function, void *context);

  /// Only inside run, by every worker: none goes on before all have come. The
  /// last one calls `atLast` while the others still wait.
  template <typename AtLast> void barrier(AtLast &&atLast) {
    uint32_t round = barrierRound.value();
    if (arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == size()) {
      atLast();
      arrived.store(0, std::memory_order_relaxed);
      barrierRound.advance();
    } else {
      barrierRound.waitWhile(round, spins);
    }
  }

private:
  struct Worker {
    WorkerTeam *team;
    uint32_t number;
  };
  void work(uint32_t worker);

  Vector<Worker> workers;
  Vector<Thread> threads;
  unsigned spins = 0;
  Function function = nullptr;
  void *context = nullptr;
  bool quit = false;
  Signal started;
  Signal barrierRound;
  Signal finished;
  alignas(64) std::atomic<uint32_t> arrived{0};
  alignas(64) std::atomic<uint32_t> running{0};
};

/// How many threads this process may run on at the same time.
uint32_t availableCpus();

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_DEVICES_CPU_WORKERTEAM_H
