// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A thread that works for the runtime of the thread which starts it: what it
// allocates is counted there. Its stack is the system's.

#ifndef ASHLAR_RUNTIME_LIB_THREAD_H
#define ASHLAR_RUNTIME_LIB_THREAD_H

#include "Status.h"

#include <pthread.h>

namespace ashlar::runtime {

class Thread {
public:
  Thread() = default;
  Thread(Thread &&other) noexcept
      : thread(other.thread), runs(std::exchange(other.runs, false)) {}
  /// Waits.
  ~Thread() { join(); }

  /// Once. The name has at most 15 letters.
  Status start(const char *name, void (*function)(void *of), void *of);
  bool isStarted() const { return runs; }
  void join();

private:
  pthread_t thread = {};
  bool runs = false;
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_THREAD_H
