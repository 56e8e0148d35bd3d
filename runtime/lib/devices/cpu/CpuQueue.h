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

class CpuQueue {
public:
  ASHLAR_OWN_NEW
  explicit CpuQueue(const QueueOptions &options);
  Status start();
  /// A part without control flow.
  void submit(const Submission &submission);
  void follow(Sequencer &sequencer);

private:
  /// Where the next chunk of a command starts. Alone in its cache line.
  struct alignas(64) Cursor {
    ASHLAR_OWN_NEW
    std::atomic<int64_t> next{0};
  };
  struct Walk {
    CpuQueue &queue;
    const CommandList &list;
    RunControl &control;
    const LoopCounters &counters;
    Sequencer *sequencer; // null: there is no control flow
    size_t begin;         // of what is to be done now
    size_t end;
    size_t last; // of all that is to be done

    /// Where to go on after everything before `at`, a barrier or control flow,
    /// is finished.
    size_t next(size_t at) const {
      return sequencer ? sequencer->settle(at + !list.commands[at].isControl())
                       : at + 1;
    }
  };

  static void walkShare(void *walk, uint32_t share);
  void run(Walk walk);
  void walkAlone(const Walk &walk);
  void walkTogether(Walk &walk);
  void runStretch(Walk &walk);
  bool isWorthSharing(const Walk &walk) const;
  void runAlone(const Walk &walk, size_t index);
  void share(const Walk &walk, size_t index, uint32_t worker);
  void runPart(const Walk &walk, size_t index, int64_t begin, int64_t end,
               uint32_t worker);
  void reserveCursors(size_t count);
  void resetCursors(size_t begin, size_t end);

  const uint32_t workers;
  const bool hasExecutor;
  const ashlar_executor_t executor;
  char *const scratch;
  const uint64_t scratchBytes;
  WorkerTeam team;
  std::unique_ptr<Cursor[]> cursors;
  size_t cursorCount = 0;
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_DEVICES_CPU_CPUQUEUE_H
