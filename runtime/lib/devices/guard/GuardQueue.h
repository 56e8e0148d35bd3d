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
  const void *function; // machine code, of the executable
  uint32_t integers;    // of a dispatch
  /// Of which of the dispatch's addresses and numbers the function is given
  /// what; an address through a tensor map is that of its blob.
  Vector<KernelForm::Argument> arguments;
};

/// A tensor map as this device encodes it.
struct GuardTensorMap {
  void *address;                           // the tensor's first byte
  int64_t rank;                            // at most maximumRank
  int64_t sizes[TensorMap::maximumRank];   // elements, the innermost first
  int64_t strides[TensorMap::maximumRank]; // bytes
};
static_assert(sizeof(GuardTensorMap) <= sizeof(CommandList::Blob));

/// Counts records, and those that have come. Any thread.
class GuardEvent {
public:
  /// A ticket, which is complete when the queue gets there.
  uint64_t record();
  /// Tickets come in their order.
  void complete(uint64_t ticket);
  /// Of the last record when the call is made.
  uint64_t lastTicket();
  /// Whether it came within the time; UINT64_MAX is forever.
  bool wait(uint64_t ticket, uint64_t timeoutNanoseconds);

private:
  std::mutex mutex;
  std::condition_variable changed;
  uint64_t recorded = 0, come = 0; // the last of each
};

/// Commands that need nothing of their list any more.
class GuardWork {
public:
  GuardWork(const CommandList &list, CommandRange range,
            const LoopCounters &counters, void *scratch, uint64_t scratchBytes);
  /// In order, with its memory open, until the run is to stop. INTERNAL: it was
  /// to touch memory that is not allocated. A kernel's failure goes to the
  /// control.
  Status run(GuardMemory &memory, RunControl &control) const;

private:
  /// A command with all that it needs.
  struct Step {
    uint32_t index;             // in the list
    const GuardKernel *kernel;  // null: a copy
    int64_t extent;             // groups, or bytes of a copy
    Vector<void *> pointers;    // of a copy: source, target
    Vector<int64_t> parameters; // numbers of a dispatch
    const char *label;          // the trace's; null: nothing is traced
  };
  /// One of them; memory is open.
  void run(const Step &step, RunControl &control) const;
  /// What the step's kernel is given, and what it may touch.
  void addDispatch(const CommandList &list, const Command &command, Step &step);

  Vector<Step> steps;                  // in order
  Vector<GuardMemory::Range> ranges;   // all that steps touch
  std::deque<CommandList::Blob> blobs; // which stay where they are
  void *scratch;                       // of one worker; null: no kernel has any
};

/// One thread at a time gives it work; what that refers to lives until it is
/// finished.
class GuardQueue {
public:
  GuardQueue(GuardMemory &memory, const QueueOptions &options)
      : memory(memory), scratch(options.scratch),
        scratchBytes(options.scratchBytes) {}
  ~GuardQueue();
  /// Once, before it is used.
  Status start();

  /// Something to do, and what is wrong with it.
  using Task = std::function<Status()>;
  /// Behind all that it was given.
  void give(Task task);
  /// Opens the device's side meanwhile.
  void copy(CopyKind kind, DeviceAddress to, DeviceAddress from, uint64_t size);
  /// The control lives until the work is finished.
  void submit(std::shared_ptr<const GuardWork> work, RunControl &control);
  /// The list is needed until this returns; work may be submitted again and
  /// again.
  std::shared_ptr<const GuardWork> prepare(const CommandList &list,
                                           CommandRange range,
                                           const LoopCounters &counters) const {
    return makeShared<GuardWork>(list, range, counters, scratch.pointer(),
                                 scratchBytes);
  }
  /// All that it was given.
  void finish();
  /// What it could not do, which is a fault of the caller's.
  Status error();

private:
  /// What its thread does until it is to end; the rest is done before.
  void serve();

  GuardMemory &memory;         // the device's
  const DeviceAddress scratch; // the session's
  const uint64_t scratchBytes; // of one worker; there is one
  std::thread thread;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Task> tasks;               // not begun
  bool isWorking = false, quit = false; // on a task; the thread is to end
  Status firstError;                    // of all tasks
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_DEVICES_GUARD_GUARDQUEUE_H
