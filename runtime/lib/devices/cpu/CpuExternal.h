// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory of the host that a file descriptor stands for.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_CPU_CPUEXTERNAL_H
#define ASHLAR_RUNTIME_LIB_DEVICES_CPU_CPUEXTERNAL_H

#include "../Device.h"

namespace ashlar::runtime {
/// In multiples of a page; a descriptor is one of memfd_create's.
extern const ExternalOps cpuExternalOps;
} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_DEVICES_CPU_CPUEXTERNAL_H
