// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_DRIVER_FINDTARGETS_H
#define ASHLAR_LIB_DRIVER_FINDTARGETS_H

#include "ashlar/Driver/Compile.h"
#include "ashlar/Targets/Target.h"

namespace ashlar {

/// Finds the target and the machine model of every request, and its name
/// ("cpu:host"). Says what there is where one asks for another: wrong usage,
/// or refused where a machine file is at fault.
CompileStatus findTargets(const CompileOptions &options,
                          std::vector<std::unique_ptr<Target>> &targets,
                          std::vector<std::string> &names,
                          llvm::raw_ostream &log);

} // namespace ashlar

#endif // ASHLAR_LIB_DRIVER_FINDTARGETS_H
