// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef ASHLAR_TOOLS_ASHLAR_BENCH_SCALING_H
#define ASHLAR_TOOLS_ASHLAR_BENCH_SCALING_H

#include "Statistics.h"

namespace ashlar::tools {

/// Of --threads=1,2; none: the session's own choice. Throws a Failure of wrong
/// usage for what is no list of different numbers.
std::vector<uint32_t> readThreads(const std::string &text);

/// What --threads=1,2 prints: a module measured with each number of threads,
/// `seconds` each, in turns, with how many times as fast it is as with the
/// first. As a JSON object where asked.
std::string measureScaling(RunnerFlags flags,
                           const std::vector<uint32_t> &threads, double seconds,
                           unsigned warmup, bool json);

} // namespace ashlar::tools

#endif // ASHLAR_TOOLS_ASHLAR_BENCH_SCALING_H
