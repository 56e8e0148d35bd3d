// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TARGETS_CPU_LOWERMATRICES_H
#define ASHLAR_LIB_TARGETS_CPU_LOWERMATRICES_H

#include "mlir/Pass/Pass.h"

namespace ashlar::cpu {

/// Turns matrices into tile registers and their instructions where the
/// processor has them, by `features`, and into vectors, one for each row, where
/// it has not.
std::unique_ptr<mlir::Pass>
createLowerMatricesPass(std::vector<std::string> features);

} // namespace ashlar::cpu

#endif // ASHLAR_LIB_TARGETS_CPU_LOWERMATRICES_H
