// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The machine models of the CPU target.
#ifndef ASHLAR_LIB_TARGETS_CPU_CPUMACHINE_H
#define ASHLAR_LIB_TARGETS_CPU_CPUMACHINE_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace ashlar::cpu {

struct CPUMachine {
  std::string triple;
  std::string cpu;  ///< the baseline whose instructions are always there
  std::string tune; ///< the processor that code is scheduled for
  std::vector<std::string> features; ///< beyond the baseline, LLVM's names
  std::string format;                ///< of the image, for the runtime
  int64_t vectorBytes = 16;
  int64_t registers = 16;
  int64_t cacheBytes = 32768; ///< L1 data
};

/// The model of a preset. "host" is read off the processor, restricted to
/// features that the runtime knows how to check.
CPUMachine machineFor(llvm::StringRef preset);

} // namespace ashlar::cpu

#endif // ASHLAR_LIB_TARGETS_CPU_CPUMACHINE_H
