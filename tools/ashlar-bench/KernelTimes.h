// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef ASHLAR_TOOLS_ASHLAR_BENCH_KERNELTIMES_H
#define ASHLAR_TOOLS_ASHLAR_BENCH_KERNELTIMES_H

#include "ModuleRunner.h"

namespace ashlar::tools {

/// Of each kernel, the microseconds of all its calls in one run: the median of
/// runs on one thread that take about `seconds` together. `trace` is the name
/// of a file that is needed meanwhile.
std::map<std::string, double> measureKernels(RunnerFlags flags, double seconds,
                                             const std::string &trace);

/// The middle one; of an even number, the mean of the two.
double medianOf(std::vector<double> values);

} // namespace ashlar::tools

#endif // ASHLAR_TOOLS_ASHLAR_BENCH_KERNELTIMES_H
