// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel would cost on its machine, region by region.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_SYSTOLIC_UTILISATION_H
#define ASHLAR_RUNTIME_LIB_DEVICES_SYSTOLIC_UTILISATION_H

#include "Timing.h"

namespace ashlar::systolic {

/// One region's line; shares are 0 to 1.
struct RegionUse {
  const Region *region; // null: what came before any
  RegionTime time;      // its figures
  uint64_t cycles;      // of its interval
  double arrayBusy;     // of all arrays' cycles in it
  double utilisation;   // useful multiply-adds, of all the arrays could do
  double portBusy;      // of its rate, or of the requests that may be in flight
  double vectorBusy;    // of the vector unit's cycles
  const char *bound;    // "array", "memory", "vector" or "latency"
};

/// A kernel's, and its regions'.
struct KernelUse {
  uint64_t cycles = 0;            // in all
  uint64_t contractionCycles = 0; // the union of contractions' intervals
  uint64_t depthwiseCycles = 0;   // and those of depthwise ones alone
  uint64_t multiplyAdds = 0;      // that contractions ask for
  double utilisation = 0;         // of those over these
  double seconds = 0;             // at the machine's clock
  Vector<RegionUse> regions;      // without those of no commands
};

/// Times the kernel. Empty, or what is wrong with it.
std::string measureUse(const Machine &machine, const Kernel &kernel,
                       KernelUse &use);

/// A line for each region and one for all.
std::string useTable(const Machine &machine, const KernelUse &use);

} // namespace ashlar::systolic

#endif // ASHLAR_RUNTIME_LIB_DEVICES_SYSTOLIC_UTILISATION_H
