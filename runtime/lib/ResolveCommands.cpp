// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The half of BoundCall that turns the program's commands into addresses and
// numbers. Every range is checked again with the sizes of this call.

#include "BoundCall.h"
#include "CheckedMath.h"
#include "IndexVerifier.h"
#include "Session.h"
#include "SizeExpression.h"
#include "ashlar/runtime/kernel_abi.h"

namespace ashlar::runtime {

Status BoundCall::evaluate(const fb::SizeExpression &size,
                           int64_t &value) const {
  if (evaluateSize(size, symbols.data(), value))
    return {};
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
    return entry.program->contract()->arena_bytes();
  }
}

Status BoundCall::resolveBinding(const fb::Binding &binding, uint64_t &length) {
  int64_t offset = 0, size = 0;
  ASHLAR_RETURN_IF_ERROR(evaluate(*binding.offset(), offset));
  ASHLAR_RETURN_IF_ERROR(evaluate(*binding.length(), size));
  uint64_t limit = storageBytes(binding.storage(), binding.index());
  if (!fits(uint64_t(offset), uint64_t(size), limit))
    return corrupt(concat("a binding of ", size, " bytes at ", offset,
                          " exceeds the ", limit, " of its storage"));
  slots.push_back({binding.storage(), binding.index(), uint64_t(offset)});
  length = uint64_t(size);
  return {};
}

Status BoundCall::resolveDispatch(const fb::Dispatch &dispatch,
                                  Command &command) {
  command.kind = Command::Dispatch;
  command.kernel = session.kernel(dispatch.kernel());
  ASHLAR_RETURN_IF_ERROR(evaluate(*dispatch.groups(), command.extent));
  for (size_t i = 0; i < count(dispatch.parameters()); ++i) {
    int64_t value;
    ASHLAR_RETURN_IF_ERROR(
        evaluate(*dispatch.parameters()->Get(uint32_t(i)), value));
    list.parameters.push_back(value);
  }
  for (size_t i = 0; i < count(dispatch.bindings()); ++i) {
    uint64_t length;
    ASHLAR_RETURN_IF_ERROR(
        resolveBinding(*dispatch.bindings()->Get(uint32_t(i)), length));
    if (slots.back().offset % ASHLAR_KERNEL_BUFFER_ALIGNMENT)
      return corrupt(concat("binding ", i, " starts at ", slots.back().offset,
                            ", which is no multiple of 64"));
  }
  return {};
}

Status BoundCall::resolveCopy(const fb::Copy &copy, Command &command) {
  command.kind = Command::Copy;
  uint64_t sourceBytes = 0, targetBytes = 0;
  ASHLAR_RETURN_IF_ERROR(resolveBinding(*copy.source(), sourceBytes));
  ASHLAR_RETURN_IF_ERROR(resolveBinding(*copy.target(), targetBytes));
  if (sourceBytes != targetBytes)
    return corrupt(
        concat("a copy of ", sourceBytes, " bytes to ", targetBytes));
  const Slot &source = slots[slots.size() - 2], &target = slots.back();
  if (source.storage == target.storage && source.index == target.index &&
      sourceBytes != 0 && source.offset < target.offset + targetBytes &&
      target.offset < source.offset + sourceBytes)
    return corrupt("the ranges of a copy overlap");
  command.extent = int64_t(sourceBytes);
  return {};
}

Status BoundCall::resolve() {
  const fb::ProgramEntry &program = *entry.program;
  list = {};
  slots.clear();
  kernels.clear();
  labelled.reset();
  for (size_t i = 0; i < count(program.commands()); ++i) {
    const void *table = program.commands()->Get(uint32_t(i));
    Command command = {};
    command.kind = Command::Barrier;
    command.firstPointer = uint32_t(slots.size());
    command.firstParameter = uint32_t(list.parameters.size());
    const fb::Kernel *kernel = nullptr;
    Status status;
    switch (fb::Command(program.commands_type()->Get(uint32_t(i)))) {
    case fb::Command::Dispatch: {
      auto *dispatch = static_cast<const fb::Dispatch *>(table);
      kernel = session.program().kernels()->Get(dispatch->kernel());
      status = resolveDispatch(*dispatch, command);
      break;
    }
    case fb::Command::Copy:
      status = resolveCopy(*static_cast<const fb::Copy *>(table), command);
      break;
    default:
      break;
    }
    if (!status.ok())
      return corrupt(status.message(), concat("commands[", i, "]"));
    constexpr int64_t smallCopy = 256 * 1024;
    list.parallel |=
        command.extent > (command.kind == Command::Copy ? smallCopy : 1);
    list.commands.push_back(command);
    kernels.push_back(kernel);
  }
  list.pointers.resize(slots.size());
  return {};
}

void BoundCall::patchAddresses() {
  for (size_t i = 0; i < slots.size(); ++i) {
    const Slot &slot = slots[i];
    void *base = nullptr;
    switch (slot.storage) {
    case fb::Storage::Input:
      base = inputArguments[slot.index].base;
      break;
    case fb::Storage::Output:
      base = outputArguments[slot.index].base;
      break;
    case fb::Storage::Weights:
      base = session.weight(slot.index);
      break;
    default:
      base = session.arena();
      break;
    }
    list.pointers[i] = base ? static_cast<char *>(base) + slot.offset : nullptr;
  }
}

} // namespace ashlar::runtime
