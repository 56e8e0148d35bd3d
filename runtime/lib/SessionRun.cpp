// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The half of Session that is on the way of a call.

#include "Session.h"
#include "VirtualDevice.h"

#include <system_error>

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
  uint64_t start = asked, end;
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
                            control, turns.pass))))
      status = stoppedStatus(control);
    // Reading the clock is a good part of a short call.
    if (mayHaveWaited || turns.arena || turns.part || !turns.gate.isOpen())
      start = Trace::now();
    if (status.ok())
      status = call.run(control);
    end = Trace::now();
    turns.took = end - start;
  }
  statistics.waiting.add(start - asked);
  statistics.running.add(end - start);
  lastRunNanoseconds.store(end - start, std::memory_order_relaxed);
  (status.ok()                         ? statistics.runs
   : status.code() == ASHLAR_CANCELLED ? statistics.cancelled
                                       : statistics.failures)
      .add(1);
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

void Session::cancel() {
  ownControl.cancel();
  std::lock_guard<std::mutex> lock(mutex);
  if (inFlight)
    inFlight->control.cancel();
}

/// When a run that is asked for now is to have ended.
static uint64_t deadlineAfter(uint64_t now, uint64_t nanoseconds) {
  return nanoseconds == 0                 ? 0
         : nanoseconds > UINT64_MAX - now ? UINT64_MAX
                                          : now + nanoseconds;
}

Status Session::run(BoundCall &call, uint64_t timeoutNanoseconds) {
  uint64_t asked = Trace::now();
  ownControl.reset(deadlineAfter(asked, timeoutNanoseconds));
  bool isBusy = busy.load(std::memory_order_acquire);
  if (isBusy)
    waitUntilIdle();
  return runNow(call, ownControl, asked, isBusy);
}

Status Session::runAsync(BoundCall &call, std::shared_ptr<Event> event,
                         uint64_t timeoutNanoseconds) {
  uint64_t asked = Trace::now();
  event->control.reset(deadlineAfter(asked, timeoutNanoseconds));
  waitUntilIdle();
  std::lock_guard<std::mutex> lock(mutex);
  if (!server.joinable()) {
    try {
      server = std::thread([this] { serve(); });
    } catch (const std::system_error &error) {
      return failure(ASHLAR_INTERNAL,
                     concat("cannot start a thread: ", error.what()));
    }
  }
  inFlight = event;
  job = {&call, std::move(event), asked};
  busy.store(true, std::memory_order_relaxed);
  changed.notify_all();
  return {};
}

void Session::serve() {
  std::unique_lock<std::mutex> lock(mutex);
  while (true) {
    changed.wait(lock, [&] { return quit || job.call; });
    if (!job.call)
      return;
    Job current = std::move(job);
    job = {};
    lock.unlock();
    Status status;
    try {
      status = runNow(*current.call, current.event->control, current.asked,
                      /*mayHaveWaited=*/true);
    } catch (const std::bad_alloc &) {
      // Only labels of a trace and messages allocate here.
      status = failure(ASHLAR_INTERNAL, "the system has no more memory");
    }
    lock.lock();
    // Whoever finds the session idle finds the event done.
    current.event->complete(std::move(status));
    inFlight.reset();
    busy.store(false, std::memory_order_release);
    changed.notify_all();
  }
}

} // namespace ashlar::runtime
