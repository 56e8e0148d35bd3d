// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CpuQueue.h"

#include "../../Trace.h"
#include "ashlar/runtime/kernel_abi.h"

#include <algorithm>
#include <cstring>

namespace ashlar::runtime {

// Copies are split like kernels; a piece this large hides the cost of taking
// it.
static constexpr int64_t copyPieceBytes = 256 * 1024;

// Pieces a worker takes of each command: more even out workers that were
// interrupted, fewer cost less to take.
static constexpr int64_t piecesPerWorker = 4;

// Pieces of a kernel for a worker that is alone and has a deadline.
static constexpr int64_t piecesBeforeDeadline = 16;

// What it costs a run to have others help: two lines of memory that go there
// and back, 0.4 us each on a Zen 4, and what they touch; and to wake them where
// they sleep, a call of the kernel. It goes on meanwhile.
static constexpr uint64_t cyclesToJoin = 4000, cyclesToWake = 16000;

CpuQueue::CpuQueue(const QueueOptions &options)
    : workers(options.workers), hasExecutor(options.executor != nullptr),
      executor(options.executor ? *options.executor : ashlar_executor_t()),
      scratch(static_cast<char *>(options.scratch.pointer())),
      scratchBytes(options.scratchBytes) {}

Status CpuQueue::start() {
  return hasExecutor ? Status() : team.start(workers);
}

static int64_t partsOf(const Command &command) {
  return command.kind == Command::Copy
             ? (command.extent + copyPieceBytes - 1) / copyPieceBytes
             : command.extent;
}

void CpuQueue::runPart(const Walk &walk, size_t index, int64_t begin,
                       int64_t end, uint32_t worker) {
  const CommandList &list = walk.list;
  RunControl &control = walk.control;
  const Command &command = list.commands[index];
  void *const *pointers = list.pointers.data() + command.firstPointer;
  uint64_t start = control.trace ? control.trace->now() : 0;
  if (command.kind == Command::Copy) {
    int64_t from = begin * copyPieceBytes;
    int64_t to = std::min(end * copyPieceBytes, command.extent);
    auto side = [&](unsigned i) {
      return static_cast<char *>(pointers[i]) +
             walk.counters.moved(command, i) + from;
    };
    std::memcpy(side(1), side(0), size_t(to - from));
  } else {
    auto function = reinterpret_cast<ashlar_kernel_function_t>(
        const_cast<void *>(command.kernel));
    int32_t code = function(
        pointers, list.parameters.data() + command.firstParameter,
        scratchBytes ? scratch + worker * scratchBytes : nullptr, begin, end);
    if (code != ASHLAR_KERNEL_OK)
      control.fail(uint32_t(index), code);
  }
  if (control.trace)
    control.trace->record(list.labels[index], worker, start,
                          control.trace->now());
}

void CpuQueue::runAlone(const Walk &walk, size_t index) {
  int64_t parts = partsOf(walk.list.commands[index]);
  int64_t piece =
      walk.control.deadlineTime()
          ? (parts + piecesBeforeDeadline - 1) / piecesBeforeDeadline
          : parts;
  for (int64_t at = 0; at < parts && !walk.control.stopped(); at += piece)
    runPart(walk, index, at, std::min(at + piece, parts), 0);
}

static bool isWork(const Command &command) {
  return command.kind == Command::Dispatch || command.kind == Command::Copy;
}

void CpuQueue::walkAlone(const Walk &walk) {
  for (size_t i = walk.begin; i < walk.last && !walk.control.stopped(); ++i) {
    if (walk.sequencer && (i = walk.sequencer->settle(i)) >= walk.last)
      return;
    if (isWork(walk.list.commands[i]))
      runAlone(walk, i);
  }
}

void CpuQueue::share(const Walk &walk, size_t index, uint32_t worker) {
  int64_t parts = partsOf(walk.list.commands[index]);
  int64_t piece =
      std::max<int64_t>(1, parts / (int64_t(workers) * piecesPerWorker));
  std::atomic<int64_t> &next = cursors[index].next;
  // Looking first keeps late workers from writing to the line.
  while (!walk.control.stopped() &&
         next.load(std::memory_order_relaxed) < parts) {
    int64_t begin = next.fetch_add(piece, std::memory_order_relaxed);
    if (begin >= parts)
      break;
    runPart(walk, index, begin, std::min(begin + piece, parts), worker);
  }
}

void CpuQueue::resetCursors(size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i)
    cursors[i].next.store(0, std::memory_order_relaxed);
}

void CpuQueue::walkShare(void *opaque, uint32_t share) {
  auto &walk = *static_cast<Walk *>(opaque);
  for (size_t i = walk.begin; i < walk.end; ++i)
    walk.queue.share(walk, i, share);
}

/// Whether others would save more than it costs to have them.
bool CpuQueue::isWorthSharing(const Walk &walk) const {
  uint64_t total = 0, longest = 0;
  int64_t parts = 0;
  bool isKnown = true;
  for (size_t i = walk.begin; i < walk.end; ++i) {
    const Command &command = walk.list.commands[i];
    int64_t own = partsOf(command);
    parts += own;
    // What copies take is not known; those that have parts are long.
    isKnown &= command.cycles != 0 || own == 0;
    total += command.cycles;
    longest =
        std::max(longest, command.cycles /
                              uint64_t(std::clamp<int64_t>(own, 1, workers)));
  }
  if (parts < 2 || !isKnown)
    return parts >= 2;
  uint64_t saved = total - std::max(total / workers, longest);
  return saved > (hasExecutor || team.isAsleep() ? cyclesToWake : cyclesToJoin);
}

void CpuQueue::runStretch(Walk &walk) {
  if (!isWorthSharing(walk)) {
    for (size_t i = walk.begin; i < walk.end; ++i)
      runAlone(walk, i);
    return;
  }
  if (hasExecutor)
    executor.run(executor.context, workers, walkShare, &walk);
  else
    team.run(walkShare, &walk);
  resetCursors(walk.begin, walk.end);
}

void CpuQueue::walkTogether(Walk &walk) {
  const CommandList &list = walk.list;
  reserveCursors(list.commands.size());
  while (walk.begin < walk.last && !walk.control.stopped()) {
    walk.end = walk.begin;
    while (walk.end < walk.last && isWork(list.commands[walk.end]))
      ++walk.end;
    runStretch(walk);
    if (walk.end == walk.last)
      break;
    walk.begin = walk.next(walk.end);
  }
}

void CpuQueue::reserveCursors(size_t count) {
  if (count <= cursorCount)
    return;
  cursors.reset(new Cursor[count]);
  cursorCount = count;
}

inline void CpuQueue::run(Walk walk) {
  if (workers == 1 || !walk.list.parallel)
    walkAlone(walk);
  else
    walkTogether(walk);
}

void CpuQueue::submit(const Submission &given) {
  run({*this, given.list, given.control, given.counters, nullptr,
       given.range.begin, given.range.begin, given.range.end});
}

void CpuQueue::follow(Sequencer &sequencer) {
  const CommandList &list = sequencer.list;
  run({*this, list, sequencer.control, sequencer.counters(),
       list.structured ? &sequencer : nullptr, 0, 0, list.commands.size()});
}

} // namespace ashlar::runtime
