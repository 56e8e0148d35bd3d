// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "WorkerTeam.h"

#include <sched.h>
#include <unistd.h>

namespace ashlar::runtime {

uint32_t availableCpus() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    return uint32_t(CPU_COUNT(&set));
  long cpus = sysconf(_SC_NPROCESSORS_ONLN);
  return cpus > 0 ? uint32_t(cpus) : 1;
}

Status WorkerTeam::start(uint32_t count) {
  // Some 15 to 40 us. With fewer CPUs than workers, spinning only takes time
  // from the worker that is waited for.
  spins = count <= availableCpus() ? 500 : 0;
  workers.reserve(count - 1);
  threads.reserve(count - 1);
  // The final size is known to the threads only through the first run.
  for (uint32_t i = 1; i < count; ++i) {
    workers.push_back({this, i});
    Thread thread;
    Status status = thread.start(
        "ashlar-worker",
        [](void *given) {
          auto *worker = static_cast<Worker *>(given);
          worker->team->work(worker->number);
        },
        &workers.back());
    if (!status.ok())
      return failure(status.code(), concat("thread ", i, " of ", count - 1,
                                           ": ", status.message()));
    threads.push_back(std::move(thread));
  }
  return {};
}

WorkerTeam::~WorkerTeam() {
  if (threads.empty())
    return;
  quit = true;
  opened.advance();
  for (Thread &thread : threads)
    thread.join();
}

bool WorkerTeam::enter() {
  uint32_t inside = gate.load(std::memory_order_relaxed);
  while (!(inside & closed))
    if (gate.compare_exchange_weak(inside, inside + 1,
                                   std::memory_order_acq_rel,
                                   std::memory_order_relaxed))
      return true;
  return false;
}

void WorkerTeam::leave() {
  if (gate.fetch_sub(1, std::memory_order_acq_rel) == (closed | 1))
    left.advance();
}

void WorkerTeam::work(uint32_t worker) {
  for (uint32_t round = 0;;) {
    opened.waitWhile(round, spins);
    // Before `quit` is looked at: what is advanced behind that ends the next
    // wait.
    round = opened.value();
    if (quit)
      return;
    if (enter()) {
      function(context, worker);
      leave();
    }
  }
}

void WorkerTeam::run(Function newFunction, void *newContext) {
  if (threads.empty())
    return newFunction(newContext, 0);
  function = newFunction;
  context = newContext;
  gate.store(0, std::memory_order_release);
  opened.advance();
  newFunction(newContext, 0);
  uint32_t round = left.value();
  if (gate.fetch_or(closed, std::memory_order_acq_rel) != 0)
    left.waitWhile(round, spins);
}

} // namespace ashlar::runtime
