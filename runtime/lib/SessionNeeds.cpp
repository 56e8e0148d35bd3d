// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SessionNeeds.h"

#include "Buffer.h"
#include "TensorShape.h"
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

uint32_t sessionWorkers(const Runtime &runtime, uint32_t threads) {
  const ashlar_executor_t *executor = runtime.executor();
  return threads    ? threads
         : executor ? executor->shares
                    : runtime.defaultThreads();
}

Status sessionNeeds(const Module &module, uint32_t workers, bool all,
                    SessionNeeds &out) {
  out = {};
  out.otherArenas.resize(module.devices().size() - 1);
  // Where memory is taken at once, there is nothing to grow into.
  all |= !Buffer::growsInPlace(*module.runtime, &module.device());
  for (const ashlar_entry_t &entry : module.entries) {
    for (const fb::ProgramEntry *piece : entry.pieces) {
      const fb::Contract &contract = *piece->contract();
      out.arenaRoom = std::max(out.arenaRoom, contract.arena_bytes());
      // Who has pieces learns with each call which one runs.
      if (all || (entry.pieces.size() == 1 && count(piece->buffers()) == 0))
        out.arena = std::max(out.arena, contract.arena_bytes());
      for (uint32_t i = 0; i < out.otherArenas.size(); ++i)
        out.otherArenas[i] = std::max(
            out.otherArenas[i], contract.companions()->Get(i)->arena_bytes());
    }
    if (!addTensors(entry.entry->inputs(), maximumShape, out.staging) ||
        !addTensors(entry.entry->outputs(), maximumShape, out.outputs))
      return corrupt("the sizes of inputs and outputs overflow");
  }
  if (!checkedMultiply(module.scratchBytes(), uint64_t(workers), out.scratch))
    return corrupt("the scratch of all workers overflows");
  // On other devices, what the host is to have is computed there first.
  if (!module.device().ops.sharesHostMemory &&
      !checkedAdd(out.staging, out.outputs, out.staging))
    return corrupt("the sizes of inputs and outputs overflow");
  return {};
}

std::vector<Budget::Request> SessionNeeds::requests(const Module &module,
                                                    bool all) const {
  std::vector<Budget::Request> list = {
      {ASHLAR_MEMORY_ARENA, arena, nullptr, &module.device()},
      {ASHLAR_MEMORY_SCRATCH, scratch, nullptr, &module.device()}};
  for (size_t i = 0; i < otherArenas.size(); ++i)
    list.push_back({ASHLAR_MEMORY_ARENA, otherArenas[i], nullptr,
                    module.devices()[i + 1]});
  if (all) {
    list.push_back({ASHLAR_MEMORY_OUTPUTS, outputs, nullptr, nullptr});
    list.push_back({ASHLAR_MEMORY_STAGING, staging, nullptr, &module.device()});
  }
  return list;
}

} // namespace ashlar::runtime
