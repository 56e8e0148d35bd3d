// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a compile was told about precision, and what became of it.
#ifndef ASHLAR_LIB_DRIVER_PRECISIONREQUEST_H
#define ASHLAR_LIB_DRIVER_PRECISIONREQUEST_H

#include "TargetOptions.h"
#include "ashlar/Driver/Compile.h"
#include "ashlar/Support/ReportFile.h"

namespace ashlar {

class PrecisionRequest {
public:
  PrecisionRequest(const CompileOptions &options, const CompileHooks &hooks,
                   llvm::raw_ostream &log)
      : options(options), hooks(hooks), log(log) {}

  /// Reads the plan and opens the one to write; says what is wrong with them,
  /// or with asking these targets.
  CompileStatus prepare(llvm::ArrayRef<std::unique_ptr<Target>> targets,
                        llvm::ArrayRef<std::string> names);

  /// For the stage's pipeline, which fills in what was decided.
  PrecisionOptions optionsFor(const Target &target);

  /// Whether the model has all nodes that the plan names; says which not.
  bool checkNodes();

  /// Hands on what was decided: to the hooks, to the file asked for.
  llvm::Error finish(llvm::StringRef target, llvm::raw_ostream &out);

private:
  CompileStatus checkTargets(llvm::ArrayRef<std::unique_ptr<Target>> targets,
                             llvm::ArrayRef<std::string> names);

  const CompileOptions &options;
  const CompileHooks &hooks;
  llvm::raw_ostream &log;
  std::optional<PrecisionPlan> plan; // that the options name
  PrecisionDecisions decisions;      // of the program after the stage
  ReportFile file{"--write-precision-plan"};
};

} // namespace ashlar

#endif // ASHLAR_LIB_DRIVER_PRECISIONREQUEST_H
