// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For tools that look into a compile, beside its options.
#ifndef ASHLAR_DRIVER_COMPILEHOOKS_H
#define ASHLAR_DRIVER_COMPILEHOOKS_H

#include "ashlar/Transforms/Pipelines/Steps.h"
#include "mlir/IR/BuiltinOps.h"
#include <functional>

namespace ashlar {

struct CompileHooks {
  /// Get each program after these stages, and may change it.
  std::function<mlir::LogicalResult(mlir::ModuleOp)> afterFuse, afterTile;
  /// How many of the steps that one can do without are taken.
  unsigned steps = numSteps;
};

} // namespace ashlar

#endif // ASHLAR_DRIVER_COMPILEHOOKS_H
