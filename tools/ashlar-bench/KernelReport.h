// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef ASHLAR_TOOLS_ASHLAR_BENCH_KERNELREPORT_H
#define ASHLAR_TOOLS_ASHLAR_BENCH_KERNELREPORT_H

#include "KernelTimes.h"

namespace ashlar::tools {

/// What --kernels prints: measured time of each kernel beside the predicted
/// one, the longest first, with how many threads share it, the rates that it
/// reaches and its nodes.
class KernelReport {
public:
  /// Traces the module for about `seconds`. Throws a Failure where
  /// ashlar-inspect, which knows the module's kernels, is not to be found.
  KernelReport(const RunnerFlags &flags, double seconds);

  /// Lines of at most `columns` characters, see TextTable::format.
  std::string text(size_t columns) const;
  /// The object of the whole measurement, with "kernels".
  std::string addedTo(const std::string &json) const;

private:
  struct Kernel {
    std::string name, bound;
    std::vector<std::string> nodes;
    uint64_t launches = 0;
    size_t threads = 0;          ///< that computed it
    double measured = 0;         ///< microseconds of a run
    double predicted = 0;        ///< on one worker; 0: its machine has no clock
    double flops = 0, bytes = 0; // of a run
  };
  KernelTimes times;
  std::vector<Kernel> kernels;
};

} // namespace ashlar::tools

#endif // ASHLAR_TOOLS_ASHLAR_BENCH_KERNELREPORT_H
