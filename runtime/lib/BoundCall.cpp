// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "BoundCall.h"

#include "IndexVerifier.h"
#include "Session.h"

namespace ashlar::runtime {

BoundCall::BoundCall(Session &session, const ashlar_entry_t &entry)
    : session(session), entry(entry), piece(entry.pieces.front()),
      symbols(count(session.index().symbols()), -1),
      inputArguments(count(entry.entry->inputs())),
      outputArguments(count(entry.entry->outputs())) {}

Status BoundCall::copyInputs() {
  for (const Argument &input : inputArguments) {
    if (!input.isStaged)
      continue;
    ASHLAR_RETURN_IF_ERROR(
        session.copyIn(input.base, input.device, input.caller, input.bytes));
  }
  return {};
}

uint32_t BoundCall::outputRank(uint32_t index) const {
  return uint32_t(count(entry.entry->outputs()->Get(index)->shape()));
}

/// What the program has found out of its outputs' sizes.
Status BoundCall::readOutputSizes() {
  for (uint32_t i = 0; i < count(piece->output_sizes()); ++i) {
    const fb::OutputSize &size = *piece->output_sizes()->Get(i);
    Argument &output = outputArguments[size.output()];
    int64_t value = 0;
    ASHLAR_RETURN_IF_ERROR(session.readBack(session.homeQueue(),
                                            list.addresses[firstSize + i],
                                            &value, sizeof(value)));
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
  for (const Argument &output : outputArguments) {
    if (!output.isStaged)
      continue;
    ASHLAR_RETURN_IF_ERROR(session.copyOut(output.device, output.caller,
                                           output.base, output.bytes));
  }
  return {};
}

/// The session has given memory back since; places stay what they were.
Status BoundCall::regain() {
  ASHLAR_RETURN_IF_ERROR(session.regain());
  ASHLAR_RETURN_IF_ERROR(session.useArena(arenaBytes));
  for (uint32_t i = 0; i < inputArguments.size(); ++i) {
    Argument &input = inputArguments[i];
    if (input.isStaged)
      ASHLAR_RETURN_IF_ERROR(
          session.stagingInput(entry, i, input.bytes, input.base));
  }
  for (uint32_t i = 0; i < outputArguments.size(); ++i) {
    Argument &output = outputArguments[i];
    uint64_t capacity = 0;
    if (output.isOwned)
      ASHLAR_RETURN_IF_ERROR(
          session.ownedOutput(entry, i, output.bytes, output.caller, capacity));
    if (output.isStaged)
      ASHLAR_RETURN_IF_ERROR(
          session.stagingOutput(entry, i, output.bytes, output.base));
  }
  trims = session.trimCount();
  return patchAddresses();
}

/// What is left of a run on devices that return early.
Status BoundCall::finishEarly(RunControl &control) {
  bool hasSizes = firstSize != slots.size();
  if (hasSizes) {
    ASHLAR_RETURN_IF_ERROR(session.finishAll());
    ASHLAR_RETURN_IF_ERROR(whatWentWrong(control));
    ASHLAR_RETURN_IF_ERROR(readOutputSizes());
  } else {
    // Results follow the last kernel right away.
    ASHLAR_RETURN_IF_ERROR(session.gatherAtHome());
  }
  ASHLAR_RETURN_IF_ERROR(copyOutputs());
  ASHLAR_RETURN_IF_ERROR(session.finishAll());
  return hasSizes ? Status() : whatWentWrong(control);
}

inline Status BoundCall::runOnDevices(RunControl &control) {
  ASHLAR_RETURN_IF_ERROR(copyInputs());
  ASHLAR_RETURN_IF_ERROR(session.execute(list, control, graphs));
  if (session.returnsEarly())
    return finishEarly(control);
  if (control.wasStopped())
    ASHLAR_RETURN_IF_ERROR(whatWentWrong(control));
  if (firstSize != slots.size())
    ASHLAR_RETURN_IF_ERROR(readOutputSizes());
  return copyOutputs();
}

Status BoundCall::run(RunControl &control) {
  if (!usable)
    return failure(ASHLAR_INTERNAL, "the call is not bound");
  for (const ashlar_device_t *each : session.devices())
    ASHLAR_RETURN_IF_ERROR(each->status());
  if (trims != session.trimCount())
    ASHLAR_RETURN_IF_ERROR(regain());
  if (control.trace && labelled.lock() != control.trace) {
    labelCommands(*control.trace);
    labelled = control.trace;
  }
  graphs.countRun();
  Status status = runOnDevices(control);
  if (status.ok())
    return status;
  session.drain();
  return explainLoss(std::move(status), control);
}

} // namespace ashlar::runtime
