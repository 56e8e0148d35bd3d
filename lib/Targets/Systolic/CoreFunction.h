// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A stream as a function of the RISC-V core beside the array: its commands are
// custom-3 instructions, its loops the core's.
#ifndef ASHLAR_LIB_TARGETS_SYSTOLIC_COREFUNCTION_H
#define ASHLAR_LIB_TARGETS_SYSTOLIC_COREFUNCTION_H

#include "systolic/Image.h"

namespace llvm {
class Module;
}

namespace ashlar::systolic {

/// Why no core issues the machine's commands; empty: one does.
std::string whyNoCore(const Machine &machine);

/// Adds a function of the type in kernel_abi.h to `module`, internal, with the
/// kernel's name. It begins and ends with a fence: the array sees what the core
/// wrote before, and the core what the array wrote.
void addCoreFunction(const Kernel &kernel, llvm::Module &module);

} // namespace ashlar::systolic

#endif // ASHLAR_LIB_TARGETS_SYSTOLIC_COREFUNCTION_H
