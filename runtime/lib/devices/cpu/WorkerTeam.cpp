// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "WorkerTeam.h"

#include <pthread.h>
#include <sched.h>
#include <system_error>

namespace ashlar::runtime {

uint32_t availableCpus() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    return uint32_t(CPU_COUNT(&set));
  unsigned cpus = std::thread::hardware_concurrency();
  return cpus ? cpus : 1;
}

Status WorkerTeam::start(uint32_t workers) {
  // About 20 us. With fewer CPUs than workers, spinning only takes time from
  // the worker that is waited for.
  spins = workers <= availableCpus() ? 500 : 0;
  threads.reserve(workers - 1);
  try {
    // The final size is known to the threads only through the first run.
    for (uint32_t i = 1; i < workers; ++i)
      threads.emplace_back([this, i] { work(i); });
  } catch (const std::system_error &error) {
    return failure(ASHLAR_INTERNAL,
                   concat("cannot start thread ", threads.size() + 1, " of ",
                          workers - 1, ": ", error.what()));
  }
  return {};
}

WorkerTeam::~WorkerTeam() {
  if (threads.empty())
    return;
  quit = true;
  started.advance();
  for (std::thread &thread : threads)
    thread.join();
}

void WorkerTeam::work(uint32_t worker) {
  pthread_setname_np(pthread_self(), "ashlar-worker");
  for (uint32_t round = 0;; ++round) {
    started.waitWhile(round, spins);
    if (quit)
      return;
    function(context, worker);
    if (running.fetch_sub(1, std::memory_order_acq_rel) == 1)
      finished.advance();
  }
}

void WorkerTeam::run(Function newFunction, void *newContext) {
  if (threads.empty())
    return newFunction(newContext, 0);
  function = newFunction;
  context = newContext;
  running.store(uint32_t(threads.size()), std::memory_order_relaxed);
  uint32_t round = finished.value();
  started.advance();
  newFunction(newContext, 0);
  finished.waitWhile(round, spins);
}

} // namespace ashlar::runtime
