// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which code runs on which of NVIDIA's GPUs (CUDA C++ Programming Guide,
// "Compute Capabilities"; PTX ISA, ".target"). A chip is a number: 10 times its
// major compute capability and the minor, 86 for 8.6.
//
//   sm_80   PTX for any chip from then on; machine code for those of the same
//           major and no lower minor
//   sm_90a  both for that chip alone
//   sm_100f both for those of the same major and no lower minor

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_CUDA_CUDACHIPS_H
#define ASHLAR_RUNTIME_LIB_DEVICES_CUDA_CUDACHIPS_H

#include "../../OwnMemory.h"

#include <cstdint>
#include <string_view>

namespace ashlar::runtime::cuda {

/// All that its PTX may be for, separated by commas: "sm_50,..,sm_90,sm_90a".
String featuresOf(int chip);

/// Whether a chip can be given an executable: "ptx", or "cubin-sm_90a".
bool takes(int chip, std::string_view format);

/// How well it suits a chip that takes it: machine code, that of the chip
/// itself being the newest, then PTX, the newest first. `required` is the
/// "sm_.." that the PTX is for.
uint32_t rank(std::string_view format, std::string_view required);

} // namespace ashlar::runtime::cuda

#endif // ASHLAR_RUNTIME_LIB_DEVICES_CUDA_CUDACHIPS_H
