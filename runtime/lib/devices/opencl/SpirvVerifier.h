// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a SPIR-V module must be before a driver sees it: whole, of the OpenCL
// kind and for addresses of 64 bits. Some drivers end the process over one that
// is cut off. It is no full check: that is the compiler's.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_OPENCL_SPIRVVERIFIER_H
#define ASHLAR_RUNTIME_LIB_DEVICES_OPENCL_SPIRVVERIFIER_H

#include "../../Status.h"

namespace ashlar::runtime {

/// CORRUPT where it is not.
Status verifySpirv(const void *image, uint64_t size);

/// Whether it begins like LLVM IR and not like SPIR-V. What is behind that only
/// the driver can read.
bool isBitcode(const void *image, uint64_t size);

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_DEVICES_OPENCL_SPIRVVERIFIER_H
