// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef ASHLAR_TOOLS_ASHLAR_BENCH_KERNELTIMES_H
#define ASHLAR_TOOLS_ASHLAR_BENCH_KERNELTIMES_H

#include "ModuleRunner.h"

namespace ashlar::tools {

/// What kernels of a module took, by their names.
struct KernelTimes {
  /// Microseconds of a run in which anybody computed it, all launches
  /// together: medians of runs.
  std::map<std::string, double> microseconds;
  /// How many of the session's threads ever computed a part of it: one of what
  /// is too short to be shared, or has one part.
  std::map<std::string, size_t> workers;
  /// Of a run as a whole, with what lies between the kernels.
  double runMicroseconds = 0;
  size_t runs = 0;
  uint32_t threads = 0;
  std::string device, target, preset;
};

/// Traces runs that take about `seconds` together. `trace` is the name of a
/// file that is needed meanwhile.
KernelTimes measureKernels(RunnerFlags flags, double seconds,
                           const std::string &trace);

/// The middle one; of an even number, the mean of the two.
double medianOf(std::vector<double> values);

} // namespace ashlar::tools

#endif // ASHLAR_TOOLS_ASHLAR_BENCH_KERNELTIMES_H
