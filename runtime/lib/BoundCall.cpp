// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "BoundCall.h"

#include "IndexVerifier.h"
#include "Session.h"
#include "ashlar/runtime/kernel_abi.h"

namespace ashlar::runtime {

BoundCall::BoundCall(Session &session, const ashlar_entry_t &entry)
    : session(session), entry(entry), piece(entry.pieces.front()),
      symbols(count(session.index().symbols()), -1),
      inputArguments(count(entry.entry->inputs())),
      outputArguments(count(entry.entry->outputs())) {}

Status BoundCall::copyInputs() {
  const ashlar_device_t &device = session.device();
  for (const Argument &input : inputArguments) {
    if (input.base == input.caller)
      continue;
    session.countStaged(input.bytes);
    ASHLAR_RETURN_IF_ERROR(
        device.ops.copyIn(device.state, input.base, input.caller, input.bytes));
  }
  return {};
}

uint32_t BoundCall::outputRank(uint32_t index) const {
  return uint32_t(count(entry.entry->outputs()->Get(index)->shape()));
}

/// What the program has found out of its outputs' sizes.
Status BoundCall::readOutputSizes() {
  const ashlar_device_t &device = session.device();
  for (uint32_t i = 0; i < count(piece->output_sizes()); ++i) {
    const fb::OutputSize &size = *piece->output_sizes()->Get(i);
    Argument &output = outputArguments[size.output()];
    int64_t value = 0;
    ASHLAR_RETURN_IF_ERROR(device.ops.copyOut(
        device.state, &value, list.pointers[firstSize + i], sizeof(value)));
    int64_t bound = output.bound[size.dimension()];
    if (value < 0 || value > bound)
      return failure(ASHLAR_INTERNAL,
                     concat("the program says that dimension ",
                            size.dimension(), " is ", value, "; it is at most ",
                            bound),
                     concat("outputs[", size.output(), "]"));
    output.shape[size.dimension()] = value;
  }
  return {};
}

Status BoundCall::copyOutputs() {
  const ashlar_device_t &device = session.device();
  for (const Argument &output : outputArguments) {
    if (output.base == output.caller)
      continue;
    session.countStaged(output.bytes);
    ASHLAR_RETURN_IF_ERROR(device.ops.copyOut(device.state, output.caller,
                                              output.base, output.bytes));
  }
  return {};
}

Status BoundCall::explainFailure(uint32_t command, int32_t code,
                                 const std::string &why) const {
  if (const fb::Check *check = origins[command].check)
    return failure(ASHLAR_INVALID_ARGUMENT, check->message()->str());
  const fb::Kernel &kernel = *origins[command].kernel;
  std::string nodes;
  for (size_t i = 0; i < count(kernel.nodes()); ++i)
    nodes +=
        concat(i ? ", " : "", kernel.nodes()->Get(uint32_t(i))->string_view());
  const char *reason = code == ASHLAR_KERNEL_INDEX_OUT_OF_RANGE
                           ? "an index lies outside its tensor"
                           : "it returned an error";
  // A wrong index comes from the caller's data.
  auto statusCode = code == ASHLAR_KERNEL_INDEX_OUT_OF_RANGE
                        ? ASHLAR_INVALID_ARGUMENT
                        : ASHLAR_INTERNAL;
  std::string message =
      concat("kernel ", kernel.name()->string_view(), " failed");
  message += why.empty() ? std::string(concat(" with ", code, ": ", reason))
                         : ": " + why;
  if (!nodes.empty())
    message += concat("; it computes ", nodes);
  return Status(statusCode, std::move(message),
                std::string(kernel.name()->string_view()));
}

void BoundCall::labelCommands(Trace &trace) {
  list.labels.clear();
  for (size_t i = 0; i < list.commands.size(); ++i)
    list.labels.push_back(trace.intern(
        concat(session.name, ": ",
               origins[i].kernel ? origins[i].kernel->name()->string_view()
                                 : "copy")));
}

/// The session has given memory back since; places stay what they were.
Status BoundCall::regain() {
  ASHLAR_RETURN_IF_ERROR(session.regain());
  ASHLAR_RETURN_IF_ERROR(session.useArena(arenaBytes));
  for (uint32_t i = 0; i < inputArguments.size(); ++i) {
    Argument &input = inputArguments[i];
    if (input.base != input.caller)
      ASHLAR_RETURN_IF_ERROR(
          session.stagingInput(entry, i, input.bytes, input.base));
  }
  for (uint32_t i = 0; i < outputArguments.size(); ++i) {
    Argument &output = outputArguments[i];
    uint64_t capacity = 0;
    if (output.isOwned)
      ASHLAR_RETURN_IF_ERROR(
          session.ownedOutput(entry, i, output.bytes, output.caller, capacity));
    if (output.base != output.caller)
      ASHLAR_RETURN_IF_ERROR(
          session.stagingOutput(entry, i, output.bytes, output.base));
  }
  trims = session.trimCount();
  return {};
}

Status stoppedStatus(const RunControl &control) {
  return failure(ASHLAR_CANCELLED, control.wasCancelled()
                                       ? "the run was cancelled"
                                       : "the run's time was over");
}

Status BoundCall::run(RunControl &control) {
  if (!usable)
    return failure(ASHLAR_INTERNAL, "the call is not bound");
  ashlar_device_t &device = session.device();
  for (const ashlar_device_t *each : session.devices())
    ASHLAR_RETURN_IF_ERROR(each->status());
  if (trims != session.trimCount())
    ASHLAR_RETURN_IF_ERROR(regain());
  control.trace = session.trace();
  if (control.trace && labelled.lock() != control.trace) {
    labelCommands(*control.trace);
    labelled = control.trace;
  }
  Status status = copyInputs();
  if (!status.ok())
    return session.lose(device, status);
  status = session.execute(list, control);
  if (!status.ok())
    return status;
  uint32_t command;
  int32_t code;
  if (control.failed(command, code))
    return explainFailure(command, code, control.failureReason());
  if (control.wasCancelled() || control.wasLate())
    return stoppedStatus(control);
  ASHLAR_RETURN_IF_ERROR(readOutputSizes());
  status = copyOutputs();
  if (!status.ok())
    return session.lose(device, status);
  return {};
}

} // namespace ashlar::runtime
