// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The half of Session that gives commands to its queues. Between two commands
// of control flow, what follows each other on one device is one submission. The
// host waits where a byte decides, where one device goes on behind another that
// cannot wait for it by itself, and at the end.

#include "IndexVerifier.h"
#include "Session.h"

namespace ashlar::runtime {

namespace {
/// Follows one list once.
class ListRun : public ConditionReader {
public:
  ListRun(Session &session, const CommandList &list, RunControl &control,
          GraphCache &graphs)
      : session(session), list(list), control(control), graphs(graphs),
        sequencer(list, control, this) {}

  Status run();
  bool isSet(const Command &command) override;

private:
  Status waitTurn(Session::Queue &queue);
  Status submit(Session::Queue &queue, CommandRange range, bool isFixed);
  Status submitFrom(size_t &at);
  Status transfer(const Command &command, size_t at);
  bool othersPending(const Session::Queue &queue) const;

  Session &session;
  const CommandList &list;
  RunControl &control;
  GraphCache &graphs;
  Sequencer sequencer;
  Status failed; // of what decides: isSet cannot return it
};
} // namespace

/// Everything before it is finished on all devices.
bool ListRun::isSet(const Command &command) {
  Session::Queue &home = session.homeQueue();
  char byte = 0;
  for (Session::Queue &queue : session.queues)
    if (&queue != &home && failed.ok())
      failed = session.finish(queue);
  if (failed.ok())
    failed =
        session.readBack(home, list.addresses[command.firstPointer], &byte, 1);
  if (!failed.ok())
    control.cancel();
  return byte != 0;
}

bool ListRun::othersPending(const Session::Queue &queue) const {
  for (const Session::Queue &each : session.queues)
    if (&each != &queue && each.isPending)
      return true;
  return false;
}

/// Behind what other devices were given before the last barrier.
Status ListRun::waitTurn(Session::Queue &queue) {
  for (Session::Queue &other : session.queues)
    if (&other != &queue && other.isPending && !list.isOrdered &&
        other.epoch < session.epoch)
      ASHLAR_RETURN_IF_ERROR(session.order(queue, other));
  return {};
}

Status ListRun::submit(Session::Queue &queue, CommandRange range,
                       bool isFixed) {
  const DeviceOps &ops = queue.device.ops;
  void *graph = nullptr;
  // Labels of a trace are the list's.
  if (isFixed && ops.capture && !control.trace)
    ASHLAR_RETURN_IF_ERROR(session.answer(
        queue, graphs.find(ops, queue.handle, list, range, graph)));
  session.begin(queue);
  return session.answer(
      queue, graph ? ops.launch(queue.handle, graph, control)
                   : ops.submit(queue.handle,
                                {list, range, control, sequencer.counters()}));
}

/// As many commands of one device as there are.
Status ListRun::submitFrom(size_t &at) {
  Session::Queue &queue = session.queues[list.commands[at].device];
  bool isAlone = list.isOrdered || !othersPending(queue);
  bool hasBarrier = false, isFixed = true;
  CommandRange range = {at, at};
  for (; range.end < list.commands.size(); ++range.end) {
    const Command &command = list.commands[range.end];
    bool isBarrier = command.kind == Command::Barrier;
    if (!command.isSubmitted() ||
        (isBarrier ? !isAlone : command.device != list.commands[at].device))
      break;
    hasBarrier |= isBarrier;
    isFixed &= isBarrier || command.loop == Command::none;
  }
  ASHLAR_RETURN_IF_ERROR(waitTurn(queue));
  ASHLAR_RETURN_IF_ERROR(submit(queue, range, isFixed));
  session.epoch += hasBarrier;
  at = range.end;
  return {};
}

Status ListRun::transfer(const Command &command, size_t at) {
  Session::Queue &from = session.queues[command.target],
                 &to = session.queues[command.device];
  bool fromHost = from.device.usesHostMemory(),
       toHost = to.device.usesHostMemory();
  session.countTransfer(uint64_t(command.extent));
  Trace *trace = control.trace.get();
  uint64_t start = trace ? trace->now() : 0;
  ASHLAR_RETURN_IF_ERROR(waitTurn(fromHost ? to : from));
  if (!fromHost && !toHost)
    ASHLAR_RETURN_IF_ERROR(waitTurn(to));
  ASHLAR_RETURN_IF_ERROR(session.move(
      &to, list.addresses[command.firstPointer + 1], &from,
      list.addresses[command.firstPointer], uint64_t(command.extent)));
  if (trace)
    trace->record(list.labels[at], 0, start, trace->now());
  return {};
}

Status ListRun::run() {
  const Vector<Command> &commands = list.commands;
  for (size_t i = 0; failed.ok() && !control.stopped();) {
    size_t next = sequencer.settle(i);
    // What follows control flow starts after all that came before.
    session.epoch += next != i;
    i = next;
    if (i >= commands.size())
      break;
    const Command &command = commands[i];
    switch (command.kind) {
    case Command::Barrier:
      ++session.epoch;
      ++i;
      break;
    case Command::Transfer:
      ASHLAR_RETURN_IF_ERROR(transfer(command, i++));
      break;
    case Command::Order:
      ASHLAR_RETURN_IF_ERROR(session.order(session.queues[command.device],
                                           session.queues[command.target]));
      ++i;
      break;
    default:
      ASHLAR_RETURN_IF_ERROR(submitFrom(i));
    }
  }
  return failed;
}

Status Session::submitList(const CommandList &list, RunControl &control,
                           GraphCache &graphs) {
  return ListRun(*this, list, control, graphs).run();
}

} // namespace ashlar::runtime
