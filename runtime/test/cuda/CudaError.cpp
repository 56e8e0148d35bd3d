// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What errors are called.

#include "CudaExport.h"

using namespace ashlar::cuda;

ASHLAR_CUDA_EXPORT cuGetErrorName(CUresult error, const char **name) {
  if (!name)
    return INVALID_VALUE;
  *name = nullptr;
  switch (error) {
#define ASHLAR_CUDA_ERROR(NAME, CODE, TEXT)                                    \
  case CODE:                                                                   \
    *name = CODE ? "CUDA_ERROR_" #NAME : "CUDA_SUCCESS";                       \
    return SUCCESS;
    ASHLAR_CUDA_ERRORS(ASHLAR_CUDA_ERROR)
#undef ASHLAR_CUDA_ERROR
  }
  return INVALID_VALUE;
}

ASHLAR_CUDA_EXPORT cuGetErrorString(CUresult error, const char **text) {
  if (!text)
    return INVALID_VALUE;
  *text = nullptr;
  switch (error) {
#define ASHLAR_CUDA_ERROR(NAME, CODE, TEXT)                                    \
  case CODE:                                                                   \
    *text = TEXT;                                                              \
    return SUCCESS;
    ASHLAR_CUDA_ERRORS(ASHLAR_CUDA_ERROR)
#undef ASHLAR_CUDA_ERROR
  }
  return INVALID_VALUE;
}
