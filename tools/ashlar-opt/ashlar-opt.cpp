// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every pass alone, every stage by name, upstream's passes too.
#include "RegularFile.h"
#include "ashlar/Driver/Passes.h"
#include "ashlar/InitAll.h"
#include "mlir/Debug/CLOptionsSetup.h"
#include "mlir/Debug/Counter.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/Timing.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"

static constexpr const char *help = R"(Example:
  ashlar-opt model.mlir --ashlar-fuse-pipeline
  ashlar-compile model.onnx --until=place | ashlar-opt --ashlar-fuse-elementwise

Reads MLIR from a file or stdin, runs the passes named, in their order, and
prints the result.

  FILE                      the input; - or none: stdin
  -o FILE                   the output; - or none: stdout
  --ashlar-STAGE-pipeline   a whole stage: import simplify place precision
                            fuse tile schedule emit; options as in
                            --ashlar-fuse-pipeline="target=cpu:znver4 fuse=none"
  --ashlar-PASS             one of our passes
  --PASS                    one of upstream's, such as --canonicalize
  --pass-pipeline=TEXT      passes nested as in 'builtin.module(cse)'
  --split-input-file        each part between lines of // ----- alone
  --verify-diagnostics      the errors must be those that comments expect
  --mlir-print-ir-after-all --mlir-print-ir-after-failure --mlir-timing
  --help-list               every pass and every option (many)
  --version                 this program's version

Exit:    0 done, 1 the input was refused, 2 wrong usage
)";

/// Builds what --pass-pipeline and its like ask for, to say early what is wrong
/// whatever the input.
static bool isPipelineSound(const mlir::DialectRegistry &registry) {
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  mlir::PassManager passes(&context, "builtin.module",
                           mlir::PassManager::Nesting::Implicit);
  return mlir::succeeded(
      mlir::MlirOptMainConfig::createFromCLOptions().setupPassPipeline(passes));
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef argument = argv[i];
    if (argument == "--help" || argument == "-help" || argument == "-h") {
      llvm::outs() << help;
      return 0;
    }
    if (argument == "--version" || argument == "-version") {
      llvm::outs() << "ashlar-opt " ASHLAR_VERSION "\n";
      return 0;
    }
  }
  mlir::DialectRegistry registry;
  ashlar::registerAllDialects(registry);
  ashlar::registerAllPasses();
  ashlar::registerDriverPasses();
  ashlar::registerStagePipelines();
  llvm::cl::opt<std::string> input(llvm::cl::Positional,
                                   llvm::cl::desc("<input file>"),
                                   llvm::cl::init("-"));
  llvm::cl::opt<std::string> output("o", llvm::cl::desc("Output file"),
                                    llvm::cl::value_desc("file"),
                                    llvm::cl::init("-"));
  mlir::MlirOptMainConfig::registerCLOptions(registry);
  mlir::registerAsmPrinterCLOptions();
  mlir::registerMLIRContextCLOptions();
  mlir::registerPassManagerCLOptions();
  mlir::registerDefaultTimingManagerCLOptions();
  mlir::tracing::DebugConfig::registerCLOptions();
  mlir::tracing::DebugCounter::registerCLOptions();
  // With a stream for its errors, the parser leaves it to us to end.
  if (!llvm::cl::ParseCommandLineOptions(argc, argv, "Ashlar's passes\n",
                                         &llvm::errs()))
    return 2;
  if (!isPipelineSound(registry))
    return 2;
  if (input != "-") {
    ashlar::runtime::RegularFile file;
    std::string problem = file.open(input);
    if (!problem.empty()) {
      llvm::errs() << "ashlar-opt: error: " << input
                   << ": cannot read: " << problem << "\n";
      return 1;
    }
  }
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, input, output, registry));
}
