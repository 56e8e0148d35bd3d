// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Session.h"

namespace ashlar::runtime {

Session::Session(std::shared_ptr<Module> owner, SessionOptions given)
    : name(given.name), module(std::move(owner)), options(std::move(given)) {
  options.budget->watch(statistics);
}

Session::~Session() {
  waitUntilIdle();
  {
    std::lock_guard<std::mutex> lock(mutex);
    quit = true;
    changed.notify_all();
  }
  server.join();
  // Their graphs first.
  calls.clear();
  stopQueues();
  options.budget->forget(statistics);
}

Status Session::start() {
  for (const ashlar_device_t *each : devices())
    ASHLAR_RETURN_IF_ERROR(each->status());
  workers = sessionWorkers(*module, options.threads);
  ASHLAR_RETURN_IF_ERROR(allocateArenas());
  for (const ashlar_entry_t &entry : module->entries) {
    buffers.emplace_back();
    buffers.back().outputs.resize(count(entry.entry->outputs()));
    buffers.back().stagedOutputs.resize(count(entry.entry->outputs()));
    buffers.back().stagedInputs.resize(count(entry.entry->inputs()));
    calls.push_back(std::make_unique<BoundCall>(*this, entry));
  }
  if (options.reserveAll)
    ASHLAR_RETURN_IF_ERROR(reserveBuffers());
  return startQueues();
}

void Session::query(ashlar_session_statistics_t &out) const {
  out.runs = statistics.runs.get();
  out.failures = statistics.failures.get() + statistics.cancelled.get();
  out.staged_tensors = stagedTensors.get();
  out.staged_bytes = stagedBytes.get();
  out.arena_bytes = 0;
  for (const auto &arena : arenas)
    out.arena_bytes += arena->size();
  out.scratch_bytes = 0;
  for (const auto &of : scratch)
    out.scratch_bytes += of->size();
  out.last_run_ns = lastRunNanoseconds;
  out.threads = workers;
}

} // namespace ashlar::runtime
