// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Thread.h"

#include <cstring>

namespace ashlar::runtime {

struct Thread::Task {
  ASHLAR_OWN_NEW
  const char *name;
  void (*function)(void *of);
  void *of;
  OwnMemory *memory;

  static void *begin(void *given) {
    const Task &task = *static_cast<Task *>(given);
    OwnMemory::Scope scope(task.memory);
    pthread_setname_np(pthread_self(), task.name);
    task.function(task.of);
    return nullptr;
  }
};

Thread::Thread() = default;
Thread::Thread(Thread &&other) noexcept = default;
Thread::~Thread() { join(); }

Status Thread::start(const char *name, void (*function)(void *of), void *of) {
  task.reset(new Task{name, function, of, OwnMemory::ofThread()});
  if (int error = pthread_create(&thread, nullptr, Task::begin, task.get())) {
    task.reset();
    return failure(ASHLAR_INTERNAL,
                   concat("cannot start a thread: ", std::strerror(error)));
  }
  return {};
}

void Thread::join() {
  if (task)
    pthread_join(thread, nullptr);
  task.reset();
}

} // namespace ashlar::runtime
