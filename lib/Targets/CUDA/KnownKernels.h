// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program may be compiled again where its kernels want more registers than
// there are; most of them are what they were.
#ifndef ASHLAR_LIB_TARGETS_CUDA_KNOWNKERNELS_H
#define ASHLAR_LIB_TARGETS_CUDA_KNOWNKERNELS_H

#include "WritePtx.h"
#include <map>
#include <mutex>

namespace ashlar::cuda {

/// PTX of kernels by what they are. Any thread may ask.
class KnownKernels {
public:
  /// As the function of that name, if no kernel of the same symbol and code was
  /// compiled before. Options are the same each time.
  llvm::Expected<CompiledKernel>
  compileKernel(const cpu::LoweredKernels::Kernel &kernel,
                const MachineModel &machine, const WriteOptions &options);

  bool isEmpty() {
    std::lock_guard<std::mutex> guard(mutex);
    return known.empty();
  }

private:
  using Key = std::pair<uint64_t, uint64_t>;
  static Key keyOf(const cpu::LoweredKernels::Kernel &kernel,
                   const WriteOptions &options);

  std::mutex mutex;
  std::map<Key, CompiledKernel> known;
};

} // namespace ashlar::cuda

#endif // ASHLAR_LIB_TARGETS_CUDA_KNOWNKERNELS_H
