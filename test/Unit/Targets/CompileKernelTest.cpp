// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What LLVM refuses is an error of the kernel that it was met in, whatever
// other threads compile.
#include "CompileKernel.h"
#include "Machines.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "llvm/Support/TargetSelect.h"
#include "gtest/gtest.h"
#include <thread>

using namespace ashlar;
using namespace ashlar::cpu;

namespace {
/// An instruction that there is not, or none at all.
std::string kernel(const char *assembly) {
  return std::string("llvm.func @k(%a: !llvm.ptr, %s: !llvm.ptr, %g: i64, "
                     "%n: i64) {\n  llvm.inline_asm has_side_effects \"") +
         assembly + "\", \"\" : () -> ()\n  llvm.return\n}\n";
}

/// What went wrong; empty: nothing.
std::string compile(const std::string &text) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  mlir::registerBuiltinDialectTranslation(context);
  mlir::registerLLVMDialectTranslation(context);
  context.loadDialect<mlir::LLVM::LLVMDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module)
    return "not parsed";
  CompileKernelOptions options;
  options.nodes = "'product'";
  auto object = compileKernel(*module, "k", machineFor("x86-64-v3"), options);
  return object ? "" : llvm::toString(object.takeError());
}

class CompileKernel : public testing::Test {
protected:
  static void SetUpTestSuite() {
    llvm::InitializeAllTargets();
    llvm::InitializeAllTargetMCs();
    llvm::InitializeAllAsmPrinters();
    llvm::InitializeAllAsmParsers();
  }
};

// No machine without AMX has a register for this.
TEST_F(CompileKernel, NamesTheNodesWhereLLVMCannotGoOn) {
  std::string text = "llvm.func @k(%a: !llvm.ptr, %s: !llvm.ptr, %g: i64, "
                     "%n: i64) {\n  %t = llvm.mlir.constant(0 : i8) : i8\n"
                     "  llvm.call_intrinsic \"llvm.x86.tilezero\"(%t) : (i8) "
                     "-> ()\n  llvm.return\n}\n";
  EXPECT_EXIT((void)compile(text), testing::ExitedWithCode(70),
              "error: 'product': LLVM: ");
}

TEST_F(CompileKernel, ReturnsWhatLLVMRefuses) {
  std::vector<std::thread> threads;
  std::vector<std::string> errors(64);
  for (size_t thread = 0; thread != 8; ++thread)
    threads.emplace_back([&, thread] {
      for (size_t i = thread; i < errors.size(); i += 8)
        errors[i] = compile(kernel(i % 2 ? "no_such_instruction" : ""));
    });
  for (std::thread &thread : threads)
    thread.join();
  for (size_t i = 0; i != errors.size(); ++i)
    if (i % 2)
      EXPECT_NE(errors[i].find("LLVM: "), std::string::npos) << errors[i];
    else
      EXPECT_EQ(errors[i], "");
}
} // namespace
