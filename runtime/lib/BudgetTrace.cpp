// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What budgets have, over time, in a trace: a counter for each memory of each.

#include "Budget.h"
#include "Trace.h"

namespace ashlar::runtime {

String Budget::path() const {
  return parent ? concat(parent->path(), "/", name) : name;
}

/// Where nothing may fail, later, the label is there.
void Budget::labelAccount(Account &of, Trace *into) const {
  of.label =
      into ? into->intern(concat(path(), ", ", of.place, ", bytes")) : nullptr;
}

void Budget::startTrace(Trace &into) {
  for (Account &of : accounts) {
    labelAccount(of, &into);
    into.count(of.label, of.traced = of.current);
  }
  for (Budget *child : children)
    child->startTrace(into);
}

void Budget::setTrace(Trace *into) {
  std::lock_guard<std::mutex> guard(lock());
  trace = nullptr;
  if (into)
    startTrace(*into);
  trace = into;
}

} // namespace ashlar::runtime
