// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Python's lock, given away while the library works.
#ifndef ASHLAR_PYTHON_GIL_H
#define ASHLAR_PYTHON_GIL_H

#include <nanobind/nanobind.h>

namespace ashlar::python {

/// Gives the lock away until its end. A thread that comes back when the
/// interpreter ends stays where it is, as from CPython 3.14 on: before, it
/// would be ended by unwinding through frames of C++, which ends the process.
class ReleasedGil {
public:
  ReleasedGil();
  ~ReleasedGil();
  ReleasedGil(const ReleasedGil &) = delete;
  ReleasedGil &operator=(const ReleasedGil &) = delete;

private:
  PyThreadState *state;
};

/// Has all this happen when `atexit` is called, and after forks.
void bindGil(nanobind::module_ &module);

} // namespace ashlar::python

#endif // ASHLAR_PYTHON_GIL_H
