// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What --state asks for, on the way to the pass form-states.
#ifndef ASHLAR_LIB_DRIVER_STATES_H
#define ASHLAR_LIB_DRIVER_STATES_H

#include "ashlar/Driver/Compile.h"
#include "mlir/IR/BuiltinOps.h"

namespace ashlar {

/// Notes the states at the arguments of the entry; false, with what is wrong,
/// where there is no such argument.
bool markStates(mlir::ModuleOp model, const CompileOptions &options,
                llvm::raw_ostream &log);

/// Reads the model at one size: the shape of each state's place.
CompileResult readStates(CompileOptions fixed, const CompileHooks &hooks,
                         std::vector<CompileOptions::State> &states,
                         llvm::raw_ostream &log);

/// Where sizes are open: the largest shape that each state has at any of them,
/// written to `options`.
CompileResult findLargestStates(CompileOptions &options,
                                const CompileHooks &hooks,
                                llvm::raw_ostream &log);

} // namespace ashlar

#endif // ASHLAR_LIB_DRIVER_STATES_H
