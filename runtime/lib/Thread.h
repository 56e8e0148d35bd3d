// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A thread that works for the runtime of the thread which starts it: what it
// allocates is counted there. Its stack is the system's.

#ifndef ASHLAR_RUNTIME_LIB_THREAD_H
#define ASHLAR_RUNTIME_LIB_THREAD_H

#include "Status.h"

#include <memory>
#include <pthread.h>

namespace ashlar::runtime {

/// Of one owner.
class Thread {
public:
  Thread();
  Thread(Thread &&other) noexcept;
  /// Waits.
  ~Thread();

  /// Once. The name has at most 15 letters.
  Status start(const char *name, void (*function)(void *of), void *of);
  /// And not joined yet.
  bool isStarted() const { return task != nullptr; }
  /// Waits for its function; nothing where it does not run.
  void join();

private:
  /// What the thread is told. It lives as long as the thread may, so that what
  /// is counted does not depend on when the thread begins.
  struct Task;

  pthread_t thread = {};      // while there is a task
  std::unique_ptr<Task> task; ///< null: it does not run
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_THREAD_H
