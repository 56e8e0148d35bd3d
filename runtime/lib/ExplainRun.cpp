// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a run says of itself: why it failed, and the names of its commands.

#include "BoundCall.h"
#include "IndexVerifier.h"
#include "Session.h"
#include "ashlar/runtime/kernel_abi.h"

#include <algorithm>

namespace ashlar::runtime {

static String nodesOf(const fb::Kernel &kernel) {
  String nodes;
  for (size_t i = 0; i < count(kernel.nodes()); ++i)
    nodes +=
        concat(i ? ", " : "", kernel.nodes()->Get(uint32_t(i))->string_view());
  return nodes;
}

Status BoundCall::explainFailure(uint32_t command, int32_t code,
                                 const String &why) const {
  // A device whose memory holds anything at all says anything at all.
  if (command >= origins.size() ||
      (!origins[command].check && !origins[command].kernel))
    return failure(ASHLAR_INTERNAL,
                   concat("the device reports failure ", code, " of command ",
                          command,
                          ", which is no kernel: its memory is not "
                          "what was written to it"));
  if (const fb::Check *check = origins[command].check)
    return failure(ASHLAR_INVALID_ARGUMENT, check->message()->str());
  const fb::Kernel &kernel = *origins[command].kernel;
  const String nodes = nodesOf(kernel);
  const char *reason = code == ASHLAR_KERNEL_INDEX_OUT_OF_RANGE
                           ? "an index lies outside its tensor"
                           : "it returned an error";
  // A wrong index comes from the caller's data.
  auto statusCode = code == ASHLAR_KERNEL_INDEX_OUT_OF_RANGE
                        ? ASHLAR_INVALID_ARGUMENT
                        : ASHLAR_INTERNAL;
  String message = concat("kernel ", kernel.name()->string_view(), " failed");
  message +=
      why.empty() ? String(concat(" with ", code, ": ", reason)) : ": " + why;
  if (!nodes.empty())
    message += concat("; it computes ", nodes);
  return Status(statusCode, std::move(message),
                String(kernel.name()->string_view()));
}

Status BoundCall::explainLoss(Status status, const RunControl &control) const {
  uint32_t first, last;
  if (status.code() != ASHLAR_DEVICE_LOST || !control.suspected(first, last))
    return status;
  // Of more, one cannot say which it was.
  constexpr unsigned most = 8;
  String message = status.message();
  unsigned found = 0;
  for (; first <= last && first < origins.size(); ++first)
    if (const fb::Kernel *kernel = origins[first].kernel;
        kernel && ++found <= most)
      message +=
          concat(found == 1 ? "; under way: kernel " : ", ",
                 kernel->name()->string_view(), " (", nodesOf(*kernel), ")");
  if (found > most)
    message += concat(" and ", found - most, " more");
  return Status(status.code(), std::move(message), String(status.place()));
}

void BoundCall::labelCommands(Trace &trace) {
  list.labels.clear();
  for (size_t i = 0; i < list.commands.size(); ++i)
    list.labels.push_back(trace.intern(
        concat(session.name, ": ",
               origins[i].kernel ? origins[i].kernel->name()->string_view()
                                 : "copy")));
}

std::string_view BoundCall::entryName() const {
  return entry.entry->name()->string_view();
}

/// On a line of the session's own, below its budget: it runs one at a time.
void Session::traceRun(const std::shared_ptr<Trace> &into,
                       const BoundCall &call, uint64_t asked, uint64_t start,
                       uint64_t end) {
  if (tracedBy.lock() != into) {
    static std::atomic<uint32_t> sessions{0};
    traceLine = into->line(options.budget->path(),
                           concat(name, ", session ", ++sessions));
    tracedBy = into;
    tracedUntil = 0;
  }
  const char *context =
      traceContext.empty() ? nullptr : into->intern(traceContext);
  // The run before may not have begun when this one was asked for.
  asked = std::max(asked, tracedUntil);
  if (start > asked)
    into->record(into->intern("wait"), traceLine, asked, start, context);
  into->record(into->intern(concat("run ", call.entryName())), traceLine, start,
               end, context);
  tracedUntil = end;
}

Session::TracedCopy::TracedCopy(const Session &session, const char *what,
                                uint64_t bytes)
    : into(session.trace()) {
  if (!into)
    return;
  label =
      into->intern(concat(session.name, ": ", what, " of ", bytes, " bytes"));
  begin = into->now();
}

Session::TracedCopy::~TracedCopy() {
  if (into)
    into->record(label, 0, begin, into->now());
}

Status stoppedStatus(const RunControl &control) {
  return failure(ASHLAR_CANCELLED, control.wasCancelled()
                                       ? "the run was cancelled"
                                       : "the run's time was over");
}

Status BoundCall::whatWentWrong(const RunControl &control) const {
  uint32_t command;
  int32_t code;
  if (control.failed(command, code))
    return explainFailure(command, code, control.failureReason());
  if (control.wasCancelled() || control.wasLate())
    return stoppedStatus(control);
  return {};
}

} // namespace ashlar::runtime
