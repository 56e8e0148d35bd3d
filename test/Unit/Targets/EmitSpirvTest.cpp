// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "EmitSpirv.h"
#include "../LLVM/LLVMModule.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/Support/SourceMgr.h"
#include "gtest/gtest.h"

using namespace ashlar;
using namespace llvm;

/// Kernels of so many blocks each that store one number after the other.
static std::string kernels(unsigned count, unsigned blocks) {
  std::string text = "target triple = \"spirv64v1.2-unknown-unknown\"\n";
  raw_string_ostream out(text);
  for (unsigned k = 0; k < count; ++k) {
    out << "define spir_kernel void @k" << k
        << "(ptr addrspace(1) %p, i32 %n) {\n  br label %b0\n";
    for (unsigned b = 0; b < blocks; ++b)
      out << "b" << b << ":\n  store i32 " << b << ", ptr addrspace(1) %p\n  %c"
          << b << " = icmp ugt i32 %n, " << b << "\n  br i1 %c" << b
          << ", label %b" << b + 1 << ", label %end\n";
    out << "b" << blocks << ":\n  br label %end\nend:\n  ret void\n}\n";
  }
  return text;
}

static std::string write(unsigned count, unsigned blocks) {
  initializeLLVM();
  LLVMContext context;
  SMDiagnostic error;
  auto module = parseAssemblyString(kernels(count, blocks), error, context);
  MachineModel machine;
  machine.code.triple = "spirv64v1.2-unknown-unknown";
  TargetMachineOptions options;
  options.level = CodeGenOptLevel::None;
  auto target = createTargetMachine(machine, options);
  if (!module || !target)
    return "";
  setTarget(*module, **target);
  auto words = opencl::emitSpirv(*module, **target);
  return words ? std::string(words->begin(), words->end()) : "";
}

// LLVM's writer keeps ids of blocks; what was written before changes nothing.
TEST(EmitSpirv, WritesTheSameBehindOthers) {
  const std::string first = write(30, 20);
  ASSERT_FALSE(first.empty());
  for (unsigned count = 1; count <= 64; count *= 2) {
    EXPECT_FALSE(write(count, 64 / count).empty());
    EXPECT_TRUE(write(30, 20) == first) << "behind a module of " << count;
  }
}
