// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which instruction sets this processor and operating system offer, in LLVM's
// names. An instruction set whose registers the system does not save counts as
// absent. The environment variable ASHLAR_DISABLE_FEATURES, a list with
// commas, hides some, to try a module's other programs.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_CPU_CPUFEATURES_H
#define ASHLAR_RUNTIME_LIB_DEVICES_CPU_CPUFEATURES_H

#include "../../OwnMemory.h"

namespace ashlar::runtime {

/// Separated by commas. Asks the kernel for permission to use AMX's tiles if
/// the processor has them; this is granted to the whole process.
String detectCpuFeatures();

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_DEVICES_CPU_CPUFEATURES_H
