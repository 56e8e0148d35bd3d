// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The half of BoundCall that looks at the caller's tensors.

#include "BoundCall.h"
#include "EntryPieces.h"
#include "IndexVerifier.h"
#include "Session.h"
#include "TensorShape.h"
#include "ashlar/runtime/kernel_abi.h"

#include <cstring>

namespace ashlar::runtime {

Status BoundCall::bind(ConstTensorSpan inputs, TensorSpan outputs) {
  usable = false;
  ASHLAR_RETURN_IF_ERROR(checkInputs(inputs));
  ASHLAR_RETURN_IF_ERROR(readSymbols(inputs));
  ASHLAR_RETURN_IF_ERROR(checkDerivedShapes(entry, inputs, symbols.data()));
  ASHLAR_RETURN_IF_ERROR(checkOutputs(outputs));
  ASHLAR_RETURN_IF_ERROR(checkOverlap());
  if (!resolved) {
    ASHLAR_RETURN_IF_ERROR(resolve());
    resolved = true;
  }
  ASHLAR_RETURN_IF_ERROR(placeInputs(inputs));
  ASHLAR_RETURN_IF_ERROR(placeOutputs(outputs));
  ASHLAR_RETURN_IF_ERROR(patchAddresses());
  usable = true;
  return {};
}

/// Of an argument that the caller says is a device's.
Status BoundCall::checkDevice(Argument &argument, const String &place) {
  ashlar_device_t &device = *argument.device;
  if (!session.moduleOf().runtime->owns(device))
    return invalidArgument(concat("the tensor lives on ", device.name,
                                  " of another runtime; expected host memory "
                                  "or a device that ashlar_device_open gives "
                                  "of the session's"),
                           place);
  // Parts of a device have one memory.
  argument.device = device.usesHostMemory() ? nullptr : &device.whole;
  return argument.device ? session.reach(device.whole) : Status();
}

Status BoundCall::checkInput(const ashlar_tensor_t &tensor, uint32_t index) {
  const fb::TensorDescription &wanted = *entry.entry->inputs()->Get(index);
  auto at = [&] { return placeOf("inputs", index, wanted); };
  uint64_t bytes = 0;
  ASHLAR_RETURN_IF_ERROR(checkShape(entry, tensor, index, bytes));
  bytes = wanted.state_bytes().value_or(bytes);
  if (tensor.capacity < bytes)
    return invalidArgument(
        concat("the shape ", shapeText(tensor.shape, tensor.rank), " needs ",
               bytes, " bytes, capacity is ", tensor.capacity),
        at());
  if (!tensor.data && bytes != 0)
    return invalidArgument("data is NULL", at());
  Argument &argument = inputArguments[index];
  argument.bytes = bytes;
  argument.caller = tensor.data;
  argument.device = tensor.device;
  if (argument.device)
    ASHLAR_RETURN_IF_ERROR(checkDevice(argument, at()));
  if (wanted.state_bytes() && !usableInPlace(argument))
    return invalidArgument("it is a state; expected memory that is aligned to "
                           "64 bytes, where the module's inputs are",
                           at());
  return {};
}

/// A state stays where it is.
Status BoundCall::placeState(ashlar_tensor_t &tensor, uint32_t index,
                             uint32_t input) {
  const Argument &before = inputArguments[input];
  if (tensor.data && tensor.data != before.caller)
    return invalidArgument(
        concat("it is the state that input ", input, ", '",
               entry.entry->inputs()->Get(input)->name()->string_view(),
               "', becomes; give it that input's data, or NULL"),
        placeOf("outputs", index, outputOf(index)));
  if (!tensor.data)
    tensor.capacity = before.bytes;
  tensor.data = before.caller;
  return {};
}

Status BoundCall::checkInputs(ConstTensorSpan inputs) {
  ASHLAR_RETURN_IF_ERROR(checkCount(entry, inputs));
  for (uint32_t i = 0; i < inputs.count; ++i)
    ASHLAR_RETURN_IF_ERROR(checkInput(inputs.tensors[i], i));
  return {};
}

/// What was resolved for other sizes is so no longer, whatever comes next.
Status BoundCall::readSymbols(ConstTensorSpan inputs) {
  ASHLAR_RETURN_IF_ERROR(runtime::readSymbols(entry, inputs, nextSymbols));
  if (nextSymbols != symbols)
    resolved = false;
  // Both keep their memory: a call of the same sizes allocates nothing.
  symbols.swap(nextSymbols);
  return resolved
             ? Status()
             : findPiece(session.index(), entry.pieces, symbols.data(), piece);
}

const fb::TensorDescription &BoundCall::outputOf(uint32_t index) const {
  return *outputsOf(*entry.entry, *piece)->Get(index);
}

Status BoundCall::checkOutputs(TensorSpan outputs) {
  if (outputs.count != outputArguments.size())
    return invalidArgument(concat("entry ", entry.entry->name()->string_view(),
                                  " gives ", outputArguments.size(),
                                  " outputs, found room for ", outputs.count),
                           "outputs");
  if (!outputs.tensors && outputs.count)
    return invalidArgument("outputs is NULL", "outputs");
  for (uint32_t i = 0; i < outputs.count; ++i) {
    const fb::TensorDescription &given = outputOf(i);
    ashlar_tensor_t &tensor = outputs.tensors[i];
    Argument &argument = outputArguments[i];
    if (auto input = given.state_input()) {
      ASHLAR_RETURN_IF_ERROR(placeState(tensor, i, *input));
      tensor.device = inputArguments[*input].device;
    }
    auto at = [&] { return placeOf("outputs", i, given); };
    if (!evaluateShape(given, symbols.data(), argument.shape, argument.bytes))
      return corrupt("the shape overflows for these inputs", at());
    std::memcpy(argument.bound, argument.shape, sizeof(argument.bound));
    argument.caller = tensor.data;
    argument.device = tensor.data ? tensor.device : nullptr;
    if (!tensor.data)
      continue;
    if (argument.device)
      ASHLAR_RETURN_IF_ERROR(checkDevice(argument, at()));
    if (tensor.type != ASHLAR_TYPE_NONE &&
        tensor.type != uint32_t(given.type()))
      return invalidArgument(
          concat("expected elements of type ",
                 ashlar_element_type_name(uint32_t(given.type())), ", found ",
                 ashlar_element_type_name(tensor.type)),
          at());
    if (tensor.capacity < argument.bytes)
      return invalidArgument(concat("capacity is ", tensor.capacity,
                                    " bytes, the result needs ",
                                    argument.bytes),
                             at());
  }
  return {};
}

static bool overlap(const void *a, uint64_t aBytes, const void *b,
                    uint64_t bBytes) {
  uintptr_t x = reinterpret_cast<uintptr_t>(a);
  uintptr_t y = reinterpret_cast<uintptr_t>(b);
  return aBytes != 0 && bBytes != 0 &&
         (x <= y ? y - x < aBytes : x - y < bBytes);
}

Status BoundCall::checkOverlap() const {
  for (size_t i = 0; i < outputArguments.size(); ++i) {
    const Argument &output = outputArguments[i];
    if (!output.caller)
      continue;
    auto meets = [&](const Argument &other) {
      return other.caller && other.device == output.device &&
             overlap(output.caller, output.bytes, other.caller, other.bytes);
    };
    auto refuse = [&](const char *what, size_t j,
                      const fb::TensorDescription &other) {
      return invalidArgument(concat("it shares memory with ", what, " ", j,
                                    ", '", other.name()->string_view(),
                                    "'; give it memory of its own"),
                             placeOf("outputs", i, outputOf(uint32_t(i))));
    };
    auto state = outputOf(uint32_t(i)).state_input();
    for (uint32_t j = 0; j < inputArguments.size(); ++j)
      if (state != flatbuffers::Optional<uint32_t>(j) &&
          meets(inputArguments[j]))
        return refuse("input", j, *entry.entry->inputs()->Get(j));
    for (uint32_t j = 0; j < i; ++j)
      if (meets(outputArguments[j]))
        return refuse("output", j, outputOf(j));
  }
  return {};
}

bool BoundCall::usableInPlace(const Argument &argument) const {
  if (argument.device ? argument.device != &session.home().whole
                      : !session.home().usesHostMemory())
    return false;
  return reinterpret_cast<uintptr_t>(argument.caller) %
             ASHLAR_KERNEL_BUFFER_ALIGNMENT ==
         0;
}

Status BoundCall::placeInputs(ConstTensorSpan inputs) {
  for (uint32_t i = 0; i < inputs.count; ++i) {
    Argument &argument = inputArguments[i];
    argument.base = {argument.caller, 0};
    argument.isStaged = argument.bytes != 0 && !usableInPlace(argument);
    if (argument.isStaged)
      ASHLAR_RETURN_IF_ERROR(
          session.stagingInput(entry, i, argument.bytes, argument.base));
  }
  return {};
}

Status BoundCall::placeOutputs(TensorSpan outputs) {
  for (uint32_t i = 0; i < outputs.count; ++i) {
    const fb::TensorDescription &given = outputOf(i);
    ashlar_tensor_t &tensor = outputs.tensors[i];
    Argument &argument = outputArguments[i];
    uint64_t capacity = tensor.capacity;
    argument.isOwned = !argument.caller;
    if (argument.isOwned) {
      ASHLAR_RETURN_IF_ERROR(session.ownedOutput(entry, i, argument.bytes,
                                                 argument.caller, capacity));
      if (capacity < argument.bytes)
        return corrupt("the shape exceeds the module's own largest",
                       placeOf("outputs", i, given));
    }
    argument.base = {argument.caller, 0};
    argument.isStaged = argument.bytes != 0 && !usableInPlace(argument);
    if (argument.isStaged)
      ASHLAR_RETURN_IF_ERROR(
          session.stagingOutput(entry, i, argument.bytes, argument.base));
    tensor.data = argument.caller;
    if (argument.isOwned)
      tensor.device = nullptr;
    tensor.capacity = capacity;
    tensor.type = uint32_t(given.type());
    tensor.rank = uint32_t(count(given.shape()));
    std::memcpy(tensor.shape, argument.shape, sizeof(tensor.shape));
  }
  return {};
}

} // namespace ashlar::runtime
