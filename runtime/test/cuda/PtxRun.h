// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a kernel: one block, or cluster of blocks, after another, its threads in
// turn, each up to where it waits for others.

#ifndef ASHLAR_RUNTIME_TEST_CUDA_PTXRUN_H
#define ASHLAR_RUNTIME_TEST_CUDA_PTXRUN_H

#include "PtxProgram.h"
#include "PtxThread.h"

namespace ashlar::ptx {

struct Launch {
  uint32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  /// Blocks that run together; 0: as .reqnctapercluster says, else one.
  uint32_t cluster[3] = {0, 0, 0};
  uint64_t dynamicShared = 0;
  /// As Function::parameters lie, of parameterBytes.
  std::vector<uint8_t> parameters;
  /// Instructions of one thread; 0: from ASHLAR_PTX_LIMIT, or 2^32.
  uint64_t limit = 0;
  /// Asked now and then whether to give up; null: never.
  const std::atomic<bool> *isCancelled = nullptr;
};

struct Executed {
  uint64_t instructions = 0, blocks = 0;
};

/// Throws Fault, whose message names kernel, block, thread and line.
Executed run(const Program &program, const std::string &kernel,
             const Launch &launch);

/// Appends a kernel's next argument with the alignment of its size.
template <class T> void append(Launch &launch, T value) {
  auto &to = launch.parameters;
  to.resize((to.size() + sizeof(T) - 1) / sizeof(T) * sizeof(T));
  const auto *bytes = reinterpret_cast<const uint8_t *>(&value);
  to.insert(to.end(), bytes, bytes + sizeof(T));
}

} // namespace ashlar::ptx

#endif // ASHLAR_RUNTIME_TEST_CUDA_PTXRUN_H
