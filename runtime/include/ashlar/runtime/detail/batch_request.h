// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inside batching.h: one request, and the time that it has.

#ifndef ASHLAR_RUNTIME_DETAIL_BATCH_REQUEST_H
#define ASHLAR_RUNTIME_DETAIL_BATCH_REQUEST_H

#include "ashlar/runtime/detail/join_tensors.h"

#include <condition_variable>
#include <list>
#include <mutex>

namespace ashlar::detail {

using BatchClock = std::chrono::steady_clock;
constexpr BatchClock::time_point never = BatchClock::time_point::max();

inline BatchClock::time_point timeAfter(BatchClock::time_point start,
                                        std::chrono::nanoseconds time) {
  return time >= never - start ? never : start + time;
}

/// Until somebody notifies, or then.
inline void sleep(std::condition_variable &changed,
                  std::unique_lock<std::mutex> &lock,
                  BatchClock::time_point until) {
  auto left = until - BatchClock::now();
  // On the system's clock, which is what ThreadSanitizer understands.
  if (left < std::chrono::hours(24))
    changed.wait_until(lock, std::chrono::system_clock::now() + left);
  else
    changed.wait(lock);
}

/// What a session has in hand.
struct BatchRun {
  ashlar_session_t *session;
  size_t wanted; // requests of it that nobody has given up
};

struct BatchRequest {
  enum State { waiting, copying, running, ended };

  std::vector<ashlar_tensor_t> inputs;
  ashlar_tensor_t *outputs = nullptr; // the caller's
  int64_t rows = 0;
  BatchClock::time_point departure = never; // it waits no longer for others
  BatchClock::time_point deadline = never;

  // The rest is the queue's.
  State state = waiting;
  bool isGivenUp = false; // result says why
  Status result;
  int64_t first = 0;       // of its rows in the batch
  BatchRun *run = nullptr; // null: none that a cancel could end
  std::condition_variable changed;
};
using BatchList = std::list<std::shared_ptr<BatchRequest>>;

} // namespace ashlar::detail

#endif // ASHLAR_RUNTIME_DETAIL_BATCH_REQUEST_H
