// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C API of budgets and statistics.

#include "Handles.h"

using namespace ashlar::runtime;

/// A budget below another one.
static Status makeBudget(const std::shared_ptr<Budget> &parent,
                         const char *name, uint64_t limit,
                         ashlar_budget_t **out) {
  if (!name)
    return isNull("name");
  if (!out)
    return isNull("out_budget");
  *out = new ashlar_budget_t{makeShared<Budget>(name, limit, parent)};
  return {};
}

extern "C" {

ashlar_status_t ashlar_budget_create(ashlar_runtime_t *runtime,
                                     const char *name, uint64_t limit,
                                     ashlar_budget_t **out_budget) {
  if (out_budget)
    *out_budget = nullptr;
  return guard(runtime, [&]() -> Status {
    if (!runtime)
      return isNull("runtime");
    return makeBudget(runtime->impl->budget(), name, limit, out_budget);
  });
}

ashlar_status_t ashlar_budget_create_below(ashlar_budget_t *parent,
                                           const char *name, uint64_t limit,
                                           ashlar_budget_t **out_budget) {
  if (out_budget)
    *out_budget = nullptr;
  return guard(parent, [&]() -> Status {
    if (!parent)
      return isNull("parent");
    return makeBudget(parent->impl, name, limit, out_budget);
  });
}

ashlar_status_t ashlar_runtime_budget(ashlar_runtime_t *runtime,
                                      ashlar_budget_t **out_budget) {
  if (out_budget)
    *out_budget = nullptr;
  return guard(runtime, [&]() -> Status {
    if (!runtime)
      return isNull("runtime");
    if (!out_budget)
      return isNull("out_budget");
    *out_budget = new ashlar_budget_t{runtime->impl->budget()};
    return {};
  });
}

void ashlar_budget_release(ashlar_budget_t *budget) { release(budget); }

ashlar_status_t
ashlar_budget_query(const ashlar_budget_t *budget,
                    ashlar_budget_statistics_t *out_statistics) {
  return guard(budget, [&]() -> Status {
    if (!budget)
      return isNull("budget");
    ashlar_budget_statistics_t filled = ASHLAR_BUDGET_STATISTICS_INIT;
    budget->impl->query(filled);
    return writeStruct(filled, out_statistics, "out_statistics");
  });
}

ashlar_status_t
ashlar_budget_query_device(const ashlar_budget_t *budget,
                           const ashlar_device_t *device,
                           ashlar_budget_statistics_t *out_statistics) {
  return guard(budget, [&]() -> Status {
    if (!budget)
      return isNull("budget");
    ashlar_budget_statistics_t filled = ASHLAR_BUDGET_STATISTICS_INIT;
    budget->impl->query(device, filled);
    return writeStruct(filled, out_statistics, "out_statistics");
  });
}

ashlar_status_t ashlar_budget_set_limit(ashlar_budget_t *budget,
                                        uint64_t limit) {
  return guard(budget, [&]() -> Status {
    return budget ? budget->impl->setLimit(limit) : isNull("budget");
  });
}

ashlar_status_t ashlar_budget_set_device_limit(ashlar_budget_t *budget,
                                               const ashlar_device_t *device,
                                               uint64_t limit) {
  return guard(budget, [&]() -> Status {
    return budget ? budget->impl->setDeviceLimit(device, limit)
                  : isNull("budget");
  });
}

ashlar_status_t ashlar_budget_reserve(ashlar_budget_t *budget,
                                      const ashlar_device_t *device,
                                      uint64_t bytes) {
  return guard(budget, [&]() -> Status {
    return budget ? budget->impl->reserve(device, bytes) : isNull("budget");
  });
}

ashlar_status_t ashlar_budget_holders(const ashlar_budget_t *budget,
                                      ashlar_holder_t *holders, size_t capacity,
                                      size_t *out_count) {
  if (out_count)
    *out_count = 0;
  return guard(budget, [&]() -> Status {
    if (!budget)
      return isNull("budget");
    if (!out_count)
      return isNull("out_count");
    if (!holders && capacity)
      return isNull("holders");
    Vector<ashlar_holder_t> all = budget->impl->holders();
    std::copy_n(all.begin(), std::min(capacity, all.size()), holders);
    *out_count = all.size();
    return {};
  });
}

ashlar_status_t ashlar_budget_set_share(ashlar_budget_t *budget,
                                        uint32_t share) {
  return guard(budget, [&]() -> Status {
    if (!budget)
      return isNull("budget");
    if (share == 0)
      return invalidArgument("a share is at least 1", "share");
    budget->impl->tenant().share = share;
    return {};
  });
}

ashlar_status_t ashlar_stats_query(const ashlar_budget_t *budget,
                                   ashlar_stats_t *out_stats) {
  return guard(budget, [&]() -> Status {
    if (!budget)
      return isNull("budget");
    ashlar_stats_t filled = ASHLAR_STATS_INIT;
    budget->impl->query(filled);
    return writeStruct(filled, out_stats, "out_stats");
  });
}

ashlar_status_t ashlar_stats_own_memory(const ashlar_runtime_t *runtime,
                                        ashlar_own_memory_t *out_memory) {
  return guard(runtime, [&]() -> Status {
    const OwnMemory &of =
        runtime ? *runtime->impl->memory() : OwnMemory::ofAll();
    ashlar_own_memory_t filled = ASHLAR_OWN_MEMORY_INIT;
    filled.current = of.current();
    filled.peak = of.peak();
    filled.process_bytes = OwnMemory::ofNone().current();
    return writeStruct(filled, out_memory, "out_memory");
  });
}

ashlar_status_t ashlar_stats_prometheus(ashlar_runtime_t *runtime, char *text,
                                        size_t capacity, size_t *out_bytes) {
  if (out_bytes)
    *out_bytes = 0;
  if (text && capacity)
    *text = 0;
  return guard(runtime, [&]() -> Status {
    if (!runtime)
      return isNull("runtime");
    if (!out_bytes)
      return isNull("out_bytes");
    if (!text && capacity)
      return isNull("text");
    String all = runtime->impl->budget()->prometheus();
    *out_bytes = all.size();
    if (capacity)
      text[all.copy(text, capacity - 1)] = 0;
    return {};
  });
}

} // extern "C"
