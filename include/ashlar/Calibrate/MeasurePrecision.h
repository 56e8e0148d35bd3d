// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --precision=bf16 and f16, and plans, with inputs to measure them on.
#ifndef ASHLAR_CALIBRATE_MEASUREPRECISION_H
#define ASHLAR_CALIBRATE_MEASUREPRECISION_H

#include "ashlar/Calibrate/CalibrationInputs.h"
#include "ashlar/Driver/Compile.h"

namespace ashlar {

/// Compiles as `options` say, but for nodes whose values f16 cannot hold on the
/// inputs: a warning names each, and it becomes f32. Measures the program
/// beside the one of f32 and keeps what was found in the module. Says what it
/// is doing through `progress`, if that is set.
CompileResult
compileForInputs(const CompileOptions &options, const CalibrationInputs &inputs,
                 const std::function<void(const std::string &)> &progress,
                 llvm::raw_ostream &out, llvm::raw_ostream &log);

} // namespace ashlar

#endif // ASHLAR_CALIBRATE_MEASUREPRECISION_H
