// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CalibrationFolder.h"
#include "CommandLine.h"
#include "ashlar/Calibrate/ChoosePrecision.h"
#include "ashlar/Calibrate/MeasurePrecision.h"
#include "ashlar/Driver/Compile.h"
#include "ashlar/Driver/StageTrace.h"
#include "ashlar/Support/ReportFile.h"

/// The exit code of what was printed: a full disk or a closed pipe shows only
/// in the end.
static int finishOutput() {
  llvm::outs().flush();
  if (!llvm::outs().has_error())
    return 0;
  llvm::errs() << "ashlar-compile: cannot write the output: "
               << llvm::outs().error().message() << "\n";
  llvm::outs().clear_error();
  return 1;
}

static int refuse(llvm::Error error) {
  llvm::errs() << "error: " << llvm::toString(std::move(error)) << "\n";
  return 1;
}

/// What runs for a while says so where somebody watches.
static ashlar::CompileResult
compileAndMeasure(const ashlar::CompileOptions &options) {
  ashlar::CalibrationInputs inputs;
  if (!options.calibration.empty()) {
    if (ashlar::Refusal wrong =
            ashlar::openCalibrationFolder(options.calibration, inputs)) {
      llvm::errs() << "error: --calibration=" << options.calibration << ": "
                   << *wrong << "\n";
      ashlar::CompileResult result;
      result.status = ashlar::CompileStatus::Refused;
      return result;
    }
  }
  std::function<void(const std::string &)> progress;
  if (!options.quiet && llvm::errs().is_displayed())
    progress = [](const std::string &what) {
      llvm::errs() << "\r\033[K" << what;
    };
  auto *compile = options.searchPrecision ? ashlar::compileWithinTolerance
                                          : ashlar::compileForInputs;
  return compile(options, inputs, progress, llvm::outs(), llvm::errs());
}

int main(int argc, char **argv) {
  ashlar::CompileOptions options;
  if (std::optional<int> code = ashlar::parseCommandLine(argc, argv, options))
    return *code;
  if (options.listOperators) {
    ashlar::listOperators(llvm::outs());
    return finishOutput();
  }
  if (options.listTargets) {
    ashlar::listTargets(llvm::outs());
    return finishOutput();
  }
  ashlar::StageTrace stages;
  ashlar::ReportFile trace("--trace");
  if (!options.trace.empty()) {
    if (llvm::Error error = trace.open(options.trace))
      return refuse(std::move(error));
    options.stages = &stages;
  }
  ashlar::CompileResult result;
  result.status = ashlar::openModelDims(options, llvm::errs());
  if (result.status == ashlar::CompileStatus::Done)
    result = options.searchPrecision || !options.calibration.empty()
                 ? compileAndMeasure(options)
                 : ashlar::compile(options, llvm::outs(), llvm::errs());
  if (!result.unsupported.empty())
    ashlar::printUnsupported(result.unsupported, llvm::errs());
  // Of a compile that failed as well.
  if (trace.isWanted() && stages.mayBeWritten())
    if (llvm::Error error = trace.write(
            [&](llvm::raw_ostream &to) {
              to << stages.json();
              return llvm::Error::success();
            },
            llvm::outs()))
      return refuse(std::move(error));
  switch (result.status) {
  case ashlar::CompileStatus::Done:
    return finishOutput();
  case ashlar::CompileStatus::Unsupported:
  case ashlar::CompileStatus::Refused:
    return 1;
  case ashlar::CompileStatus::WrongUsage:
    return 2;
  case ashlar::CompileStatus::OurFault:
    llvm::errs() << "ashlar-compile: this is a bug in the compiler; please "
                    "report it with the model that shows it\n";
    return 70;
  }
}
