// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an image must be before the system's loader sees it. This does not make
// hostile code safe, nothing does; it keeps mistakes from being executed:
// another machine's code, constructors, writable code, surprising libraries.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_CPU_ELFVERIFIER_H
#define ASHLAR_RUNTIME_LIB_DEVICES_CPU_ELFVERIFIER_H

#include "../../Status.h"

#include <cstdint>

namespace ashlar::runtime {

/// CORRUPT, with what is wrong, unless it is a library for this processor that
/// may be linked; reads nothing behind `size`.
Status verifyElfImage(const uint8_t *image, uint64_t size);

/// "elf-x86_64": what this process can execute.
const char *hostElfFormat();

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_DEVICES_CPU_ELFVERIFIER_H
