// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Budget.h"
#include <cstring>
#include <vector>

using namespace ashlar;
using namespace ashlar::python;

Budget::Budget(const Runtime &runtime, const std::string &name, uint64_t limit)
    : runtime(runtime.id()) {
  check(ashlar_budget_create(runtime.get(), name.c_str(), limit, handle.out()));
}

void Budget::checkOf(uint64_t wanted) const {
  if (runtime != wanted)
    raise(ASHLAR_INVALID_ARGUMENT,
          "expected a budget of the module's runtime, found one of another; "
          "ashlar.Budget(..., runtime=...) makes one of a runtime, and a child "
          "made by fork has one of its own",
          "budget");
}

ashlar_budget_statistics_t Budget::query() const {
  ashlar_budget_statistics_t statistics = ASHLAR_BUDGET_STATISTICS_INIT;
  check(ashlar_budget_query(get(), &statistics));
  return statistics;
}

static const char *const kinds[] = {"weights", "code",    "arena",
                                    "outputs", "staging", "scratch"};
static_assert(sizeof(kinds) / sizeof(*kinds) == ASHLAR_MEMORY_KINDS,
              "a kind of memory lacks its name");

static nb::list holders(const Budget &budget) {
  size_t count = 0;
  check(ashlar_budget_holders(budget.get(), nullptr, 0, &count));
  std::vector<ashlar_holder_t> found(count);
  check(ashlar_budget_holders(budget.get(), found.data(), count, &count));
  nb::list result;
  for (size_t i = 0; i < count && i < found.size(); ++i) {
    uint32_t kind = found[i].kind;
    result.append(nb::make_tuple(
        nb::steal(PyUnicode_DecodeUTF8(
            found[i].name, strnlen(found[i].name, 64), "backslashreplace")),
        kind < ASHLAR_MEMORY_KINDS ? kinds[kind] : "unknown", found[i].bytes));
  }
  return result;
}

void python::bindBudget(nb::module_ &module) {
  nb::class_<Budget> budget(module, "_Budget");
  refuseCopies(budget);
  budget
      .def(nb::init<const Runtime &, const std::string &, uint64_t>(),
           nb::arg("runtime"), nb::arg("name"), nb::arg("limit"))
      .def(
          "_check_of",
          [](const Budget &budget, const Runtime &runtime) {
            budget.checkOf(runtime.id());
          },
          nb::arg("runtime"))
      .def_prop_ro(
          "limit", [](const Budget &budget) { return budget.query().limit; },
          "Bytes that may be charged at the same time.")
      .def_prop_ro(
          "current",
          [](const Budget &budget) { return budget.query().current; },
          "Bytes charged now.")
      .def_prop_ro(
          "peak", [](const Budget &budget) { return budget.query().peak; },
          "The most bytes that were ever charged.")
      .def_prop_ro(
          "refusals",
          [](const Budget &budget) { return budget.query().refusals; },
          "How many requests did not fit.")
      .def_prop_ro(
          "current_by_kind",
          [](const Budget &budget) {
            ashlar_budget_statistics_t statistics = budget.query();
            nb::dict result;
            for (uint32_t kind = 0; kind < ASHLAR_MEMORY_KINDS; ++kind)
              result[kinds[kind]] = statistics.current_of[kind];
            return result;
          },
          nb::for_getter(
              nb::sig("def current_by_kind(self) -> dict[str, int]")),
          "Bytes charged now, by what they are for: weights, code, arena,\n"
          "outputs, staging, scratch.")
      .def_prop_ro("holders", &holders,
                   nb::for_getter(nb::sig(
                       "def holders(self) -> list[tuple[str, str, int]]")),
                   "Who holds it: (name, kind, bytes), the largest first.");
}
