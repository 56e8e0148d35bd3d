// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Code objects for AMD's GPUs (LLVM, "User Guide for AMDGPU Backend", Code
// Object): ELF with a note that describes its kernels. Drivers take them in
// without looking at every place that an image chose itself, so this does.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_HIP_HSACOIMAGE_H
#define ASHLAR_RUNTIME_LIB_DEVICES_HIP_HSACOIMAGE_H

#include "../../Status.h"

#include <string_view>

namespace ashlar::runtime::hip {

/// CORRUPT: it is cut short, contradicts itself, or is none; what its
/// instructions do is nobody's to check. UNSUPPORTED: arguments that this
/// runtime does not pass.
Status checkHsaco(std::string_view image);

/// Parameters that a launch gives the kernel; negative: there is none of that
/// name. Of an image that was checked.
int countHsacoParameters(std::string_view image, std::string_view symbol);

} // namespace ashlar::runtime::hip

#endif // ASHLAR_RUNTIME_LIB_DEVICES_HIP_HSACOIMAGE_H
