// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SessionNeeds.h"

#include "Buffer.h"
#include "TensorShape.h"
#include "VirtualDevice.h"
#include "ashlar/runtime/kernel_abi.h"

#include <algorithm>

namespace ashlar::runtime {

bool bufferBytes(uint64_t bytes, uint64_t &out) {
  constexpr uint64_t line = ASHLAR_KERNEL_BUFFER_ALIGNMENT;
  if (!checkedAdd(bytes, line - 1, out))
    return false;
  out -= out % line;
  return true;
}

uint32_t sessionWorkers(const Module &module, uint32_t threads) {
  const Runtime &runtime = *module.runtime;
  if (!threads)
    threads = runtime.executor() ? runtime.executor()->shares
                                 : runtime.defaultThreads();
  return module.part() ? std::min(threads, module.part()->workers) : threads;
}

Status sessionNeeds(const Module &module, uint32_t workers, bool all,
                    SessionNeeds &out) {
  size_t devices = module.devices().size();
  out = {};
  out.arenas.resize(devices);
  out.scratch.resize(devices);
  // Where memory is taken at once, there is nothing to grow into.
  all |= !Buffer::growsInPlace(*module.runtime, &module.home());
  for (const ashlar_entry_t &entry : module.entries) {
    for (const fb::ProgramEntry *piece : entry.pieces) {
      const fb::Contract &contract = *piece->contract();
      out.arenaRoom = std::max(out.arenaRoom, contract.arena_bytes());
      // Who has pieces learns with each call which one runs.
      if (all || (entry.pieces.size() == 1 && count(piece->buffers()) == 0))
        out.arenas[0] = std::max(out.arenas[0], contract.arena_bytes());
      for (uint32_t i = 1; i < devices; ++i)
        out.arenas[i] = std::max(
            out.arenas[i], contract.companions()->Get(i - 1)->arena_bytes());
    }
    if (!addTensors(entry.entry->inputs(), maximumShape, out.staging) ||
        !addTensors(entry.entry->outputs(), maximumShape, out.outputs))
      return corrupt("the sizes of inputs and outputs overflow");
  }
  for (size_t i = 0; i < devices; ++i)
    if (!checkedMultiply(module.scratchBytes(i), uint64_t(workers),
                         out.scratch[i]))
      return corrupt("the scratch of all workers overflows");
  // On other devices, what the host is to have is computed there first.
  if (!module.home().usesHostMemory() &&
      !checkedAdd(out.staging, out.outputs, out.staging))
    return corrupt("the sizes of inputs and outputs overflow");
  return {};
}

Vector<Budget::Request> SessionNeeds::requests(const Module &module, bool all,
                                               bool hasArenas) const {
  Vector<Budget::Request> list;
  for (uint32_t i = 0; i < arenas.size(); ++i)
    list.push_back({ASHLAR_MEMORY_ARENA, hasArenas ? arenas[i] : 0, nullptr,
                    module.devices()[deviceOfArena(module.program(), i)]});
  for (size_t i = 0; i < scratch.size(); ++i)
    list.push_back(
        {ASHLAR_MEMORY_SCRATCH, scratch[i], nullptr, module.devices()[i]});
  if (all) {
    list.push_back(
        {ASHLAR_MEMORY_OUTPUTS, outputs, nullptr, module.hostMemory()});
    list.push_back({ASHLAR_MEMORY_STAGING, staging, nullptr, &module.home()});
  }
  return list;
}

} // namespace ashlar::runtime
