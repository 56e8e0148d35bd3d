// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TARGETS_CPU_LOWERKERNELS_H
#define ASHLAR_LIB_TARGETS_CPU_LOWERKERNELS_H

#include "mlir/Pass/PassManager.h"

namespace ashlar::cpu {

struct LoweringOptions {
  bool approximate = true; ///< functions as polynomials, not calls of libm
  bool fma = true;         ///< the machine has fused multiply-add
  bool convertsF16 = true; ///< it has instructions from f16 to f32 and back
  std::vector<std::string> features; ///< its instructions, LLVM's names
};

/// From loops over vectors and memrefs to the LLVM dialect; runs on a module
/// of one kernel.
void buildLoweringPipeline(mlir::OpPassManager &pm,
                           const LoweringOptions &options);

} // namespace ashlar::cpu

#endif // ASHLAR_LIB_TARGETS_CPU_LOWERKERNELS_H
