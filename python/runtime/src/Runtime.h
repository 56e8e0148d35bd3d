// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_PYTHON_RUNTIME_H
#define ASHLAR_PYTHON_RUNTIME_H

#include "Handle.h"
#include "Status.h"
#include <string>

namespace ashlar::python {

class Runtime {
public:
  /// `keys`: as the runtime takes them; empty: anybody's modules are loaded.
  Runtime(uint32_t threads, const std::string &keys);
  ashlar_runtime_t *get() const { return handle.get(); }
  /// Of no other in this process.
  uint64_t id() const { return number; }

private:
  uint64_t number;
  Handle<ashlar_runtime_t, ashlar_runtime_release> handle;
};

void bindRuntime(nb::module_ &module);

} // namespace ashlar::python

#endif // ASHLAR_PYTHON_RUNTIME_H
