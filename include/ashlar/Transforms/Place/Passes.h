// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_TRANSFORMS_PLACE_PASSES_H
#define ASHLAR_TRANSFORMS_PLACE_PASSES_H

#include "mlir/Pass/Pass.h"

#include <functional>
#include <string>
#include <vector>

namespace ashlar {
#define GEN_PASS_DECL
#include "ashlar/Transforms/Place/Passes.h.inc"

/// A device beside the first of a program.
struct CompanionDevice {
  std::string name; ///< "TARGET:PRESET"
  /// Why it cannot compute a tile.contract; empty: it can.
  std::function<std::string(mlir::Operation *contract)> whyNot;
  /// Sums become bytes on their way out, and nothing follows that.
  bool endsInBytes = false;
  /// Those of sums that stay in an array; 0: as many as there are elsewhere.
  int64_t arraySumBits = 0;
};
/// In the order of their numbers, from 1 on.
std::unique_ptr<mlir::Pass>
createPlaceContractsPass(std::vector<CompanionDevice> companions);
std::unique_ptr<mlir::Pass>
createAbsorbRowsPass(std::vector<CompanionDevice> companions);

#define GEN_PASS_REGISTRATION
#include "ashlar/Transforms/Place/Passes.h.inc"
} // namespace ashlar

#endif // ASHLAR_TRANSFORMS_PLACE_PASSES_H
