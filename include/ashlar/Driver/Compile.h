// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_DRIVER_COMPILE_H
#define ASHLAR_DRIVER_COMPILE_H

#include "ashlar/Driver/CompileHooks.h"
#include "ashlar/Driver/CompileOptions.h"
#include "ashlar/Import/ONNX/Import.h"
#include "llvm/Support/raw_ostream.h"

namespace ashlar {

enum class CompileStatus {
  Done,
  Refused,     ///< the model or the machine is at fault; diagnostics say why
  WrongUsage,  ///< the request is at fault, whatever the model
  Unsupported, ///< the model is legal, but has nodes we do not support
  OurFault     ///< a pass failed on IR that we made
};

struct CompileResult {
  CompileStatus status = CompileStatus::Done;
  std::vector<UnsupportedNode> unsupported;
};

/// Compiles one model. With stopEarly the IR goes to `out`; diagnostics,
/// stages and times go to `log`.
CompileResult compile(const CompileOptions &options, llvm::raw_ostream &out,
                      llvm::raw_ostream &log, const CompileHooks &hooks = {});

/// Gives the inputs whose dims the model itself calls by names of the options'
/// sizes a symbolic shape in these; to do it again changes nothing. What is
/// wrong with the names goes to `log`, and is wrong usage.
CompileStatus openModelDims(CompileOptions &options, llvm::raw_ostream &log);

/// Whether this compiler has the targets asked for; says what there is where
/// it has not.
bool checkTargets(const std::vector<TargetRequest> &targets,
                  llvm::raw_ostream &log);

/// Every target and preset, TARGET:PRESET a line.
void listTargets(llvm::raw_ostream &out);

/// All unsupported nodes at once: operator, opset, node name, reason, and the
/// count of each.
void printUnsupported(const std::vector<UnsupportedNode> &nodes,
                      llvm::raw_ostream &log);

} // namespace ashlar

#endif // ASHLAR_DRIVER_COMPILE_H
