// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CommandLine.h"
#include "ashlar/Driver/Compile.h"

int main(int argc, char **argv) {
  ashlar::CompileOptions options;
  if (std::optional<int> code = ashlar::parseCommandLine(argc, argv, options))
    return *code;
  ashlar::CompileResult result =
      ashlar::compile(options, llvm::outs(), llvm::errs());
  if (!result.unsupported.empty())
    ashlar::printUnsupported(result.unsupported, llvm::errs());
  switch (result.status) {
  case ashlar::CompileStatus::Done:
    return 0;
  case ashlar::CompileStatus::Unsupported:
  case ashlar::CompileStatus::Refused:
    return 1;
  case ashlar::CompileStatus::OurFault:
    llvm::errs() << "ashlar-compile: this is our own fault; please report it "
                    "with the model that shows it\n";
    return 70;
  }
}
