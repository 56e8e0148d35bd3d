// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a device of a compute capability has: the CUDA programming guide's
// table "Technical Specifications per Compute Capability".

#ifndef ASHLAR_RUNTIME_TEST_CUDA_CUDALIMITS_H
#define ASHLAR_RUNTIME_TEST_CUDA_CUDALIMITS_H

#include "CudaState.h"

namespace ashlar::cuda {

struct Limits {
  int sharedPerBlock = 48 << 10, sharedOptIn, sharedPerMultiprocessor;
  int sharedReserved, threadsPerMultiprocessor, blocksPerMultiprocessor;
  int multiprocessors;
};

inline Limits limitsOf(int major, int minor) {
  Limits limits;
  int shared = 100, reserved = 1, threads = 2048, blocks = 32;
  int multiprocessors = 132;
  switch (major * 10 + minor) {
  case 75:
    shared = 64, reserved = 0, threads = 1024, blocks = 16;
    multiprocessors = 40;
    break;
  case 80:
    shared = 164;
    multiprocessors = 108;
    break;
  case 86:
    threads = 1536, blocks = 16;
    multiprocessors = 84;
    break;
  case 87:
    shared = 164, threads = 1536, blocks = 16;
    multiprocessors = 16;
    break;
  case 89:
    threads = 1536, blocks = 24;
    multiprocessors = 128;
    break;
  case 90:
  case 100:
  case 103:
    shared = 228;
    break;
  case 120:
  case 121:
    threads = 1536, blocks = 24;
    break;
  }
  limits.sharedPerMultiprocessor = shared << 10;
  limits.sharedReserved = reserved << 10;
  limits.sharedOptIn = (shared - reserved) << 10;
  limits.threadsPerMultiprocessor = threads;
  limits.blocksPerMultiprocessor = blocks;
  limits.multiprocessors = multiprocessors;
  return limits;
}

/// Ends its streams, gives back what is left.
void closeContext(Lock &lock, const std::shared_ptr<Context> &context);

} // namespace ashlar::cuda

#endif // ASHLAR_RUNTIME_TEST_CUDA_CUDALIMITS_H
