// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Thread.h"

#include <cstring>

namespace ashlar::runtime {

namespace {
struct Task {
  ASHLAR_OWN_NEW
  const char *name;
  void (*function)(void *of);
  void *of;
  OwnMemory *memory;
};
} // namespace

static void *begin(void *given) {
  const Task task = *static_cast<Task *>(given);
  delete static_cast<Task *>(given);
  OwnMemory::Scope scope(task.memory);
  pthread_setname_np(pthread_self(), task.name);
  task.function(task.of);
  return nullptr;
}

Status Thread::start(const char *name, void (*function)(void *of), void *of) {
  std::unique_ptr<Task> task(
      new Task{name, function, of, OwnMemory::ofThread()});
  if (int error = pthread_create(&thread, nullptr, begin, task.get()))
    return failure(ASHLAR_INTERNAL,
                   concat("cannot start a thread: ", std::strerror(error)));
  task.release();
  runs = true;
  return {};
}

void Thread::join() {
  if (runs)
    pthread_join(thread, nullptr);
  runs = false;
}

} // namespace ashlar::runtime
