// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CommandLine.h"
#include "ashlar/Driver/Compile.h"

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

int main(int argc, char **argv) {
  ashlar::CompileOptions options;
  if (std::optional<int> code = ashlar::parseCommandLine(argc, argv, options))
    return *code;
  if (options.listOperators) {
    ashlar::listOperators(llvm::outs());
    return finishOutput();
  }
  ashlar::CompileResult result =
      ashlar::compile(options, llvm::outs(), llvm::errs());
  if (!result.unsupported.empty())
    ashlar::printUnsupported(result.unsupported, llvm::errs());
  switch (result.status) {
  case ashlar::CompileStatus::Done:
    return finishOutput();
  case ashlar::CompileStatus::Unsupported:
  case ashlar::CompileStatus::Refused:
    return 1;
  case ashlar::CompileStatus::WrongUsage:
    return 2;
  case ashlar::CompileStatus::OurFault:
    llvm::errs() << "ashlar-compile: this is our own fault; please report it "
                    "with the model that shows it\n";
    return 70;
  }
}
