// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The half of Session that holds its memory: arenas, scratch, outputs and where
// tensors are staged.

#include "CheckedMath.h"
#include "Session.h"
#include "TensorShape.h"

#include <algorithm>

namespace ashlar::runtime {

Status Session::allocateArenas() {
  ASHLAR_RETURN_IF_ERROR(
      sessionNeeds(*module, workers, options.reserveAll, needs));
  // All that the session will be sure to have, before any of it is there.
  if (options.reserveAll)
    ASHLAR_RETURN_IF_ERROR(options.budget->charge(
        name, needs.requests(*module, true, !options.arena), /*keep=*/false));
  Vector<Budget::Request> asked =
      needs.requests(*module, false, !options.arena);
  Vector<Charge> charges(asked.size());
  for (size_t i = 0; i < asked.size(); ++i)
    asked[i].out = &charges[i];
  ASHLAR_RETURN_IF_ERROR(options.budget->charge(name, asked));
  // Arenas, then scratch.
  for (uint32_t i = 0; i < devices().size(); ++i) {
    arenas.push_back(std::make_unique<Buffer>());
    ashlar_device_t *device = devices()[deviceOfArena(program(), i)];
    uint64_t room = i == 0 ? needs.arenaRoom : 0;
    if (options.arena) {
      ASHLAR_RETURN_IF_ERROR(
          options.arena->join(*arenas[i], i, device, needs.arenas[i], room));
      continue;
    }
    ASHLAR_RETURN_IF_ERROR(
        arenas[i]->allocate({*module->runtime, device, ASHLAR_MEMORY_ARENA},
                            needs.arenas[i], std::move(charges[i]), room));
  }
  for (size_t i = 0; i < devices().size(); ++i) {
    scratch.push_back(std::make_unique<Buffer>());
    if (i != 0 && needs.scratch[i] == 0)
      continue;
    ASHLAR_RETURN_IF_ERROR(scratch[i]->allocate(
        {*module->runtime, devices()[i], ASHLAR_MEMORY_SCRATCH},
        needs.scratch[i], std::move(charges[devices().size() + i])));
  }
  return {};
}

Status Session::grow(Buffer &buffer, uint64_t bytes, uint64_t room) {
  if (bytes <= buffer.size())
    return {};
  if (options.growthStep && bytes < room)
    bytes = std::min(room, alignUp(bytes, options.growthStep));
  return buffer.grow(bytes, *options.budget, name);
}

Status Session::useArena(uint64_t bytes) {
  return grow(*arenas.front(), bytes, needs.arenaRoom);
}

Status Session::regain() {
  for (size_t i = 0; i < arenas.size(); ++i) {
    ASHLAR_RETURN_IF_ERROR(
        grow(*arenas[i], needs.arenas[i], i == 0 ? needs.arenaRoom : 0));
    ASHLAR_RETURN_IF_ERROR(grow(*scratch[i], needs.scratch[i], 0));
  }
  return {};
}

/// Calls visit(buffer, isOutput) for all that there are.
template <typename Visit>
void Session::forEachBuffer(const Visit &visit) const {
  for (const auto *list : {&arenas, &scratch})
    for (const auto &buffer : *list)
      visit(*buffer, false);
  for (const EntryBuffers &of : buffers)
    for (const auto *list : {&of.outputs, &of.stagedInputs, &of.stagedOutputs})
      for (const auto &buffer : *list)
        if (buffer)
          visit(*buffer, list == &of.outputs);
}

uint64_t Session::inUse() const {
  uint64_t bytes = 0;
  forEachBuffer([&](const Buffer &buffer, bool) { bytes += buffer.size(); });
  return bytes;
}

uint64_t Session::giveBack(bool outputsToo) {
  uint64_t bytes = 0;
  forEachBuffer([&](Buffer &buffer, bool isOutput) {
    if (outputsToo || !isOutput)
      bytes += buffer.trim();
  });
  if (bytes) {
    ++trims;
    module->runtime->logger().log(ASHLAR_LOG_DEBUG, name.c_str(),
                                  concat(bytes, " bytes were given back"));
  }
  return bytes;
}

uint64_t Session::trim() {
  waitUntilIdle();
  return giveBack(/*outputsToo=*/true);
}

/// Pieces may have outputs of fixed sizes, each of its own.
static bool isFixedOutput(const ashlar_entry_t &entry, uint32_t index) {
  return entry.pieces.size() == 1 &&
         isStatic(*entry.entry->outputs()->Get(index));
}

Status Session::makeBuffer(const fb::TensorDescription &tensor, bool isFixed,
                           ashlar_memory_kind_t kind, uint64_t bytes,
                           std::unique_ptr<Buffer> &slot) {
  int64_t shape[ASHLAR_MAX_RANK];
  uint64_t largest = 0;
  if (!maximumShape(tensor, shape, largest) || bytes > largest)
    return corrupt("a shape exceeds the module's own largest",
                   tensor.name()->str());
  if (!bufferBytes(largest, largest) || !bufferBytes(bytes, bytes))
    return corrupt("a shape has too many bytes", tensor.name()->str());
  ashlar_device_t *where =
      kind == ASHLAR_MEMORY_OUTPUTS ? module->hostMemory() : &home();
  // Where the caller chooses sizes, memory is what they need.
  if (options.reserveAll || isFixed ||
      !Buffer::growsInPlace(*module->runtime, where))
    bytes = largest;
  if (slot)
    return grow(*slot, bytes, largest);
  Charge receipt;
  ASHLAR_RETURN_IF_ERROR(
      options.budget->charge(name, {{kind, bytes, &receipt, where}}));
  auto buffer = std::make_unique<Buffer>();
  ASHLAR_RETURN_IF_ERROR(buffer->allocate({*module->runtime, where, kind},
                                          bytes, std::move(receipt), largest));
  slot = std::move(buffer);
  return {};
}

Status Session::ownedOutput(const ashlar_entry_t &entry, uint32_t index,
                            uint64_t bytes, void *&data, uint64_t &capacity) {
  auto &slot = buffers[entry.index].outputs[index];
  ASHLAR_RETURN_IF_ERROR(makeBuffer(*entry.entry->outputs()->Get(index),
                                    isFixedOutput(entry, index),
                                    ASHLAR_MEMORY_OUTPUTS, bytes, slot));
  data = slot->data();
  capacity = slot->size();
  return {};
}

Status Session::stagingInput(const ashlar_entry_t &entry, uint32_t index,
                             uint64_t bytes, DeviceAddress &data) {
  auto &slot = buffers[entry.index].stagedInputs[index];
  const fb::TensorDescription &tensor = *entry.entry->inputs()->Get(index);
  ASHLAR_RETURN_IF_ERROR(
      makeBuffer(tensor, isStatic(tensor), ASHLAR_MEMORY_STAGING, bytes, slot));
  data = slot->at();
  return {};
}

Status Session::stagingOutput(const ashlar_entry_t &entry, uint32_t index,
                              uint64_t bytes, DeviceAddress &data) {
  // What the session owns is as good a place, if kernels can write there.
  if (home().usesHostMemory()) {
    uint64_t capacity = 0;
    data.offset = 0;
    return ownedOutput(entry, index, bytes, data.base, capacity);
  }
  auto &slot = buffers[entry.index].stagedOutputs[index];
  ASHLAR_RETURN_IF_ERROR(makeBuffer(*entry.entry->outputs()->Get(index),
                                    isFixedOutput(entry, index),
                                    ASHLAR_MEMORY_STAGING, bytes, slot));
  data = slot->at();
  return {};
}

Status Session::reserveBuffers() {
  void *data;
  uint64_t capacity;
  DeviceAddress staged;
  for (const ashlar_entry_t &entry : module->entries) {
    for (uint32_t i = 0; i < count(entry.entry->outputs()); ++i) {
      ASHLAR_RETURN_IF_ERROR(ownedOutput(entry, i, 0, data, capacity));
      ASHLAR_RETURN_IF_ERROR(stagingOutput(entry, i, 0, staged));
    }
    for (uint32_t i = 0; i < count(entry.entry->inputs()); ++i)
      ASHLAR_RETURN_IF_ERROR(stagingInput(entry, i, 0, staged));
  }
  return {};
}

} // namespace ashlar::runtime
