// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the devices of AMD's that there is code for have in common: LLVM's "User
// Guide for AMDGPU Backend", and hipDeviceProp_t of each.

#ifndef ASHLAR_RUNTIME_TEST_HIP_HIPLIMITS_H
#define ASHLAR_RUNTIME_TEST_HIP_HIPLIMITS_H

#include <cstdint>

namespace ashlar::cuda::hip {

constexpr uint32_t mostThreads = 1024; // of a workgroup
constexpr uint32_t sharedBytes = 64 << 10;
/// Of a launch, in one dimension.
constexpr uint64_t mostOfGrid = UINT32_MAX;

} // namespace ashlar::cuda::hip

#endif // ASHLAR_RUNTIME_TEST_HIP_HIPLIMITS_H
