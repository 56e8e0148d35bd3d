// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walks command lists: the thread that runs a session goes from barrier to
// barrier. Between two, it calls each kernel once, with all its groups, where
// it is alone or where others would cost more than they help. What is worth it
// is shared: its own team, or the embedder's threads, take chunks of each
// command's groups. None of them waits for another.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_CPU_CPUQUEUE_H
#define ASHLAR_RUNTIME_LIB_DEVICES_CPU_CPUQUEUE_H

#include "../../OwnMemory.h"
#include "../Device.h"
#include "../Sequencer.h"
#include "WorkerTeam.h"

namespace ashlar::runtime {

/// One thread at a time, which does the work: all is finished when a call
/// returns.
class CpuQueue {
public:
  ASHLAR_OWN_NEW
  explicit CpuQueue(const QueueOptions &options);
  /// Once, before it is used; starts the team, unless an executor is there.
  Status start();
  /// A part without control flow.
  void submit(const Submission &submission);
  /// All of the sequencer's list, its control flow included.
  void follow(Sequencer &sequencer);

private:
  /// Where the next chunk of a command starts. Alone in its cache line.
  struct alignas(64) Cursor {
    ASHLAR_OWN_NEW
    std::atomic<int64_t> next{0};
  };
  /// Work that is under way, on the caller's stack, as its helpers see it.
  struct Walk {
    CpuQueue &queue; // whose it is
    const CommandList &list;
    RunControl &control;
    const LoopCounters &counters;
    Sequencer *sequencer; // null: there is no control flow
    size_t begin;         // of what is to be done now
    size_t end;           // of what is to be done now
    size_t last;          // of all that is to be done

    /// Where to go on after everything before `at`, a barrier or control flow,
    /// is finished.
    size_t next(size_t at) const {
      return sequencer ? sequencer->settle(at + !list.commands[at].isControl())
                       : at + 1;
    }
  };

  /// What a helper does: chunks of each command from `begin` to `end`, which
  /// need no order.
  static void walkShare(void *walk, uint32_t share);
  /// With helpers or without.
  void run(Walk walk);
  /// All of it, in order, on this thread.
  void walkAlone(const Walk &walk);
  /// From barrier to barrier, each stretch shared where that is worth it.
  void walkTogether(Walk &walk);
  /// Commands from `begin` to `end`, finished when it returns.
  void runStretch(Walk &walk);
  bool isWorthSharing(const Walk &walk) const;
  /// One command; in pieces where there is a deadline.
  void runAlone(const Walk &walk, size_t index);
  /// One command's chunks, as long as there are any. Any number of workers at a
  /// time.
  void share(const Walk &walk, size_t index, uint32_t worker);
  /// Groups [begin, end) of a dispatch, or such pieces of a copy. A kernel's
  /// failure goes to the control.
  void runPart(const Walk &walk, size_t index, int64_t begin, int64_t end,
               uint32_t worker);
  /// There are so many, all at the beginning.
  void reserveCursors(size_t count);
  /// These are at the beginning. No worker is at work.
  void resetCursors(size_t begin, size_t end);

  const uint32_t workers;           // at least 1, the caller's thread included
  const bool hasExecutor;           // the embedder's threads help, not the team
  const ashlar_executor_t executor; // nothing, unless it has one
  char *const scratch;              // of all workers, the session's
  const uint64_t scratchBytes;      // of one
  WorkerTeam team;                  // empty with an executor
  std::unique_ptr<Cursor[]> cursors; // one per command of the longest list
  size_t cursorCount = 0;            // so many there are
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_DEVICES_CPU_CPUQUEUE_H
