// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The frame of every tool's main: parse, run, report.

#ifndef ASHLAR_TOOLS_LIB_TOOLMAIN_H
#define ASHLAR_TOOLS_LIB_TOOLMAIN_H

#include "Failure.h"

#include <CLI/CLI.hpp>

namespace ashlar::tools {

/// Parses the command line and runs the body; its failures go to stderr with
/// the tool's name, and the exit code says whose fault they are.
int runTool(const char *name, CLI::App &app, int argc, char **argv,
            const std::function<int()> &body);

} // namespace ashlar::tools

#endif // ASHLAR_TOOLS_LIB_TOOLMAIN_H
