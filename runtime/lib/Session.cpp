// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Session.h"

#include "CheckedMath.h"
#include "IndexVerifier.h"
#include "TensorShape.h"

#include <algorithm>
#include <cstring>
#include <system_error>

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
  if (server.joinable())
    server.join();
  for (size_t i = 0; i < queues.size(); ++i)
    devices()[i]->ops.destroyQueue(queues[i]);
  options.budget->forget(statistics);
}

Status Session::start() {
  for (const ashlar_device_t *each : devices())
    ASHLAR_RETURN_IF_ERROR(each->status());
  workers = sessionWorkers(*module->runtime, options.threads);
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

Status Session::allocateArenas() {
  ASHLAR_RETURN_IF_ERROR(
      sessionNeeds(*module, workers, options.reserveAll, needs));
  // All that the session will be sure to have, before any of it is there.
  if (options.reserveAll)
    ASHLAR_RETURN_IF_ERROR(options.budget->charge(
        name, needs.requests(*module, true), /*keep=*/false));
  std::vector<Budget::Request> asked = needs.requests(*module, false);
  std::vector<Charge> charges(asked.size());
  for (size_t i = 0; i < asked.size(); ++i)
    asked[i].out = &charges[i];
  ASHLAR_RETURN_IF_ERROR(options.budget->charge(name, asked));
  for (size_t i = 0; i < devices().size(); ++i) {
    arenas.push_back(std::make_unique<Buffer>());
    // Behind the first come the scratch, then the others.
    Charge &charge = charges[i == 0 ? 0 : i + 1];
    ASHLAR_RETURN_IF_ERROR(arenas[i]->allocate(
        {*module->runtime, devices()[i], ASHLAR_MEMORY_ARENA},
        i == 0 ? needs.arena : needs.otherArenas[i - 1], std::move(charge),
        i == 0 ? needs.arenaRoom : 0));
  }
  return scratchBuffer.allocate(
      {*module->runtime, &device(), ASHLAR_MEMORY_SCRATCH}, needs.scratch,
      std::move(charges[1]));
}

Status Session::grow(Buffer &buffer, uint64_t bytes, uint64_t room) {
  if (bytes <= buffer.size())
    return {};
  if (options.growthStep && bytes < room)
    bytes = std::min(room, alignUp(bytes, options.growthStep));
  return buffer.grow(bytes, *options.budget, name);
}

Status Session::useArena(uint64_t bytes) {
  return grow(*arenas.front(), bytes, needs.arenaRoom);
}

Status Session::regain() {
  ASHLAR_RETURN_IF_ERROR(grow(*arenas.front(), needs.arena, needs.arenaRoom));
  for (size_t i = 1; i < arenas.size(); ++i)
    ASHLAR_RETURN_IF_ERROR(grow(*arenas[i], needs.otherArenas[i - 1], 0));
  return grow(scratchBuffer, needs.scratch, 0);
}

uint64_t Session::inUse() const {
  uint64_t bytes = scratchBuffer.size();
  for (const auto &arena : arenas)
    bytes += arena->size();
  for (const EntryBuffers &of : buffers)
    for (const auto *list : {&of.outputs, &of.stagedInputs, &of.stagedOutputs})
      for (const auto &buffer : *list)
        bytes += buffer ? buffer->size() : 0;
  return bytes;
}

uint64_t Session::giveBack(bool outputsToo) {
  uint64_t bytes = scratchBuffer.trim();
  for (const auto &arena : arenas)
    bytes += arena->trim();
  for (const EntryBuffers &of : buffers)
    for (const auto *list : {&of.outputs, &of.stagedInputs, &of.stagedOutputs})
      for (const auto &buffer : *list)
        if (buffer && (outputsToo || list != &of.outputs))
          bytes += buffer->trim();
  if (bytes) {
    ++trims;
    module->runtime->logger().log(ASHLAR_LOG_DEBUG, name.c_str(),
                                  concat(bytes, " bytes were given back"));
  }
  return bytes;
}

uint64_t Session::trim() {
  waitUntilIdle();
  return giveBack(/*outputsToo=*/true);
}

Status Session::startQueues() {
  QueueOptions queueOptions = {};
  queueOptions.workers = workers;
  queueOptions.executor = workers > 1 ? module->runtime->executor() : nullptr;
  queueOptions.scratchBytes = module->scratchBytes();
  queueOptions.scratch = scratchBuffer.data();
  for (ashlar_device_t *each : devices()) {
    void *queue = nullptr;
    ASHLAR_RETURN_IF_ERROR(
        each->ops.createQueue(each->state, queueOptions, &queue));
    queues.push_back(queue);
    // The host's workers and their scratch serve the first device.
    queueOptions = {};
    queueOptions.workers = 1;
  }
  return {};
}

Status Session::makeBuffer(const fb::TensorDescription &tensor,
                           ashlar_memory_kind_t kind, uint64_t bytes,
                           std::unique_ptr<Buffer> &slot) {
  int64_t shape[ASHLAR_MAX_RANK];
  uint64_t largest = 0;
  if (!maximumShape(tensor, shape, largest) || bytes > largest)
    return corrupt("a shape exceeds the module's own largest",
                   tensor.name()->str());
  if (!bufferBytes(largest, largest) || !bufferBytes(bytes, bytes))
    return corrupt("a shape has too many bytes", tensor.name()->str());
  ashlar_device_t *where = kind == ASHLAR_MEMORY_OUTPUTS ? nullptr : &device();
  // Where the caller chooses sizes, memory is what they need.
  if (options.reserveAll || isStatic(tensor) ||
      !Buffer::growsInPlace(*module->runtime, where))
    bytes = largest;
  if (slot)
    return grow(*slot, bytes, largest);
  Charge receipt;
  ASHLAR_RETURN_IF_ERROR(
      options.budget->charge(name, {{kind, bytes, &receipt, where}}));
  auto buffer = std::make_unique<Buffer>();
  ASHLAR_RETURN_IF_ERROR(buffer->allocate({*module->runtime, where, kind},
                                          bytes, std::move(receipt), largest));
  slot = std::move(buffer);
  return {};
}

Status Session::ownedOutput(const ashlar_entry_t &entry, uint32_t index,
                            uint64_t bytes, void *&data, uint64_t &capacity) {
  auto &slot = buffers[entry.index].outputs[index];
  ASHLAR_RETURN_IF_ERROR(makeBuffer(*entry.entry->outputs()->Get(index),
                                    ASHLAR_MEMORY_OUTPUTS, bytes, slot));
  data = slot->data();
  capacity = slot->size();
  return {};
}

Status Session::stagingInput(const ashlar_entry_t &entry, uint32_t index,
                             uint64_t bytes, void *&data) {
  auto &slot = buffers[entry.index].stagedInputs[index];
  ASHLAR_RETURN_IF_ERROR(makeBuffer(*entry.entry->inputs()->Get(index),
                                    ASHLAR_MEMORY_STAGING, bytes, slot));
  data = slot->data();
  return {};
}

Status Session::stagingOutput(const ashlar_entry_t &entry, uint32_t index,
                              uint64_t bytes, void *&data) {
  // What the session owns is as good a place, if kernels can write there.
  if (device().ops.sharesHostMemory) {
    uint64_t capacity = 0;
    return ownedOutput(entry, index, bytes, data, capacity);
  }
  auto &slot = buffers[entry.index].stagedOutputs[index];
  ASHLAR_RETURN_IF_ERROR(makeBuffer(*entry.entry->outputs()->Get(index),
                                    ASHLAR_MEMORY_STAGING, bytes, slot));
  data = slot->data();
  return {};
}

Status Session::reserveBuffers() {
  void *data;
  uint64_t capacity;
  for (const ashlar_entry_t &entry : module->entries) {
    for (uint32_t i = 0; i < count(entry.entry->outputs()); ++i) {
      ASHLAR_RETURN_IF_ERROR(ownedOutput(entry, i, 0, data, capacity));
      ASHLAR_RETURN_IF_ERROR(stagingOutput(entry, i, 0, data));
    }
    for (uint32_t i = 0; i < count(entry.entry->inputs()); ++i)
      ASHLAR_RETURN_IF_ERROR(stagingInput(entry, i, 0, data));
  }
  return {};
}

Status Session::execute(const CommandList &list, RunControl &control) {
  for (size_t i = 0; options.poison && i < arenas.size(); ++i)
    if (devices()[i]->ops.sharesHostMemory)
      std::memset(arenas[i]->data(), 0xA5, arenas[i]->size());
  Sequencer sequencer(list, control);
  if (list.isShared)
    return executeShared(sequencer);
  Status status =
      device().ops.execute(queues.front(), sequencer, sequencer.whole());
  if (status.ok())
    return {};
  return lose(device(), status);
}

Status Session::lose(ashlar_device_t &device, const Status &cause) {
  device.lose(cause);
  Status status = device.status();
  module->runtime->logger().log(ASHLAR_LOG_ERROR, status.place(),
                                status.message());
  return status;
}

/// Commands that follow each other on one device are its to run; it has
/// finished them before another one begins.
Status Session::executeShared(Sequencer &sequencer) {
  const std::vector<Command> &commands = sequencer.list.commands;
  for (size_t i = sequencer.settle(0); i < commands.size();
       i = sequencer.settle(i)) {
    const Command &first = commands[i];
    ashlar_device_t &device = *devices()[first.device];
    Status status;
    if (first.kind == Command::Barrier) {
      ++i;
    } else if (first.isTransfer()) {
      status = transfer(sequencer, i++);
    } else {
      CommandRange part = {i, i};
      auto joins = [&](const Command &command) {
        return command.kind == Command::Barrier ||
               (!command.isControl() && !command.isTransfer() &&
                command.device == first.device);
      };
      while (part.end < commands.size() && joins(commands[part.end]))
        ++part.end;
      status = device.ops.execute(queues[first.device], sequencer, part);
      i = part.end;
    }
    if (!status.ok())
      return lose(device, status);
  }
  return {};
}

/// The first device's memory is the host's.
Status Session::transfer(const Sequencer &sequencer, size_t index) {
  const Command &command = sequencer.list.commands[index];
  ashlar_device_t &device = *devices()[command.device];
  auto copy =
      command.kind == Command::CopyIn ? device.ops.copyIn : device.ops.copyOut;
  statistics.copies.add(1);
  statistics.copiedBytes.add(uint64_t(command.extent));
  Trace *trace = sequencer.control.trace.get();
  uint64_t start = trace ? Trace::now() : 0;
  Status status = copy(device.state, sequencer.address(command, 1),
                       sequencer.address(command, 0), uint64_t(command.extent));
  if (trace)
    trace->record(sequencer.list.labels[index], 0, start, Trace::now());
  return status;
}

void Session::countStaged(uint64_t bytes) {
  stagedTensors.add(1);
  stagedBytes.add(bytes);
  statistics.copies.add(1);
  statistics.copiedBytes.add(bytes);
}

Status Session::runNow(BoundCall &call, RunControl &control, uint64_t asked,
                       bool mayHaveWaited) {
  Gate &gate = module->runtime->gate();
  Gate::Pass pass;
  Status status;
  if (!gate.isOpen() && !gate.enter(options.budget->tenant(), workers,
                                    options.priority, control, pass))
    status = stoppedStatus(control);
  // Reading the clock is a good part of a short call.
  uint64_t start = mayHaveWaited || !gate.isOpen() ? Trace::now() : asked;
  if (status.ok())
    status = call.run(control);
  uint64_t end = Trace::now();
  gate.leave(pass, end - start);
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

void Session::query(ashlar_session_statistics_t &out) const {
  out.runs = statistics.runs.get();
  out.failures = statistics.failures.get() + statistics.cancelled.get();
  out.staged_tensors = stagedTensors.get();
  out.staged_bytes = stagedBytes.get();
  out.arena_bytes = 0;
  for (const auto &arena : arenas)
    out.arena_bytes += arena->size();
  out.scratch_bytes = scratchBuffer.size();
  out.last_run_ns = lastRunNanoseconds;
  out.threads = workers;
}

} // namespace ashlar::runtime
