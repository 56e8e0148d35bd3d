// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_TOOLS_ASHLAR_COMPILE_COMMANDLINE_H
#define ASHLAR_TOOLS_ASHLAR_COMPILE_COMMANDLINE_H

#include "ashlar/Driver/CompileOptions.h"
#include <optional>

namespace ashlar {

/// Fills `options`; returns an exit code when there is nothing left to do
/// (--help, --version, wrong usage).
std::optional<int> parseCommandLine(int argc, char **argv,
                                    CompileOptions &options);

} // namespace ashlar

#endif // ASHLAR_TOOLS_ASHLAR_COMPILE_COMMANDLINE_H
