// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loaded module, with what its entries expect and give.
#ifndef ASHLAR_PYTHON_MODULE_H
#define ASHLAR_PYTHON_MODULE_H

#include "Budget.h"
#include <vector>

namespace ashlar::python {

/// An input or output of an entry.
struct Port {
  ashlar_tensor_info_t info;
  nb::object name; ///< interned, as dicts are asked for it
  nb::object view; ///< numpy's dtype where DLPack has none for it, else None
  bool isFixed() const {
    for (uint32_t d = 0; d < info.rank; ++d)
      if (info.shape[d] < 0)
        return false;
    return true;
  }
};

struct Entry {
  ashlar_entry_t *handle; ///< belongs to the module
  nb::object name;
  std::vector<Port> inputs, outputs;
};

class Module {
public:
  Module(const Runtime &runtime, nb::bytes path, const Budget *budget,
         nb::object name, bool allowNativeCode, bool verifyWeights,
         const std::vector<std::string> &devices, bool isSoft);
  ashlar_module_t *get() const { return handle.get(); }
  uint64_t runtimeId() const { return runtime; }
  ashlar_module_info_t query() const;
  /// None: the first. Raises NotFound with the names there are.
  const Entry &entry(nb::handle name) const;
  const std::vector<Entry> &entries() const { return all; }

private:
  uint64_t runtime;
  Handle<ashlar_module_t, ashlar_module_release> handle;
  std::vector<Entry> all;
};

void bindModule(nb::module_ &module);

} // namespace ashlar::python

#endif // ASHLAR_PYTHON_MODULE_H
