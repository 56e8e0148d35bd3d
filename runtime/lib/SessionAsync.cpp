// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The half of Session that runs on a thread of its own, and what other threads
// ask of a run in flight.

#include "Session.h"

namespace ashlar::runtime {

void Session::cancel() {
  ownControl.cancel();
  std::lock_guard<std::mutex> lock(mutex);
  if (inFlight)
    inFlight->control.cancel();
}

void Session::setTraceContext(String traceparent) {
  waitUntilIdle();
  traceContext = std::move(traceparent);
}

Status Session::runAsync(BoundCall &call, std::shared_ptr<Event> event,
                         uint64_t timeoutNanoseconds) {
  const Clock &clock = module->runtime->clock();
  uint64_t asked = clock.now();
  event->control.reset(clock, deadlineAfter(asked, timeoutNanoseconds));
  waitUntilIdle();
  std::lock_guard<std::mutex> lock(mutex);
  if (!server.isStarted())
    ASHLAR_RETURN_IF_ERROR(server.start(
        "ashlar-session",
        [](void *session) { static_cast<Session *>(session)->serve(); }, this));
  inFlight = event;
  job = {&call, std::move(event), asked};
  busy.store(true, std::memory_order_relaxed);
  changed.notify_all();
  return {};
}

void Session::serve() {
  std::unique_lock<std::mutex> lock(mutex);
  while (true) {
    changed.wait(lock, [&] { return quit || job.call; });
    if (!job.call)
      return;
    Job current = std::move(job);
    job = {};
    lock.unlock();
    Status status;
    try {
      status = runNow(*current.call, current.event->control, current.asked,
                      /*mayHaveWaited=*/true);
    } catch (const std::bad_alloc &) {
      // Only labels of a trace and messages allocate here.
      status = failure(ASHLAR_INTERNAL, "the system has no more memory");
    }
    lock.lock();
    // Whoever finds the session idle finds the event done, and nobody else's.
    current.event->complete(std::move(status));
    current.event.reset();
    inFlight.reset();
    busy.store(false, std::memory_order_release);
    changed.notify_all();
  }
}

} // namespace ashlar::runtime
