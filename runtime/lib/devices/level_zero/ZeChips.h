// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Machine code in Intel's form: for which GPUs it is, and whether it is whole.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_LEVEL_ZERO_ZECHIPS_H
#define ASHLAR_RUNTIME_LIB_DEVICES_LEVEL_ZERO_ZECHIPS_H

#include "../../Status.h"

#include <string_view>

namespace ashlar::runtime::ze {

/// Whether a GPU, by its numbers on the bus, may be given machine code of a
/// format. One of Intel's that is not known here may be given any: its driver
/// refuses what is not for it.
bool takesCode(uint32_t vendor, uint32_t device, std::string_view format);

/// ELF, of Intel's GPUs; SPIR-V is not.
bool isZebin(std::string_view image);
/// CORRUPT unless its sections lie in it: a driver may not survive that.
Status verifyZebin(std::string_view image);

} // namespace ashlar::runtime::ze

#endif // ASHLAR_RUNTIME_LIB_DEVICES_LEVEL_ZERO_ZECHIPS_H
