// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Event.h"

#include "Trace.h"

#include <chrono>

namespace ashlar::runtime {

bool Event::wait(uint64_t timeoutNanoseconds, Status &out) {
  std::unique_lock<std::mutex> lock(mutex);
  auto isDone = [&] { return done; };
  // Longer than a century is forever; the clock's arithmetic would overflow.
  if (timeoutNanoseconds > uint64_t(INT64_MAX) / 3) {
    changed.wait(lock, isDone);
  } else if (timeoutNanoseconds != 0 && !done) {
    // On the system's clock, which is what ThreadSanitizer understands.
    auto end = std::chrono::system_clock::now() +
               std::chrono::nanoseconds(timeoutNanoseconds);
    changed.wait_until(lock, end, isDone);
  }
  if (done)
    out = result;
  return done;
}

bool RunControl::isLate() const {
  if (Trace::now() < deadline)
    return false;
  late.store(true, std::memory_order_relaxed);
  stop.store(true, std::memory_order_relaxed);
  return true;
}

void RunControl::reset(uint64_t newDeadline) {
  deadline = newDeadline;
  stop.store(false, std::memory_order_relaxed);
  late.store(false, std::memory_order_relaxed);
  cancelled.store(false, std::memory_order_relaxed);
  failure.store(none, std::memory_order_relaxed);
  reason.clear();
}

void Event::complete(Status status) {
  std::lock_guard<std::mutex> lock(mutex);
  result = std::move(status);
  done = true;
  changed.notify_all();
}

} // namespace ashlar::runtime
