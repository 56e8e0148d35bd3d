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

void CpuQueue::walkAlone(const Walk &walk) {
  const CommandList &list = walk.list;
  for (size_t i = walk.begin; i < walk.last && !walk.control.stopped(); ++i) {
    if (walk.sequencer && (i = walk.sequencer->settle(i)) >= walk.last)
      return;
    int64_t parts = partsOf(list.commands[i]);
    if (parts == 0 || list.commands[i].kind == Command::Barrier)
      continue;
    int64_t piece =
        walk.control.deadlineTime()
            ? (parts + piecesBeforeDeadline - 1) / piecesBeforeDeadline
            : parts;
    for (int64_t at = 0; at < parts && !walk.control.stopped(); at += piece)
      runPart(walk, i, at, std::min(at + piece, parts), 0);
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

static bool isWork(const Command &command) {
  return command.kind == Command::Dispatch || command.kind == Command::Copy;
}

void CpuQueue::walkTeam(void *opaque, uint32_t worker) {
  auto &walk = *static_cast<Walk *>(opaque);
  CpuQueue &queue = walk.queue;
  size_t segment = walk.begin;
  for (size_t i = segment; i < walk.last;) {
    if (isWork(walk.list.commands[i])) {
      queue.share(walk, i++, worker);
      continue;
    }
    // Everybody has left the segment, so its cursors serve the next run, or
    // the next iteration.
    queue.team.barrier([&] {
      queue.resetCursors(segment, i);
      walk.begin = walk.next(i);
    });
    // Nobody writes it before all have come to the next barrier.
    segment = i = walk.begin;
  }
}

void CpuQueue::walkShare(void *opaque, uint32_t share) {
  auto &walk = *static_cast<Walk *>(opaque);
  for (size_t i = walk.begin; i < walk.end; ++i)
    walk.queue.share(walk, i, share);
}

void CpuQueue::walkExecutor(Walk &walk) {
  const CommandList &list = walk.list;
  while (walk.begin < walk.last && !walk.control.stopped()) {
    walk.end = walk.begin;
    while (walk.end < walk.last && isWork(list.commands[walk.end]))
      ++walk.end;
    if (walk.end == walk.begin + 1 && partsOf(list.commands[walk.begin]) <= 1)
      walkShare(&walk, 0);
    else if (walk.end != walk.begin)
      executor.run(executor.context, workers, walkShare, &walk);
    resetCursors(walk.begin, walk.end);
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

void CpuQueue::walkTogether(Walk &walk) {
  reserveCursors(walk.list.commands.size());
  CommandRange part = {walk.begin, walk.last};
  if (hasExecutor)
    walkExecutor(walk);
  else
    team.run(walkTeam, &walk);
  // Those of the last segment, and all when a run was stopped.
  resetCursors(part.begin, part.end);
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
