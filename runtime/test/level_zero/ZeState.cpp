// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ZeState.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>

using namespace ashlar::ze;

extern "C" [[gnu::visibility("default")]] ZeDouble ashlar_ze_double;
ZeDouble ashlar_ze_double;

static uint64_t number(const char *name, uint64_t otherwise) {
  const char *text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 0) : otherwise;
}

State::State()
    : devices(number("ASHLAR_ZE_DOUBLE_DEVICES", hasDevice())),
      memory(number("ASHLAR_ZE_DOUBLE_MEMORY", uint64_t(8) << 30)),
      local(number("ASHLAR_ZE_DOUBLE_LOCAL", 65536)),
      threads(number("ASHLAR_ZE_DOUBLE_THREADS", 1024)),
      chip(number("ASHLAR_ZE_DOUBLE_CHIP", 0xbd5)),
      takesSpirv(number("ASHLAR_ZE_DOUBLE_SPIRV", 1) != 0),
      isSilent(number("ASHLAR_ZE_DOUBLE_SILENT", 0) != 0) {
  if (uint64_t lost = number("ASHLAR_ZE_DOUBLE_LOST", 0))
    ashlar_ze_double.start(lost, 0x70000001, true);
}

State &ashlar::ze::state() {
  // Never destroyed: queues of who did not give them back run on.
  static State &all = *new State;
  return all;
}

Code ashlar::ze::misuse(const char *call, const char *why) {
  ++ashlar_ze_double.misuses;
  std::fprintf(stderr, "level zero double: %s: %s\n", call, why);
  std::fflush(stderr);
  return invalidArgument;
}

bool ashlar::ze::failsNow(const char *call) {
  (void)state();
  ZeDouble &all = ashlar_ze_double;
  const uint64_t now = ++all.calls, failing = all.failing;
  if (failing == 0 || now < failing || (now > failing && !all.isLost))
    return false;
  const char *none = nullptr;
  all.failed.compare_exchange_strong(none, call);
  return true;
}

const Allocation *ashlar::ze::allocationOf(const void *address, uint64_t bytes,
                                           bool &outReachesBeyond) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  outReachesBeyond = false;
  auto next = state().allocations.upper_bound(at);
  if (next == state().allocations.begin())
    return nullptr;
  const auto &[begin, found] = *std::prev(next);
  if (at >= begin + found.bytes)
    return nullptr;
  outReachesBeyond = bytes > begin + found.bytes - at;
  return &found;
}

bool ashlar::ze::isInUse(Range range) {
  auto uses = [&](const ListObject &list, size_t ended) {
    for (size_t i = ended; i < list.commands.size(); ++i)
      for (const Range &each : list.commands[i].uses)
        if (each.begin < range.end && range.begin < each.end)
          return true;
    return false;
  };
  // What was not given to a queue since a call has failed may never be.
  for (const auto &[handle, list] : state().lists)
    if (!ashlar_ze_double.failed && list->given == 0 && uses(*list, 0))
      return true;
  for (const auto &[handle, queue] : state().queues)
    for (const QueueObject::Batch &batch : queue->batches)
      if (uses(*batch.list, batch.ended))
        return true;
  return false;
}

void ashlar::ze::finish(Lock &lock, QueueObject &queue) {
  state().changed.wait(lock, [&] { return queue.batches.empty(); });
}

/// The thread of a queue. A batch stays in front until it has ended.
void ashlar::ze::work(std::shared_ptr<QueueObject> queue) {
  State &all = state();
  Lock lock(all.mutex);
  while (true) {
    all.changed.wait(
        lock, [&] { return queue->isClosing || !queue->batches.empty(); });
    if (queue->batches.empty())
      return;
    QueueObject::Batch batch = queue->batches.front();
    lock.unlock();
    for (const Command &command : batch.list->commands) {
      while (ashlar_ze_double.isHanging)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (command.run)
        command.run();
      Lock inner(all.mutex);
      ++queue->batches.front().ended;
    }
    lock.lock();
    --batch.list->running;
    if (batch.fence)
      batch.fence->isSet = true;
    queue->batches.pop_front();
    all.changed.notify_all();
  }
}
