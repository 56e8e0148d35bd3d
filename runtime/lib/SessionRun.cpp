// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The half of Session that is on the way of a call.

#include "Session.h"
#include "VirtualDevice.h"

namespace ashlar::runtime {

Status Session::execute(const CommandList &list, RunControl &control,
                        GraphCache &graphs) {
  if (options.poison)
    ASHLAR_RETURN_IF_ERROR(poison());
  Queue &first = queues.front();
  auto follow = first.device.ops.follow;
  if (list.isShared || !follow)
    return submitList(list, control, graphs);
  Sequencer sequencer(list, control);
  return answer(first, follow(first.handle, sequencer));
}

Status Session::lose(ashlar_device_t &device, const Status &cause) {
  device.lose(cause);
  Status status = device.status();
  module->runtime->logger().log(ASHLAR_LOG_ERROR, status.place(),
                                status.message());
  return status;
}

void Session::countTransfer(uint64_t bytes) {
  statistics.copies.add(1);
  statistics.copiedBytes.add(bytes);
}

namespace {
/// What a run has had to wait for; it is given back whatever happens.
struct Turns {
  ~Turns() {
    gate.leave(pass, took);
    if (part)
      part->gate.leave(partPass, took);
    if (arena)
      arena->leave(arenaPass);
  }
  Gate &gate;
  VirtualPart *part;
  SharedArena *arena;
  Gate::Pass pass = {}, partPass = {}, arenaPass = {};
  uint64_t took = 0;
};
} // namespace

Status Session::runNow(BoundCall &call, RunControl &control, uint64_t asked,
                       bool mayHaveWaited) {
  Status status;
  const Clock &clock = module->runtime->clock();
  uint64_t start = asked, end;
  control.trace = trace();
  {
    Turns turns = {module->runtime->gate(), module->part(),
                   options.arena.get()};
    // In this order everywhere, so that nobody waits in a circle.
    if (turns.arena)
      status = turns.arena->enter(name, options.waitsForArena, options.priority,
                                  control, turns.arenaPass);
    if (status.ok() &&
        ((turns.part &&
          !turns.part->gate.enter(turns.part->tenant, workers, options.priority,
                                  control, turns.partPass)) ||
         (!turns.gate.isOpen() &&
          !turns.gate.enter(options.budget->tenant(), workers, options.priority,
                            control, turns.pass,
                            control.trace
                                ? control.trace->intern("runs that wait")
                                : nullptr))))
      status = stoppedStatus(control);
    // Reading the clock is a good part of a short call.
    if (mayHaveWaited || turns.arena || turns.part || !turns.gate.isOpen())
      start = clock.now();
    if (status.ok())
      status = call.run(control);
    end = clock.now();
    turns.took = end - start;
  }
  statistics.waiting.add(start - asked);
  statistics.running.add(end - start);
  lastRunNanoseconds.store(end - start, std::memory_order_relaxed);
  (status.ok()                         ? statistics.runs
   : status.code() == ASHLAR_CANCELLED ? statistics.cancelled
                                       : statistics.failures)
      .add(1);
  if (control.trace) {
    traceRun(control.trace, call, asked, start, end);
    control.trace.reset(); // its records are many: they go when it ends
  }
  // What the caller may still read stays.
  if (options.highWater && inUse() > options.highWater)
    giveBack(/*outputsToo=*/false);
  return status;
}

void Session::waitUntilIdle() {
  if (!busy.load(std::memory_order_acquire))
    return;
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait(lock, [&] { return !busy.load(std::memory_order_relaxed); });
}

uint64_t deadlineAfter(uint64_t now, uint64_t nanoseconds) {
  return nanoseconds == 0                 ? 0
         : nanoseconds > UINT64_MAX - now ? UINT64_MAX
                                          : now + nanoseconds;
}

Status Session::run(BoundCall &call, uint64_t timeoutNanoseconds) {
  const Clock &clock = module->runtime->clock();
  uint64_t asked = clock.now();
  ownControl.reset(clock, deadlineAfter(asked, timeoutNanoseconds));
  bool isBusy = busy.load(std::memory_order_acquire);
  if (isBusy)
    waitUntilIdle();
  return runNow(call, ownControl, asked, isBusy);
}

} // namespace ashlar::runtime
