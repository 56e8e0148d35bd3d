// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Check/Levels.h"
#include "ashlar/Check/ModelRun.h"
#include "ashlar/Driver/Compile.h"
#include "ashlar/Interpret/Interpret.h"
#include "ashlar/Transforms/Tile/Passes.h"
#include "llvm/Support/FormatVariadic.h"

using namespace ashlar;
using namespace ashlar::check;

llvm::Expected<LevelsReport>
ashlar::check::compareLevels(CompileOptions options, double tolerance) {
  LevelsReport report;
  auto tell = [&](const interpret::KernelOutcome &kernel) {
    if (!kernel.leftOut.empty()) {
      report.leftOut.push_back({kernel.name.str(), kernel.leftOut});
    } else if (!kernel.wrong.empty()) {
      report.wrong.push_back({kernel.name.str(), kernel.wrong});
    } else {
      ++report.right;
      report.worst = std::max(report.worst, kernel.difference);
    }
  };
  registerTilePasses();
  CompileHooks hooks;
  hooks.printsIR = false;
  hooks.beforeKernels = [&](mlir::OpPassManager &program) {
    InterpretKernelsPassOptions what;
    what.through = "ashlar-expand-contracts,ashlar-hoist-roles,"
                   "ashlar-generalize-kernels,ashlar-tile-generics";
    what.schedules = 2; // workers in two orders
    // Sums in another order, and values of 16 bits between contractions.
    what.tolerance = tolerance >= 0                         ? tolerance
                     : options.precision == NumberType::F32 ? 1e-4
                                                            : 5e-2;
    program.addPass(interpret::createInterpretKernelsPass(what, tell));
  };
  options.stopEarly = true;
  options.until = Stage::Tile;
  options.quiet = true;
  std::string said;
  llvm::raw_string_ostream log(said);
  CompileResult result = compile(options, llvm::nulls(), log, hooks);
  if (result.status != CompileStatus::Done)
    return llvm::createStringError(firstError(said));
  return report;
}

std::string ashlar::check::spell(const LevelsReport &report) {
  std::string text;
  for (const LevelsReport::Kernel &kernel : report.leftOut)
    text += kernel.name + ": left out: " + kernel.why + "\n";
  for (const LevelsReport::Kernel &kernel : report.wrong)
    text += kernel.name + ": wrong: " + kernel.why + "\n";
  text +=
      llvm::formatv("{0} kernels interpreted beside their contractions, {1} "
                    "wrong, {2} left out; largest error {3:e1}\n",
                    report.right + report.wrong.size(), report.wrong.size(),
                    report.leftOut.size(), report.worst)
          .str();
  return text;
}
