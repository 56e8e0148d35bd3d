// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_TRANSFORMS_PRECISION_PASSES_H
#define ASHLAR_TRANSFORMS_PRECISION_PASSES_H

#include "ashlar/Machine/MachineModel.h"
#include "ashlar/Transforms/Precision/PrecisionPlan.h"
#include "mlir/Pass/Pass.h"

namespace ashlar {
/// What the pass lower-precision is told by whoever knows the target.
struct LowerPrecisionOptions {
  NumberType low = NumberType::F32;
  /// Decides instead of the rules; outlives the pass.
  const PrecisionPlan *plan = nullptr;
  MachineModel machine = MachineModel::generic();
  /// Whose products further devices of the program compute: operands are
  /// rounded for them, whatever `machine` gains by it.
  std::vector<NumberType> lowElsewhere;
  /// Types stay; an input more says which places round to the low type and
  /// back, so that one program measures many plans.
  bool simulate = false;
  /// Types stay; two outputs more say of each place that would be rounded to
  /// f16 how large its values are, and how many of them it could not hold.
  bool observe = false;
  /// Receives what was decided.
  PrecisionDecisions *decisions = nullptr;
};
std::unique_ptr<mlir::Pass>
createLowerPrecisionPass(const LowerPrecisionOptions &options);
/// For the units of `machine`; without it, of MachineModel::generic().
std::unique_ptr<mlir::Pass>
createFormIntegerContractionsPass(const MachineModel &machine);

#define GEN_PASS_DECL
#include "ashlar/Transforms/Precision/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "ashlar/Transforms/Precision/Passes.h.inc"
} // namespace ashlar

#endif // ASHLAR_TRANSFORMS_PRECISION_PASSES_H
