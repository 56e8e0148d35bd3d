// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Event.h"

#include <algorithm>
#include <chrono>

namespace ashlar::runtime {

bool Event::wait(uint64_t timeoutNanoseconds, Status &out) {
  std::unique_lock<std::mutex> lock(mutex);
  auto isDone = [&] { return done; };
  // Longer than a century is forever; the clock's arithmetic would overflow.
  if (timeoutNanoseconds > uint64_t(INT64_MAX) / 3) {
    changed.wait(lock, isDone);
  } else if (timeoutNanoseconds != 0 && !done) {
    const Clock &clock = control.clock();
    uint64_t begin = clock.now(), waited = 0;
    // An embedder's clock goes at its own pace: it is looked at now and then.
    do {
      uint64_t most = timeoutNanoseconds - waited;
      if (!clock.isSystems())
        most = std::min<uint64_t>(most, 1000000);
      // On the system's clock, which is what ThreadSanitizer understands.
      changed.wait_until(lock,
                         std::chrono::system_clock::now() +
                             std::chrono::nanoseconds(most),
                         isDone);
      waited = clock.now() - begin;
    } while (!done && waited < timeoutNanoseconds);
  }
  if (done)
    out = result;
  return done;
}

bool RunControl::isLate() const {
  if (time.now() < deadline)
    return false;
  late.store(true, std::memory_order_relaxed);
  stop.store(true, std::memory_order_relaxed);
  return true;
}

void RunControl::reset(const Clock &clock, uint64_t newDeadline) {
  time = clock;
  deadline = newDeadline;
  stop.store(false, std::memory_order_relaxed);
  late.store(false, std::memory_order_relaxed);
  cancelled.store(false, std::memory_order_relaxed);
  failure.store(none, std::memory_order_relaxed);
  suspects.store(none, std::memory_order_relaxed);
  reason.clear();
}

void Event::complete(Status status) {
  std::lock_guard<std::mutex> lock(mutex);
  result = std::move(status);
  done = true;
  changed.notify_all();
}

} // namespace ashlar::runtime
