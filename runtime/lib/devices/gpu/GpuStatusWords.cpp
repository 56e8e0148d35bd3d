// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The words of all queues of a GPU, in blocks that belong to the device: the
// first is there when it is open, so that no session needs memory beside its
// module's contract.

#include "GpuDevice.h"

namespace ashlar::runtime {

/// docs/memory-contract.md says so, too.
static constexpr size_t blockBytes = 4096;

Status GpuDevice::addStatusBlock() {
  statusBlocks.reserve(statusBlocks.size() + 1); // so that none is lost
  statusWords.reserve(statusBlocks.capacity() * (blockBytes / statusBytes));
  void *block = nullptr;
  ASHLAR_RETURN_IF_ERROR(allocate(blockBytes, block));
  statusBlocks.push_back(block);
  for (size_t at = blockBytes; at != 0; at -= statusBytes)
    statusWords.push_back(static_cast<char *>(block) + (at - statusBytes));
  return {};
}

void GpuDevice::freeStatusBlocks() {
  for (void *block : statusBlocks)
    free(block, blockBytes);
}

Status GpuDevice::takeStatus(void *&out) {
  std::lock_guard<std::mutex> lock(statusMutex);
  if (statusWords.empty())
    ASHLAR_RETURN_IF_ERROR(addStatusBlock());
  out = statusWords.back();
  statusWords.pop_back();
  return {};
}

void GpuDevice::giveStatus(void *words) {
  std::lock_guard<std::mutex> lock(statusMutex);
  statusWords.push_back(words);
}

} // namespace ashlar::runtime
