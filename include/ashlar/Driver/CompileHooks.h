// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For tools that look into a compile, beside its options.
#ifndef ASHLAR_DRIVER_COMPILEHOOKS_H
#define ASHLAR_DRIVER_COMPILEHOOKS_H

#include "ashlar/Transforms/Fuse/FirstChoices.h"
#include "ashlar/Transforms/Pipelines/PipelineSteps.h"
#include "ashlar/Transforms/Precision/PrecisionPlan.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include <chrono>
#include <functional>
#include <memory>
#include <optional>

namespace ashlar {
struct EmittedPrograms;

struct CompileHooks {
  /// Looks at the module after this stage.
  std::function<void(mlir::ModuleOp)> afterImport, afterSimplify;
  /// May mark ops that are not to be folded.
  std::function<void(mlir::ModuleOp)> beforeSimplify;
  /// Get each program after these stages, and may change it.
  std::function<mlir::LogicalResult(mlir::ModuleOp)> afterFuse, afterTile;
  /// Adds passes on a program in front of its target's own for kernels, whose
  /// bodies are on memrefs by then.
  std::function<void(mlir::OpPassManager &)> beforeKernels;
  /// What runs after fuse has written formulas for the options' open sizes.
  bool sizesAreFormulas = false;
  /// Nobody reads the elements of weights that the stage `fuse` makes.
  bool sizesOnly = false;
  /// Whether what stopping early leaves is printed.
  bool printsIR = true;
  /// Gets what would be written.
  std::function<void(EmittedPrograms)> keep;
  /// Where a line on a terminal, or with `verbose` several, say how far it is;
  /// null: the log.
  llvm::raw_ostream *progress = nullptr;
  /// Since when whoever watches has waited; absent: since the compile began.
  std::optional<std::chrono::steady_clock::time_point> begin;
  /// Of other sizes, where some are open; may be null.
  std::shared_ptr<FirstChoices> choices;
  /// How many of the steps that one can do without are taken.
  unsigned steps = numSteps;
  /// Decides about precision instead of the options' plan and rules; the low
  /// type that they name is still what a simulation rounds to.
  const PrecisionPlan *precisionPlan = nullptr;
  bool simulatePrecision = false;
  bool observeRanges = false;
  /// Gets what was decided for the one program there is.
  PrecisionDecisions *decisions = nullptr;
  /// Lines about the accuracy that was measured, kept in the module.
  std::vector<std::string> precisionReport;
};

} // namespace ashlar

#endif // ASHLAR_DRIVER_COMPILEHOOKS_H
