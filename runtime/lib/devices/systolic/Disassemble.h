// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Streams as text.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_SYSTOLIC_DISASSEMBLE_H
#define ASHLAR_RUNTIME_LIB_DEVICES_SYSTOLIC_DISASSEMBLE_H

#include "Image.h"

namespace ashlar::systolic {

/// One instruction: "preload b scratchpad 128, 128 x 64, c ...".
std::string disassemble(const Command &command, const Kernel &kernel);

/// A line for each, with its index; loops are indented.
std::string disassemble(const Image &image, const Kernel &kernel);

} // namespace ashlar::systolic

#endif // ASHLAR_RUNTIME_LIB_DEVICES_SYSTOLIC_DISASSEMBLE_H
