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

class Event {
public:
  /// False if the run had not ended after so long; `out` is then untouched.
  bool wait(uint64_t timeoutNanoseconds, Status &out);
  void complete(Status status);

  RunControl control;

private:
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  Status result;
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_EVENT_H
