// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What keeps the one program of the wheel small. LLVM's InitializeAllTargets()
// names each of its code generators, and a static link brings along what is
// named: the functions that it calls are defined here, empty, for all but
// processors that a target of ours compiles for, so that the archives' own are
// not taken. Those of GPUs (AMDGPU, NVPTX, SPIRV) are left out for their size:
// targets that need them say so (createTargetMachine). To have one, take its
// name out of this list.

#include "llvm/Plugins/PassPlugin.h"

#define LEFT_OUT(PROCESSOR)                                                    \
  extern "C" void LLVMInitialize##PROCESSOR##TargetInfo() {}                   \
  extern "C" void LLVMInitialize##PROCESSOR##Target() {}                       \
  extern "C" void LLVMInitialize##PROCESSOR##TargetMC() {}                     \
  extern "C" void LLVMInitialize##PROCESSOR##AsmPrinter() {}                   \
  extern "C" void LLVMInitialize##PROCESSOR##AsmParser() {}                    \
  extern "C" void LLVMInitialize##PROCESSOR##Disassembler() {}

LEFT_OUT(AMDGPU)
LEFT_OUT(ARM)
LEFT_OUT(AVR)
LEFT_OUT(BPF)
LEFT_OUT(Hexagon)
LEFT_OUT(Lanai)
LEFT_OUT(LoongArch)
LEFT_OUT(M68k)
LEFT_OUT(MSP430)
LEFT_OUT(Mips)
LEFT_OUT(NVPTX)
LEFT_OUT(PowerPC)
LEFT_OUT(SPIRV)
LEFT_OUT(Sparc)
LEFT_OUT(SystemZ)
LEFT_OUT(VE)
LEFT_OUT(WebAssembly)
LEFT_OUT(XCore)
LEFT_OUT(Xtensa)

// Debian's archives expect the Polly extension, which comes as a plugin only.
// lld names it in what optimises bitcode while linking; we link objects.
llvm::PassPluginLibraryInfo getPollyPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "Polly", "", nullptr, nullptr};
}
