// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Between commands and the ops of the systolic dialect, one to one.
#ifndef ASHLAR_LIB_TARGETS_SYSTOLIC_STREAMOPS_H
#define ASHLAR_LIB_TARGETS_SYSTOLIC_STREAMOPS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "systolic/Image.h"

namespace ashlar::systolic {

/// Writes the commands as ops where the builder stands. Bindings are
/// `memories`, in order.
void writeOps(mlir::OpBuilder &builder, mlir::Location location,
              const Kernel &kernel, mlir::ValueRange memories);

/// The stream of a function whose body is ops of the dialect and a return.
/// Emits an error at an op that is none.
mlir::FailureOr<Kernel> readOps(mlir::func::FuncOp function);

} // namespace ashlar::systolic

#endif // ASHLAR_LIB_TARGETS_SYSTOLIC_STREAMOPS_H
