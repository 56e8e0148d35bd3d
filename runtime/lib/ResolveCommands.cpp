// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The half of BoundCall that turns the program's commands into addresses and
// numbers. Every range is checked again with the sizes of this call.

#include "BoundCall.h"
#include "CheckedMath.h"
#include "IndexVerifier.h"
#include "PlaceValues.h"
#include "Session.h"
#include "SizeExpression.h"
#include "ashlar/runtime/kernel_abi.h"

namespace ashlar::runtime {

Status BoundCall::evaluate(const fb::SizeExpression &size, int64_t &value) {
  // Tables begin at multiples of four.
  Evaluated &known =
      evaluated[reinterpret_cast<uintptr_t>(&size) / 4 % evaluated.size()];
  if (known.size == &size) {
    value = known.value;
    return {};
  }
  if (evaluateSize(size, symbols.data(), value)) {
    known = {&size, value};
    return {};
  }
  return corrupt("a size of the program overflows or is negative for these "
                 "inputs");
}

uint64_t BoundCall::storageBytes(fb::Storage storage, uint32_t index) const {
  switch (storage) {
  case fb::Storage::Input:
    return inputArguments[index].bytes;
  case fb::Storage::Output:
    return outputArguments[index].bytes;
  case fb::Storage::Weights:
    return session.index().weights()->Get(index)->size();
  default:
    return index == 0
               ? arenaBytes
               : piece->contract()->companions()->Get(index - 1)->arena_bytes();
  }
}

/// From an offset in the plan for the largest sizes to one in that for these.
Status BoundCall::moveWithBuffer(const fb::Binding &binding, int64_t size,
                                 int64_t &offset) const {
  if (!binding.buffer())
    return {};
  const ArenaValue &value = arena[binding.buffer() - 1];
  uint64_t within = uint64_t(offset) - value.planned;
  if (uint64_t(offset) < value.planned ||
      !fits(within, uint64_t(size), value.size))
    return corrupt(concat("a binding of ", size, " bytes at ", offset,
                          " leaves its value of ", value.size, " bytes at ",
                          value.planned));
  offset = int64_t(value.offset + within);
  return {};
}

/// Gives the values of the arena places for the sizes at hand.
Status BoundCall::placeArena() {
  arena.clear();
  ASHLAR_RETURN_IF_ERROR(placeValues(
      *piece,
      [&](const fb::SizeExpression &size, int64_t &value) {
        return evaluate(size, value);
      },
      arena, arenaBytes));
  return session.useArena(arenaBytes);
}

Status BoundCall::resolveBinding(const fb::Binding &binding, uint64_t &length,
                                 uint32_t device) {
  int64_t offset = 0, size = 0;
  ASHLAR_RETURN_IF_ERROR(evaluate(*binding.offset(), offset));
  ASHLAR_RETURN_IF_ERROR(evaluate(*binding.length(), size));
  ASHLAR_RETURN_IF_ERROR(moveWithBuffer(binding, size, offset));
  uint64_t limit = storageBytes(binding.storage(), binding.index());
  if (!fits(uint64_t(offset), uint64_t(size), limit))
    return corrupt(concat("a binding of ", size, " bytes at ", offset,
                          " exceeds the ", limit, " of its storage"));
  slots.push_back({binding.storage(), binding.index(), device});
  // Weights may share a place.
  uint64_t within = binding.storage() == fb::Storage::Weights
                        ? session.weight(device, binding.index()).offset
                        : 0;
  list.addresses.push_back({nullptr, uint64_t(offset) + within});
  list.extents.push_back({uint64_t(size), binding.written()});
  length = uint64_t(size);
  return {};
}

/// What the session reads itself.
Status BoundCall::resolveAtHome(const fb::Binding &binding) {
  uint64_t length;
  return resolveBinding(binding, length, homeOf(session.program()));
}

Status BoundCall::resolveDispatch(const fb::Dispatch &dispatch,
                                  Command &command) {
  command.kind = Command::Dispatch;
  command.kernel = session.kernel(dispatch.kernel());
  command.device = deviceOf(
      session.program(), *session.program().kernels()->Get(dispatch.kernel()));
  command.pointers = uint32_t(count(dispatch.bindings()));
  ASHLAR_RETURN_IF_ERROR(evaluate(*dispatch.groups(), command.extent));
  for (size_t i = 0; i < count(dispatch.parameters()); ++i) {
    int64_t value;
    ASHLAR_RETURN_IF_ERROR(
        evaluate(*dispatch.parameters()->Get(uint32_t(i)), value));
    list.parameters.push_back(value);
  }
  for (size_t i = 0; i < count(dispatch.bindings()); ++i) {
    uint64_t length;
    ASHLAR_RETURN_IF_ERROR(resolveBinding(
        *dispatch.bindings()->Get(uint32_t(i)), length, command.device));
    uint64_t offset = list.addresses.back().offset;
    if (offset % ASHLAR_KERNEL_BUFFER_ALIGNMENT)
      return corrupt(concat("binding ", i, " starts at ", offset,
                            ", which is no multiple of 64"));
  }
  const fb::Kernel &kernel =
      *session.program().kernels()->Get(dispatch.kernel());
  command.cycles = kernel.bound_cycles();
  return count(kernel.block()) || count(kernel.arguments())
             ? resolveLaunch(dispatch, kernel, command)
             : Status();
}

Status BoundCall::resolveCopy(const fb::Copy &copy, Command &command) {
  uint32_t from = deviceOf(session.program(), *copy.source()),
           to = deviceOf(session.program(), *copy.target());
  command.kind = from == to ? Command::Copy : Command::Transfer;
  command.device = to;
  command.target = from;
  uint64_t sourceBytes = 0, targetBytes = 0;
  ASHLAR_RETURN_IF_ERROR(resolveBinding(*copy.source(), sourceBytes, from));
  ASHLAR_RETURN_IF_ERROR(resolveBinding(*copy.target(), targetBytes, to));
  if (sourceBytes != targetBytes)
    return corrupt(
        concat("a copy of ", sourceBytes, " bytes to ", targetBytes));
  command.extent = int64_t(sourceBytes);
  command.strides[0] = copy.source_stride();
  command.strides[1] = copy.target_stride();
  int64_t iterations = 1;
  if (command.strides[0] || command.strides[1]) {
    command.loop = loopDepth - 1;
    iterations = loopLimit;
  }
  const Slot *ends[2] = {&slots[slots.size() - 2], &slots.back()};
  const DeviceAddress *places = &list.addresses[slots.size() - 2];
  int64_t begin[2], end[2];
  for (unsigned i = 0; i != 2; ++i) {
    uint64_t limit = storageBytes(ends[i]->storage, ends[i]->index);
    if (!sweep(places[i].offset, sourceBytes, command.strides[i], iterations,
               begin[i], end[i]) ||
        begin[i] < 0 || uint64_t(end[i]) > limit)
      return corrupt(concat("a copy that moves by ", command.strides[i],
                            " bytes leaves the ", limit, " of its storage"));
  }
  if (ends[0]->storage == ends[1]->storage &&
      ends[0]->index == ends[1]->index && sourceBytes != 0 &&
      begin[0] < end[1] && begin[1] < end[0])
    return corrupt("the ranges of a copy overlap");
  return {};
}

uint32_t BoundCall::addCommand(Command command, Origin origin) {
  constexpr int64_t smallCopy = 256 * 1024;
  list.isShared |= command.device != 0 || command.kind == Command::Transfer;
  if (command.isControl())
    list.structured = true;
  else
    list.parallel |=
        command.extent > (command.kind == Command::Copy ? smallCopy : 1);
  list.commands.push_back(command);
  origins.push_back(origin);
  return uint32_t(list.commands.size() - 1);
}

/// A control command that reads its byte at `condition`, which may be null.
Status BoundCall::addControl(Command::Kind kind, const fb::Binding *condition,
                             uint32_t &index, Origin origin) {
  Command command = {};
  command.kind = kind;
  command.extent = -1;
  command.loop = loopDepth ? loopDepth - 1 : Command::none;
  command.firstPointer = condition ? uint32_t(slots.size()) : Command::none;
  if (condition)
    ASHLAR_RETURN_IF_ERROR(resolveAtHome(*condition));
  // What decides is read where it is.
  list.isShared |= condition && homeOf(session.program()) != 0;
  index = addCommand(command, origin);
  return {};
}

Status BoundCall::resolveIf(const fb::If &branches) {
  uint32_t branch, jump;
  ASHLAR_RETURN_IF_ERROR(
      addControl(Command::Branch, branches.condition(), branch, {}));
  ASHLAR_RETURN_IF_ERROR(resolveCommands(*branches.then()));
  ASHLAR_RETURN_IF_ERROR(addControl(Command::Jump, nullptr, jump, {}));
  list.commands[branch].target = uint32_t(list.commands.size());
  ASHLAR_RETURN_IF_ERROR(resolveCommands(*branches.otherwise()));
  // It only waits for the block before it.
  uint32_t last;
  ASHLAR_RETURN_IF_ERROR(addControl(Command::Jump, nullptr, last, {}));
  list.commands[jump].target = list.commands[last].target =
      uint32_t(list.commands.size());
  return {};
}

Status BoundCall::resolveLoop(const fb::Loop &loop) {
  int64_t outerLimit = loopLimit;
  loopLimit = -1;
  if (loop.iterations())
    ASHLAR_RETURN_IF_ERROR(evaluate(*loop.iterations(), loopLimit));
  ++loopDepth;
  uint32_t enter, test, next;
  ASHLAR_RETURN_IF_ERROR(addControl(Command::LoopEnter, nullptr, enter, {}));
  ASHLAR_RETURN_IF_ERROR(
      addControl(Command::LoopTest, loop.condition(), test, {}));
  list.commands[test].extent = loopLimit;
  ASHLAR_RETURN_IF_ERROR(resolveCommands(*loop.body()));
  ASHLAR_RETURN_IF_ERROR(addControl(Command::LoopNext, nullptr, next, {}));
  list.commands[next].target = test;
  list.commands[test].target = uint32_t(list.commands.size());
  --loopDepth;
  loopLimit = outerLimit;
  return {};
}

Status BoundCall::resolveCommand(fb::Command type, const void *table) {
  Command command = {};
  command.kind = Command::Barrier;
  command.loop = command.launch = Command::none;
  command.firstPointer = uint32_t(slots.size());
  command.firstParameter = uint32_t(list.parameters.size());
  Origin origin;
  uint32_t index;
  switch (type) {
  case fb::Command::Dispatch: {
    auto *dispatch = static_cast<const fb::Dispatch *>(table);
    origin.kernel = session.program().kernels()->Get(dispatch->kernel());
    ASHLAR_RETURN_IF_ERROR(resolveDispatch(*dispatch, command));
    break;
  }
  case fb::Command::Copy:
    ASHLAR_RETURN_IF_ERROR(
        resolveCopy(*static_cast<const fb::Copy *>(table), command));
    break;
  case fb::Command::Check:
    origin.check = static_cast<const fb::Check *>(table);
    return addControl(Command::Check, origin.check->condition(), index, origin);
  case fb::Command::If:
    return resolveIf(*static_cast<const fb::If *>(table));
  case fb::Command::Loop:
    return resolveLoop(*static_cast<const fb::Loop *>(table));
  case fb::Command::Order: {
    auto *order = static_cast<const fb::Order *>(table);
    command.kind = Command::Order;
    command.device = order->device();
    command.target = order->after();
    list.isShared = list.isOrdered = true;
    break;
  }
  default:
    break;
  }
  addCommand(command, origin);
  return {};
}

template <typename Table>
Status BoundCall::resolveCommands(const Table &table) {
  for (uint32_t i = 0; i < count(table.commands()); ++i) {
    Status status = resolveCommand(fb::Command(table.commands_type()->Get(i)),
                                   table.commands()->Get(i));
    if (!status.ok())
      return corrupt(status.message(), concat("commands[", i, "]"));
  }
  return {};
}

Status BoundCall::resolve() {
  constexpr size_t sizesKept = 1024, slotsOfCommand = 4;
  graphs.clear();
  list = {};
  slots.clear();
  maps.clear();
  origins.clear();
  labelled.reset();
  evaluated.assign(sizesKept, {});
  size_t commands = count(piece->commands());
  list.commands.reserve(commands);
  origins.reserve(commands);
  slots.reserve(slotsOfCommand * commands);
  list.addresses.reserve(slotsOfCommand * commands);
  list.extents.reserve(slotsOfCommand * commands);
  loopDepth = 0;
  loopLimit = -1;
  ASHLAR_RETURN_IF_ERROR(placeArena());
  ASHLAR_RETURN_IF_ERROR(resolveCommands(*piece));
  firstSize = slots.size();
  for (uint32_t i = 0; i < count(piece->output_sizes()); ++i) {
    ASHLAR_RETURN_IF_ERROR(
        resolveAtHome(*piece->output_sizes()->Get(i)->value()));
  }
  list.pointers.resize(slots.size());
  list.blobs.reset(new CommandList::Blob[maps.size()]);
  evaluated = {};
  return {};
}

Status BoundCall::patchAddresses() {
  bool changed = !encoded;
  for (size_t i = 0; i < slots.size(); ++i) {
    const Slot &slot = slots[i];
    DeviceAddress base;
    switch (slot.storage) {
    case fb::Storage::Input:
      base = inputArguments[slot.index].base;
      break;
    case fb::Storage::Output:
      base = outputArguments[slot.index].base;
      break;
    case fb::Storage::Weights:
      base = session.weight(slot.device, slot.index);
      break;
    default:
      base = session.arena(slot.index);
      break;
    }
    DeviceAddress &address = list.addresses[i];
    changed |= address.base != base.base;
    address.base = base.base;
    list.pointers[i] = address.pointer();
  }
  return changed ? encodeMaps() : Status();
}

} // namespace ashlar::runtime
