// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Gil.h"
#include <atomic>
#include <chrono>
#include <pthread.h>
#include <thread>

using namespace ashlar::python;
namespace nb = nanobind;

/// The thread that ends the interpreter; none: it goes on.
static std::atomic<std::thread::id> closer;
/// Threads that wait for the lock.
static std::atomic<int> returning{0};

ReleasedGil::ReleasedGil() : state(PyEval_SaveThread()) {}

ReleasedGil::~ReleasedGil() {
  // First counted, then looked: whoever closes sees one of both.
  ++returning;
  std::thread::id ending = closer;
  if (ending != std::thread::id() && ending != std::this_thread::get_id()) {
    --returning;
    while (true)
      std::this_thread::sleep_for(std::chrono::hours(1));
  }
  PyEval_RestoreThread(state);
  --returning;
}

/// Called by `atexit`, when daemon threads are still at work.
static void keepOthersOut() {
  closer = std::this_thread::get_id();
  // Those that are on their way back get the lock while there still is one.
  PyThreadState *state = PyEval_SaveThread();
  for (int i = 0; i != 5000 && returning != 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  PyEval_RestoreThread(state);
}

void ashlar::python::bindGil(nb::module_ &module) {
  module.def("_close", &keepOthersOut,
             "Lets no thread come back from the library any more.");
  nb::module_::import_("atexit").attr("register")(module.attr("_close"));
  pthread_atfork(nullptr, nullptr, [] { returning = 0; });
}
