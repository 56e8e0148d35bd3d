// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// When commands start and end. DescribeWork.cpp says how much work each is.

#include "Timing.h"

#include <algorithm>

namespace ashlar::systolic {

Timing::Timing(const Machine &machine, size_t regions)
    : machine(machine), times(regions + 1), region(uint32_t(regions)) {
  if (machine.flags & ASHLAR_SYSTOLIC_INTERLOCKED) {
    rowUses[0].resize(machine.scratchpad_rows);
    rowUses[1].resize(machine.accumulator_rows);
  }
  for (uint32_t q : {ASHLAR_SYSTOLIC_LOAD, ASHLAR_SYSTOLIC_STORE})
    queues[q].answers.resize(machine.requests_in_flight);
}

void Timing::add(const Action &action) {
  if (action.kind == Action::Region)
    region = action.region;
  if (!action.isIssued)
    return;
  if (action.kind == Action::None || action.kind == Action::Sync) {
    if (action.kind == Action::Sync)
      ordering.sync(action.from, action.to);
    issueTime += machine.issue_cycles;
    return;
  }
  pass(describe(action));
}

/// Gives the command to its queue, once there is room.
void Timing::pass(Entry entry) {
  Queue &queue = queues[entry.queue];
  while (queue.waiting.size() >= machine.queue_depth)
    startOne();
  issueTime += machine.issue_cycles;
  if (queue.waiting.size() + 1 == machine.queue_depth)
    issueTime = std::max(issueTime, queue.roomAt);
  entry.issued = issueTime;
  queue.waiting.push_back(entry);
}

void Timing::finish() {
  while (startOne()) {
  }
  lastEnd = std::max(lastEnd, issueTime);
}

bool Timing::isReady(const Entry &entry) const {
  for (uint32_t q = 0; q < queueCount; ++q)
    if (entry.wait[q] > queues[q].ends.size())
      return false;
  return true;
}

uint64_t Timing::startOf(const Entry &entry) const {
  const Queue &queue = queues[entry.queue];
  uint64_t start = entry.issued;
  for (uint32_t q = 0; q < queueCount; ++q)
    if (entry.wait[q])
      start = std::max(start, queues[q].ends[entry.wait[q] - 1]);
  if (entry.queue < ASHLAR_SYSTOLIC_EXECUTE)
    return std::max(start, queue.free);

  const Array &array = arrays[entry.queue - ASHLAR_SYSTOLIC_EXECUTE];
  const bool hasShadow = machine.flags & ASHLAR_SYSTOLIC_SHADOW;
  start = std::max(start, array.lastStart); // in order
  if (entry.kind == Action::Preload) {
    if (!entry.hasMatrix)
      return start;
    start = std::max(start, array.weightPortFree);
    return hasShadow ? start : std::max(start, array.lastResult);
  }
  start = std::max(start, queue.free);
  if (!entry.flips)
    return start;
  start = std::max(start, array.weightsReady);
  if (!hasShadow)
    return std::max(start, array.lastResult);
  // A new sum takes the registers of the one before the last.
  return entry.outputStationary ? std::max(start, array.drained[0]) : start;
}

/// Starts the command that can start first; of several, that of the first
/// queue. False if none waits.
bool Timing::startOne() {
  Queue *best = nullptr;
  uint64_t bestStart = 0;
  for (Queue &queue : queues) {
    if (queue.waiting.empty() || !isReady(queue.waiting.front()))
      continue;
    uint64_t start = startOf(queue.waiting.front());
    if (!best || start < bestStart) {
      best = &queue;
      bestStart = start;
    }
  }
  // What waits for others was issued after them, so one is always ready.
  if (!best)
    return false;
  Entry entry = best->waiting.front();
  best->waiting.pop_front();
  best->roomAt = bestStart;
  run(entry, bestStart);
  return true;
}

/// Cycles that the command loses where others are at work in its banks.
uint64_t Timing::stallAtBanks(const Entry &entry, uint64_t start) const {
  double stall = 0;
  for (uint32_t q = 0; q < queueCount; ++q)
    for (const Queue::Running &other : queues[q].running) {
      uint64_t end = std::min(start + entry.busy, other.end);
      if (end <= start || (q == entry.queue && q < ASHLAR_SYSTOLIC_EXECUTE))
        continue;
      for (unsigned i = 0; i < entry.uses; ++i)
        for (unsigned j = 0; j < other.uses; ++j) {
          const BankUse &a = entry.use[i], &b = other.use[j];
          uint32_t first = std::max(a.firstBank, b.firstBank);
          uint32_t last =
              std::min(a.firstBank + a.banks, b.firstBank + b.banks);
          double excess = a.rowsPerCycle + b.rowsPerCycle -
                          double(machine.bank_rows_per_cycle);
          if (a.inAccumulator != b.inAccumulator || last <= first ||
              excess <= 0)
            continue;
          // How often both are in the same bank, as they go through theirs.
          double meet = double(last - first) / (double(a.banks) * b.banks);
          stall += double(end - start) * meet *
                   std::min(1.0, excess / a.rowsPerCycle);
        }
    }
  return uint64_t(stall);
}

/// When the last byte has passed.
uint64_t Timing::occupyPort(const Entry &entry, uint64_t start) {
  uint64_t rate = machine.memory_bytes_per_1024_cycles;
  uint64_t cycles = (entry.bytes * 1024 + rate - 1) / rate;
  portFree = std::max(start, portFree) + cycles;
  return portFree;
}

/// When the last answer is there, and when the last request was `sent`: each
/// takes the place of one that was answered.
uint64_t Timing::sendRequests(const Entry &entry, uint64_t start,
                              uint64_t &sent) {
  Queue &queue = queues[entry.queue];
  const uint64_t rate = machine.memory_bytes_per_1024_cycles;
  const uint64_t cycles =
      (entry.bytes * 1024 / entry.requests + rate - 1) / rate;
  const uint64_t places = queue.answers.size();
  // Of very many, all rounds but the first ones are alike.
  constexpr uint64_t many = 1 << 16;
  uint64_t rounds =
      entry.requests > many ? (entry.requests - many / 2) / places : 0;
  uint64_t answered = start;
  sent = start;
  for (uint64_t i = rounds * places; i < entry.requests; ++i) {
    uint64_t &place = queue.answers[queue.oldest];
    sent = std::max(sent, place) + cycles;
    answered = place = sent + machine.memory_latency;
    queue.oldest = (queue.oldest + 1) % places;
  }
  uint64_t more =
      rounds * std::max(places * cycles, cycles + machine.memory_latency);
  for (uint64_t &place : queue.answers)
    place += more;
  sent += more;
  answered += more;
  RegionTime &time = times[entry.region];
  (entry.kind == Action::Store ? time.storeFlight : time.loadFlight) +=
      entry.requests * (cycles + machine.memory_latency);
  return answered;
}

void Timing::run(Entry entry, uint64_t start) {
  Queue &queue = queues[entry.queue];
  entry.busy += stallAtBanks(entry, start);
  uint64_t busyEnd = start + entry.busy, end = busyEnd;
  const uint64_t dim = machine.dim;
  switch (entry.kind) {
  case Action::Load:
  case Action::Store:
  case Action::Table:
    if (entry.bytes) {
      busyEnd = std::max(busyEnd, occupyPort(entry, start));
      uint64_t sent = 0, answered = 0;
      if (entry.requests)
        answered = sendRequests(entry, start, sent);
      busyEnd = std::max(busyEnd, sent);
      end = std::max(busyEnd + machine.memory_latency, answered);
    }
    queue.free = busyEnd;
    break;
  case Action::Vector:
    end = busyEnd + machine.vector_latency;
    queue.free = start + std::max(entry.busy, uint64_t(machine.vector_latency));
    break;
  case Action::Preload: {
    Array &array = arrays[entry.queue - ASHLAR_SYSTOLIC_EXECUTE];
    end += entry.isTransposed && entry.hasMatrix ? dim : 0;
    array.lastStart = start;
    array.weightPortFree = busyEnd;
    array.weightsReady = end;
    break;
  }
  default: {
    Array &array = arrays[entry.queue - ASHLAR_SYSTOLIC_EXECUTE];
    array.lastStart = start;
    queue.free = busyEnd;
    end = busyEnd + 2 * dim - 2;
    if (entry.outputStationary && entry.hasMatrix) {
      array.drained[0] = array.drained[1];
      array.drained[1] = std::max(busyEnd, array.drained[1]) + dim;
      end = array.drained[1] + 2 * dim - 2;
    }
    array.lastResult = std::max(array.lastResult, end);
  }
  }

  bool isPreload = entry.kind == Action::Preload;
  Queue::Running &running = queue.running[isPreload];
  running.begin = start;
  running.end = busyEnd;
  running.uses = entry.uses;
  std::copy_n(entry.use, entry.uses, running.use);
  queue.ends.push_back(
      std::max(end, queue.ends.empty() ? 0 : queue.ends.back()));
  lastEnd = std::max(lastEnd, end);

  RegionTime &time = times[entry.region];
  ++time.commands;
  if (entry.busy) // not one that only says where C goes
    time.first = std::min(time.first, start);
  time.last = std::max(time.last, end);
  time.work.add(start, end);
  time.multiplyAdds += entry.multiplyAdds;
  if (entry.kind == Action::Compute)
    time.arrayBusy += entry.busy;
  if (entry.kind == Action::Vector)
    time.vectorBusy += entry.busy;
  (entry.kind == Action::Store ? time.storeBytes : time.loadBytes) +=
      entry.bytes;
  if (observe)
    observe(
        {start, busyEnd, entry.index, entry.queue, entry.funct, entry.region});
}

uint64_t cyclesOf(const Kernel &kernel, const Timing &timing, uint32_t kind) {
  Intervals all, own, others;
  for (size_t i = 0; i < kernel.regions.size(); ++i) {
    const RegionTime &time = timing.regions()[i];
    bool isOwn = kernel.regions[i].kind == kind;
    if (isOwn)
      all.add(time.first, time.last);
    (isOwn ? own : others).add(time.work);
  }
  Intervals busy = all.within(others);
  return all.count() - busy.countWithout(own);
}

} // namespace ashlar::systolic
