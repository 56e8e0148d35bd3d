// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensor maps: the rules are the interpreter's, PtxTensorMap.cpp.

#include "CudaExport.h"
#include "PtxTensorMap.h"

#include <algorithm>
#include <cstring>

using namespace ashlar::cuda;

ASHLAR_CUDA_EXPORT
cuTensorMapEncodeTiled(CUtensorMap *map, int type, uint32_t rank, void *address,
                       const uint64_t *dims, const uint64_t *strides,
                       const uint32_t *box, const uint32_t *elementStrides,
                       int interleave, int swizzle, int promotion, int fill) {
  ASHLAR_CUDA_BEGIN(Call::Initialized)
  ASHLAR_CUDA_NOT_NULL(map)
  ASHLAR_CUDA_NOT_NULL(address)
  ASHLAR_CUDA_NOT_NULL(dims)
  ASHLAR_CUDA_NOT_NULL(box)
  ASHLAR_CUDA_NOT_NULL(elementStrides)
  if (state().major < 9)
    return NOT_SUPPORTED;
  if (reinterpret_cast<uint64_t>(map) % 64)
    return call.misuse(INVALID_VALUE, "tensorMap is not aligned to 64 bytes");
  if (rank > 1 && !strides)
    return call.misuse(INVALID_VALUE, "globalStrides is null");
  ashlar::ptx::TensorMapOptions of;
  of.type = type;
  of.rank = rank;
  of.address = reinterpret_cast<uint64_t>(address);
  if (rank <= 5) {
    std::copy_n(dims, rank, of.dims);
    std::copy_n(box, rank, of.box);
    std::copy_n(elementStrides, rank, of.elementStrides);
    if (rank > 1)
      std::copy_n(strides, rank - 1, of.strides);
  }
  of.interleave = interleave;
  of.swizzle = swizzle;
  of.promotion = promotion;
  of.fill = fill;
  ashlar::ptx::TensorMap made;
  std::string why = ashlar::ptx::TensorMap::make(of, made);
  if (!why.empty())
    return call.misuse(INVALID_VALUE, why);
  std::memcpy(map, &made, sizeof(made));
  return SUCCESS;
}
