// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds strategies that are faster than those the compiler's model of the
// machine predicts, by measuring the candidates that it lists.

#ifndef ASHLAR_TOOLS_ASHLAR_BENCH_TUNE_H
#define ASHLAR_TOOLS_ASHLAR_BENCH_TUNE_H

#include "ModuleRunner.h"

namespace ashlar::tools {

struct TuneOptions {
  std::string table;           ///< to write
  std::string target, machine; ///< as ashlar-compile reads them
  std::vector<std::string> shapes, values;
  double seconds = 60; ///< of measuring; compiling comes on top
};

/// Measures the candidates of the model that `flags` names and writes a table
/// of those that are faster. Says on the standard error what it does; returns
/// what it found, for people or as JSON.
std::string tune(const RunnerFlags &flags, const TuneOptions &options,
                 bool json);

} // namespace ashlar::tools

#endif // ASHLAR_TOOLS_ASHLAR_BENCH_TUNE_H
