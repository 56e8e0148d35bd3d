// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The driver double, for tests of the device that has it as its driver.

#ifndef ASHLAR_RUNTIME_TEST_LEVEL_ZERO_FINDDOUBLE_H
#define ASHLAR_RUNTIME_TEST_LEVEL_ZERO_FINDDOUBLE_H

#include "ZeDouble.h"

#include <dlfcn.h>

namespace ashlar::test {

/// Null: the driver is another one, or there is none.
inline ZeDouble *findZeDouble() {
  void *library = dlopen("libze_loader.so.1", RTLD_NOW);
  return library ? static_cast<ZeDouble *>(dlsym(library, "ashlar_ze_double"))
                 : nullptr;
}

} // namespace ashlar::test

#endif // ASHLAR_RUNTIME_TEST_LEVEL_ZERO_FINDDOUBLE_H
