// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_TOOLS_COMPILE_FLAGS_H
#define ASHLAR_TOOLS_COMPILE_FLAGS_H

#include "ashlar/Driver/CompileOptions.h"
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace ashlar {

/// What is given as text and read after all flags are known.
struct FlagTexts {
  std::string targets, until, emit, fuse, budget, precision, tolerance, weights;
  std::vector<std::string> shapes, values, sizes, states;
};

/// Declares all flags and the texts of --help. Parsing fills `options`, and
/// `texts` with what is still to be read; both must outlive `app`.
void declareFlags(CLI::App &app, CompileOptions &options, FlagTexts &texts);

} // namespace ashlar

#endif // ASHLAR_TOOLS_COMPILE_FLAGS_H
