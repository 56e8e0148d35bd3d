// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The binding's list of contents.
#include "Budget.h"
#include "Gil.h"
#include "Module.h"
#include "NumPy.h"
#include "Runtime.h"
#include "Session.h"
#include <pthread.h>

using namespace ashlar::python;

/// nanobind keeps one set of types for the process.
static bool isLoaded = false;

NB_MODULE(_native, module) {
  if (isLoaded)
    throw nb::import_error(
        "ashlar._native is loaded in this process already and cannot be loaded "
        "again; leave it in sys.modules, or start a new process");
  importNumPy();
  module.doc() = "Ashlar's C library; see the package `ashlar`.";
  // What still lives when the interpreter ends goes with the process.
  nb::set_leak_warnings(false);
  pthread_atfork(nullptr, nullptr, [] { ++forks; });
  bindGil(module);
  module.attr("version") = ashlar_runtime_version();
  module.def(
      "forks", [] { return forks.load(); },
      "How many forks lie between this process and the one that imported "
      "this.");
  module.def("aligned_bytes", &alignedBytes, nb::arg("bytes"),
             nb::sig("def aligned_bytes(bytes: int) -> typing.Any"),
             "A fresh uint8 array that begins at a multiple of 64.");
  bindRuntime(module);
  bindBudget(module);
  bindModule(module);
  bindSession(module);
  bindRun(module);
  isLoaded = true;
}
