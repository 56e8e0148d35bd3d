// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a run that goes on elsewhere is watched.

#ifndef ASHLAR_RUNTIME_LIB_EVENT_H
#define ASHLAR_RUNTIME_LIB_EVENT_H

#include "Status.h"
#include "devices/CommandList.h"

#include <condition_variable>
#include <mutex>

namespace ashlar::runtime {

/// Any thread waits; one thread completes it, once.
class Event {
public:
  /// False if the run had not ended after so long; `out` is then untouched.
  bool wait(uint64_t timeoutNanoseconds, Status &out);
  /// Wakes all who wait, and gives every one this.
  void complete(Status status);

  RunControl control; // of the run that it is for

private:
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false; // `result` is what it will be
  Status result;     // of the run
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_EVENT_H
