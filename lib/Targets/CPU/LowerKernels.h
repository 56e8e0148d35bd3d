// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TARGETS_CPU_LOWERKERNELS_H
#define ASHLAR_LIB_TARGETS_CPU_LOWERKERNELS_H

#include "mlir/Pass/PassManager.h"

namespace ashlar::cpu {

/// From loops over vectors and memrefs to the LLVM dialect; runs on a module
/// of one kernel. `approximate`: f32 functions as polynomials on vectors
/// instead of calls of libm.
void buildLoweringPipeline(mlir::OpPassManager &pm, bool approximate);

} // namespace ashlar::cpu

#endif // ASHLAR_LIB_TARGETS_CPU_LOWERKERNELS_H
