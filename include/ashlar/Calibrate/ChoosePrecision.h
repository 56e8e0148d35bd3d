// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --precision=auto: which nodes may be low so that every output stays within
// the tolerance, by running the model.
#ifndef ASHLAR_CALIBRATE_CHOOSEPRECISION_H
#define ASHLAR_CALIBRATE_CHOOSEPRECISION_H

#include "ashlar/Calibrate/CalibrationInputs.h"
#include "ashlar/Driver/Compile.h"

namespace ashlar {

/// Searches for a plan, measures the program that it makes beside the one of
/// f32, and compiles as `options` say, with what was measured kept in the
/// module. Says what it is doing through `progress`, if that is set.
CompileResult
compileWithinTolerance(const CompileOptions &options,
                       const CalibrationInputs &inputs,
                       const std::function<void(const std::string &)> &progress,
                       llvm::raw_ostream &out, llvm::raw_ostream &log);

} // namespace ashlar

#endif // ASHLAR_CALIBRATE_CHOOSEPRECISION_H
