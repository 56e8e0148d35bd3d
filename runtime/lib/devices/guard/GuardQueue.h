// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A thread that does what it is given, in order, while its caller goes on.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_GUARD_GUARDQUEUE_H
#define ASHLAR_RUNTIME_LIB_DEVICES_GUARD_GUARDQUEUE_H

#include "../../OwnMemory.h"
#include "../Device.h"
#include "GuardMemory.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <thread>

namespace ashlar::runtime {

/// What the device's kernel handles are.
struct GuardKernel {
  const void *function;
  uint32_t integers;
  /// Of which of the dispatch's addresses and numbers the function is given
  /// what; an address through a tensor map is that of its blob.
  Vector<KernelForm::Argument> arguments;
};

/// A tensor map as this device encodes it.
struct GuardTensorMap {
  void *address;
  int64_t rank;
  int64_t sizes[TensorMap::maximumRank];   // elements, the innermost first
  int64_t strides[TensorMap::maximumRank]; // bytes
};
static_assert(sizeof(GuardTensorMap) <= sizeof(CommandList::Blob));

class GuardEvent {
public:
  uint64_t record();
  void complete(uint64_t ticket);
  /// Of the last record when the call is made.
  uint64_t lastTicket();
  bool wait(uint64_t ticket, uint64_t timeoutNanoseconds);

private:
  std::mutex mutex;
  std::condition_variable changed;
  uint64_t recorded = 0, come = 0;
};

/// Commands that need nothing of their list any more.
class GuardWork {
public:
  GuardWork(const CommandList &list, CommandRange range,
            const LoopCounters &counters, void *scratch, uint64_t scratchBytes);
  Status run(GuardMemory &memory, RunControl &control) const;

private:
  struct Step {
    uint32_t index;            // in the list
    const GuardKernel *kernel; // null: a copy
    int64_t extent;
    Vector<void *> pointers; // of a copy: source, target
    Vector<int64_t> parameters;
    const char *label;
  };
  void run(const Step &step, RunControl &control) const;
  void addDispatch(const CommandList &list, const Command &command, Step &step);

  Vector<Step> steps;
  Vector<GuardMemory::Range> ranges;
  std::deque<CommandList::Blob> blobs; // which stay where they are
  void *scratch;
};

class GuardQueue {
public:
  GuardQueue(GuardMemory &memory, const QueueOptions &options)
      : memory(memory), scratch(options.scratch),
        scratchBytes(options.scratchBytes) {}
  ~GuardQueue();
  Status start();

  using Task = std::function<Status()>;
  void give(Task task);
  void copy(CopyKind kind, DeviceAddress to, DeviceAddress from, uint64_t size);
  void submit(std::shared_ptr<const GuardWork> work, RunControl &control);
  std::shared_ptr<const GuardWork> prepare(const CommandList &list,
                                           CommandRange range,
                                           const LoopCounters &counters) const {
    return makeShared<GuardWork>(list, range, counters, scratch.pointer(),
                                 scratchBytes);
  }
  void finish();
  /// What it could not do, which is a fault of the caller's.
  Status error();

private:
  void serve();

  GuardMemory &memory;
  const DeviceAddress scratch;
  const uint64_t scratchBytes; // of one worker; there is one
  std::thread thread;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Task> tasks;
  bool isWorking = false, quit = false;
  Status firstError;
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_DEVICES_GUARD_GUARDQUEUE_H
