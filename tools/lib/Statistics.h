// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef ASHLAR_TOOLS_LIB_STATISTICS_H
#define ASHLAR_TOOLS_LIB_STATISTICS_H

#include "ModuleRunner.h"

namespace ashlar::tools {

/// What --stats prints: lines for people, or one JSON object.
std::string formatStatistics(const ModuleRunner &runner, bool json);

/// Times of single runs, sorted.
struct Measurement {
  std::vector<uint64_t> nanoseconds;
  double quantileMs(double share) const;
};
/// Runs `warmup` times, then for at least the given seconds and 10 runs.
Measurement measureRuns(ModuleRunner &runner, double seconds, unsigned warmup);
/// What ashlar-bench prints.
std::string formatMeasurement(const ModuleRunner &runner,
                              const Measurement &measurement, bool json);

} // namespace ashlar::tools

#endif // ASHLAR_TOOLS_LIB_STATISTICS_H
