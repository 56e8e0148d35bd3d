// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_DRIVER_DESCRIBETARGETS_H
#define ASHLAR_DRIVER_DESCRIBETARGETS_H

#include <string>

namespace ashlar {

/// The targets of this compiler with their presets, a line or more for each,
/// for --help.
std::string describeTargets();

/// Targets whose text another program makes machine code of, with that program,
/// "T: PROGRAM".
std::string describeAssemblers();

/// Targets whose code can say of which node an instruction is.
std::string describeLineTables();

} // namespace ashlar

#endif // ASHLAR_DRIVER_DESCRIBETARGETS_H
