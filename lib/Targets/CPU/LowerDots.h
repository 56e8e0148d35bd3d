// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TARGETS_CPU_LOWERDOTS_H
#define ASHLAR_LIB_TARGETS_CPU_LOWERDOTS_H

#include "mlir/Pass/Pass.h"

namespace ashlar::cpu {

/// `tile.dot` becomes the instruction for it among `features`, LLVM's names, or
/// products and sums of single terms where there is none.
std::unique_ptr<mlir::Pass>
createLowerDotsPass(std::vector<std::string> features);

} // namespace ashlar::cpu

#endif // ASHLAR_LIB_TARGETS_CPU_LOWERDOTS_H
