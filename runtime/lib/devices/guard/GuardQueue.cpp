// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "GuardQueue.h"

#include "../../Trace.h"
#include "ashlar/runtime/kernel_abi.h"

#include <chrono>
#include <cstring>
#include <system_error>

namespace ashlar::runtime {

uint64_t GuardEvent::record() {
  std::lock_guard<std::mutex> lock(mutex);
  return ++recorded;
}

void GuardEvent::complete(uint64_t ticket) {
  std::lock_guard<std::mutex> lock(mutex);
  come = ticket;
  changed.notify_all();
}

uint64_t GuardEvent::lastTicket() {
  std::lock_guard<std::mutex> lock(mutex);
  return recorded;
}

bool GuardEvent::wait(uint64_t ticket, uint64_t timeoutNanoseconds) {
  std::unique_lock<std::mutex> lock(mutex);
  auto hasCome = [&] { return come >= ticket; };
  if (timeoutNanoseconds > uint64_t(INT64_MAX) / 3)
    changed.wait(lock, hasCome);
  else
    changed.wait_until(lock,
                       std::chrono::system_clock::now() +
                           std::chrono::nanoseconds(timeoutNanoseconds),
                       hasCome);
  return come >= ticket;
}

GuardWork::GuardWork(const CommandList &list, CommandRange range,
                     const LoopCounters &counters, void *scratch,
                     uint64_t scratchBytes)
    : scratch(scratchBytes ? scratch : nullptr) {
  if (scratchBytes)
    ranges.push_back({scratch, scratchBytes, true});
  for (size_t i = range.begin; i < range.end; ++i) {
    const Command &command = list.commands[i];
    Step step = {
        uint32_t(i), nullptr, command.extent,
        {},          {},      list.labels.empty() ? nullptr : list.labels[i]};
    if (command.kind == Command::Dispatch) {
      addDispatch(list, command, step);
    } else if (command.kind == Command::Copy) {
      for (unsigned side = 0; side != 2; ++side) {
        DeviceAddress at = list.addresses[command.firstPointer + side] +
                           uint64_t(counters.moved(command, side));
        step.pointers.push_back(at.pointer());
        ranges.push_back({at.pointer(), uint64_t(command.extent), side == 1});
      }
    } else {
      continue;
    }
    steps.push_back(std::move(step));
  }
}

void GuardWork::addDispatch(const CommandList &list, const Command &command,
                            Step &step) {
  step.kernel = static_cast<const GuardKernel *>(command.kernel);
  for (uint32_t i = 0; i < command.pointers; ++i) {
    uint32_t number = command.firstPointer + i;
    ranges.push_back({list.addresses[number].pointer(),
                      list.extents[number].bytes,
                      list.extents[number].isWritten});
    if (step.kernel->arguments.empty())
      step.pointers.push_back(list.addresses[number].pointer());
  }
  const int64_t *numbers = list.parameters.data() + command.firstParameter;
  if (step.kernel->arguments.empty()) {
    step.parameters.assign(numbers, numbers + step.kernel->integers);
    return;
  }
  uint32_t blob = command.launch == Command::none
                      ? 0
                      : list.launches[command.launch].firstBlob;
  for (const KernelForm::Argument &argument : step.kernel->arguments)
    switch (argument.kind) {
    case KernelForm::Argument::Integer:
      step.parameters.push_back(numbers[argument.index]);
      break;
    case KernelForm::Argument::TensorMap:
      blobs.push_back(list.blobs[blob++]);
      step.pointers.push_back(&blobs.back());
      break;
    default:
      step.pointers.push_back(
          list.addresses[command.firstPointer + argument.index].pointer());
    }
}

void GuardWork::run(const Step &step, RunControl &control) const {
  if (!step.kernel) {
    std::memcpy(step.pointers[1], step.pointers[0], size_t(step.extent));
    return;
  }
  auto function = reinterpret_cast<ashlar_kernel_function_t>(
      const_cast<void *>(step.kernel->function));
  int32_t code = step.extent
                     ? function(step.pointers.data(), step.parameters.data(),
                                scratch, 0, step.extent)
                     : ASHLAR_KERNEL_OK;
  if (code != ASHLAR_KERNEL_OK)
    control.fail(step.index, code);
}

Status GuardWork::run(GuardMemory &memory, RunControl &control) const {
  ASHLAR_RETURN_IF_ERROR(memory.open(ranges));
  for (const Step &step : steps) {
    if (control.stopped())
      break;
    uint64_t start = control.trace ? control.trace->now() : 0;
    run(step, control);
    if (control.trace && step.label)
      control.trace->record(step.label, 0, start, control.trace->now());
  }
  memory.close(ranges);
  return {};
}

Status GuardQueue::start() {
  try {
    thread = std::thread([this] { serve(); });
  } catch (const std::system_error &error) {
    return failure(ASHLAR_INTERNAL,
                   concat("cannot start a thread: ", error.what()));
  }
  return {};
}

GuardQueue::~GuardQueue() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    quit = true;
    changed.notify_all();
  }
  if (thread.joinable())
    thread.join();
}

void GuardQueue::serve() {
  std::unique_lock<std::mutex> lock(mutex);
  while (true) {
    changed.wait(lock, [&] { return quit || !tasks.empty(); });
    if (tasks.empty())
      return;
    Task task = std::move(tasks.front());
    tasks.pop_front();
    isWorking = true;
    lock.unlock();
    Status status = task();
    task = {};
    lock.lock();
    if (firstError.ok())
      firstError = std::move(status);
    isWorking = false;
    changed.notify_all();
  }
}

void GuardQueue::give(Task task) {
  std::lock_guard<std::mutex> lock(mutex);
  tasks.push_back(std::move(task));
  changed.notify_all();
}

void GuardQueue::copy(CopyKind kind, DeviceAddress to, DeviceAddress from,
                      uint64_t size) {
  give([=]() -> Status {
    Vector<GuardMemory::Range> ranges;
    if (kind != CopyKind::In)
      ranges.push_back({from.pointer(), size, false});
    if (kind != CopyKind::Out)
      ranges.push_back({to.pointer(), size, true});
    ASHLAR_RETURN_IF_ERROR(memory.open(ranges));
    std::memcpy(to.pointer(), from.pointer(), size);
    memory.close(ranges);
    return {};
  });
}

void GuardQueue::submit(std::shared_ptr<const GuardWork> work,
                        RunControl &control) {
  give([this, work = std::move(work), &control] {
    return work->run(memory, control);
  });
}

void GuardQueue::finish() {
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait(lock, [&] { return tasks.empty() && !isWorking; });
}

Status GuardQueue::error() {
  std::lock_guard<std::mutex> lock(mutex);
  return firstError;
}

} // namespace ashlar::runtime
