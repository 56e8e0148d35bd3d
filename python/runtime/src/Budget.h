// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_PYTHON_BUDGET_H
#define ASHLAR_PYTHON_BUDGET_H

#include "Handle.h"
#include "Runtime.h"

namespace ashlar::python {

class Budget {
public:
  Budget(const Runtime &runtime, const std::string &name, uint64_t limit);
  ashlar_budget_t *get() const { return handle.get(); }
  /// Raises where it belongs to another runtime than this one.
  void checkOf(uint64_t runtime) const;
  /// Of a budget that Python may have left out.
  static ashlar_budget_t *handleOf(const Budget *budget) {
    return budget ? budget->get() : nullptr;
  }
  ashlar_budget_statistics_t query() const;

private:
  uint64_t runtime;
  Handle<ashlar_budget_t, ashlar_budget_release> handle;
};

void bindBudget(nb::module_ &module);

} // namespace ashlar::python

#endif // ASHLAR_PYTHON_BUDGET_H
