// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "../LLVM/LLVMModule.h"
#include "gtest/gtest.h"

using namespace ashlar;

// A program that was linked without a code generator, such as the wheel's,
// names what it lacks and where to find it.
TEST(LLVMModule, SaysWhichCodeGeneratorIsMissing) {
  initializeLLVM();
  MachineModel machine;
  machine.code.triple = "nowhere-unknown-none";
  auto target = createTargetMachine(machine, {});
  ASSERT_FALSE(bool(target));
  std::string message = llvm::toString(target.takeError());
  EXPECT_NE(message.find("expected a code generator for "
                         "'nowhere-unknown-none' in this program, found none"),
            std::string::npos)
      << message;
  EXPECT_NE(message.find("build from source"), std::string::npos) << message;
}
