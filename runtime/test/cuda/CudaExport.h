// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a function of the API is exported, and how it begins.

#ifndef ASHLAR_RUNTIME_TEST_CUDA_CUDAEXPORT_H
#define ASHLAR_RUNTIME_TEST_CUDA_CUDAEXPORT_H

#include "CudaState.h"

#define ASHLAR_CUDA_EXPORT                                                     \
  extern "C" [[gnu::visibility("default")]] ashlar::cuda::CUresult

/// Call call(...), or what it refuses with.
#define ASHLAR_CUDA_BEGIN(...)                                                 \
  Call call(__func__, __VA_ARGS__);                                            \
  if (call.refusal)                                                            \
    return call.refusal;

/// A pointer to write a result to.
#define ASHLAR_CUDA_NOT_NULL(POINTER)                                          \
  if (!(POINTER))                                                              \
    return call.misuse(INVALID_VALUE, #POINTER " is null");

#endif // ASHLAR_RUNTIME_TEST_CUDA_CUDAEXPORT_H
