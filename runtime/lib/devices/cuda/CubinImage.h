// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the runtime reads of NVIDIA's machine code: an ELF file in which each
// kernel has attributes of its own. Bytes are not trusted.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_CUDA_CUBINIMAGE_H
#define ASHLAR_RUNTIME_LIB_DEVICES_CUDA_CUBINIMAGE_H

#include <string_view>

namespace ashlar::runtime::cuda {

/// Whether the bytes begin as an ELF file does.
bool isCubin(std::string_view image);

/// Parameters of a kernel; negative: the image has no such kernel, or is none.
int countCubinParameters(std::string_view image, std::string_view symbol);

} // namespace ashlar::runtime::cuda

#endif // ASHLAR_RUNTIME_LIB_DEVICES_CUDA_CUBINIMAGE_H
