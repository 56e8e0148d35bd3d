// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Gate.h"

#include "Trace.h"

#include <algorithm>
#include <chrono>

namespace ashlar::runtime {

/// Runs in the order they came in; the first that may go, goes. One that needs
/// more workers than are free keeps those behind it waiting, or it would wait
/// forever.
void Gate::admit() {
  while (!waiters.empty()) {
    auto next = std::min_element(
        waiters.begin(), waiters.end(), [](const Waiter *a, const Waiter *b) {
          return a->tenant == b->tenant ? a->priority > b->priority
                                        : a->tenant->clock < b->tenant->clock;
        });
    Waiter &waiter = **next;
    if (waiter.workers > slots - used)
      return;
    waiters.erase(next);
    used += waiter.workers;
    Tenant &tenant = *waiter.tenant;
    present = std::max(present, tenant.clock);
    // As if it took as long as the last one, lest one tenant fill all slots
    // before its first run has ended.
    waiter.charged = tenant.estimate / tenant.share;
    tenant.clock += waiter.charged;
    waiter.isIn = true;
    waiter.changed.notify_one();
  }
}

bool Gate::enter(Tenant &tenant, uint32_t workers, int32_t priority,
                 const RunControl &control, Pass &out, const char *queue) {
  std::unique_lock<std::mutex> lock(mutex);
  Waiter waiter = {&tenant, std::min(workers, slots), priority};
  waiters.push_back(&waiter);
  if (tenant.present++ == 0)
    tenant.clock = std::max(tenant.clock, present);
  admit();
  auto note = [&] {
    if (queue)
      control.trace->count(queue, waiters.size());
  };
  note();
  // A run that is cancelled wakes nobody, so it is asked for now and then.
  while (!waiter.isIn && !control.stopped())
    waiter.changed.wait_until(lock, std::chrono::system_clock::now() +
                                        std::chrono::milliseconds(2));
  if (!waiter.isIn) {
    waiters.remove(&waiter);
    --tenant.present;
    admit(); // it may have kept others waiting
    note();
    return false;
  }
  note();
  out = {&tenant, waiter.workers, waiter.charged};
  return true;
}

void Gate::leave(const Pass &pass, uint64_t nanoseconds) {
  if (!pass.tenant)
    return;
  std::lock_guard<std::mutex> lock(mutex);
  Tenant &tenant = *pass.tenant;
  tenant.estimate = nanoseconds * pass.workers;
  tenant.clock += tenant.estimate / tenant.share - pass.charged;
  --tenant.present;
  used -= pass.workers;
  admit();
}

} // namespace ashlar::runtime
