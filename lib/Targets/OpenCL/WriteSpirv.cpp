// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "WriteSpirv.h"
#include "../LLVM/BFloatsAsIntegers.h"
#include "../LLVM/LLVMModule.h"
#include "EmitSpirv.h"
#include "ExpandIntrinsics.h"
#include "KernelEntry.h"
#include "SplitAddresses.h"
#include "SplitVectors.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/PassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/Endian.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Scalar/InferAddressSpaces.h"

using namespace llvm;
using namespace ashlar;
using namespace ashlar::opencl;

static Expected<std::unique_ptr<TargetMachine>>
targetMachineFor(const MachineModel &machine) {
  // Optimizing code generation counts loops in integers of odd widths, and the
  // back end then forgets where they wrap. All that helps was done before.
  TargetMachineOptions options;
  options.level = CodeGenOptLevel::None;
  // A machine's processor is who compiles SPIR-V further; LLVM knows none.
  MachineModel any = machine;
  any.code.processor = "generic";
  return ashlar::createTargetMachine(any, options);
}

/// Bodies take pointers as processors know them, which SPIR-V's storage class
/// of functions stands for: what comes from a buffer is given that of buffers.
static Error inferStorageClasses(Module &module, TargetMachine &target) {
  return runPasses(module, target, [](PassBuilder &, ModulePassManager &all) {
    all.addPass(createModuleToFunctionPassAdaptor(
        InferAddressSpacesPass(/*FlatAddressSpace=*/0)));
    return Error::success();
  });
}

/// As back ends for GPUs do and SPIR-V's does not: addresses some constant
/// apart are one and that constant. A thread of many sums had registers for
/// each. Loops stay: where they are unrolled here, Intel's compiler for
/// processors crashes now and then (sycl-kernel-reduce-cross-barrier-values).
static Error shareAddresses(Module &module, TargetMachine &target) {
  return runPasses(module, target, [](PassBuilder &b, ModulePassManager &all) {
    all.addPass(createModuleToFunctionPassAdaptor(SplitAddressesPass()));
    return b.parsePassPipeline(
        all, "function(separate-const-offset-from-gep,slsr,early-cse,"
             "nary-reassociate,early-cse,dce)");
  });
}

/// What SPIR-V cannot say, or its back end says wrongly.
static Error check(Function &function) {
  for (Instruction &instruction : instructions(function)) {
    if (isa<AddrSpaceCastInst>(instruction))
      return createStringError(
          "an address may be a buffer's or the stack's, and SPIR-V's storage "
          "classes cannot say that");
    Type *type = instruction.getType()->getScalarType();
    if (type->isIntegerTy() &&
        !is_contained({1u, 8u, 16u, 32u, 64u}, type->getIntegerBitWidth())) {
      std::string text;
      raw_string_ostream(text) << instruction;
      return createStringError("SPIR-V has no integers of this width:" + text);
    }
  }
  return Error::success();
}

/// What OpenCL calls by other names than C's library.
static void renameFunctions(Module &module) {
  for (Function &function : module) {
    if (!function.isDeclaration() || function.isIntrinsic() ||
        function.getName().starts_with("_Z"))
      continue;
    Type *type = function.getReturnType();
    StringRef name = function.getName();
    if (type->isFloatTy())
      name.consume_back("f");
    else if (!type->isDoubleTy())
      continue;
    std::string builtin = ("__spirv_ocl_" + name).str();
    std::string mangled = "_Z" + std::to_string(builtin.size()) + builtin;
    for (Type *argument : function.getFunctionType()->params())
      mangled += argument->isFloatTy() ? 'f' : 'd';
    function.setName(mangled);
    function.setCallingConv(CallingConv::SPIR_FUNC);
    for (User *user : function.users())
      if (auto *call = dyn_cast<CallInst>(user))
        call->setCallingConv(CallingConv::SPIR_FUNC);
  }
}

Expected<SmallVector<char, 0>>
ashlar::opencl::compileKernel(const KernelSource &kernel,
                              const MachineModel &machine,
                              const WriteOptions &options) {
  CompiledNodes nodes(kernel.nodes);
  LLVMContext context;
  auto target = targetMachineFor(machine);
  if (!target)
    return target.takeError();
  auto translated =
      translateKernel(kernel.module, kernel.symbol, **target, context);
  if (!translated)
    return translated.takeError();
  std::unique_ptr<Module> module = std::move(*translated);
  // Intel's GPUs, which Level Zero is for, have subgroups of 16; a device of
  // OpenCL may have others, and kernels without units do not ask.
  const bool hasOffsets = machine.code.format != "spirv64-addresses";
  addKernelEntry(
      *module, kernel.symbol,
      {kernel.threads, hasOffsets ? 0 : machine.countOf("lane"), hasOffsets});
  moveBFloatsAsIntegers(*module);
  saveText(options.saveTemps, kernel.symbol + ".ll", *module);
  HeldDiagnostics diagnostics(context);
  if (Error error = optimizeModule(
          *module, **target, options.optimize ? kernelPasses : plainPasses))
    return error;
  renameFunctions(*module);
  Function &entry = *module->getFunction(kernel.symbol);
  expandIntrinsics(entry);
  expandMasks(entry);
  if (Error error = inferStorageClasses(*module, **target))
    return error;
  if (Error error = splitVectors(entry))
    return error;
  if (Error error = optimizeModule(*module, **target,
                                   "function(early-cse,dce),globaldce"))
    return error;
  // Where a work-item is a whole core's, its compiler forms vectors of what it
  // finds.
  if (options.optimize && kernel.threads > 1)
    if (Error error = shareAddresses(*module, **target))
      return error;
  if (Error error = check(entry))
    return error;
  if (Error error = diagnostics.take())
    return error;
  saveText(options.saveTemps, kernel.symbol + ".opt.ll", *module);
  std::string broken;
  raw_string_ostream stream(broken);
  if (verifyModule(*module, &stream))
    return createStringError("LLVM: " + broken);
  SmallVector<char, 0> bitcode;
  raw_svector_ostream out(bitcode);
  WriteBitcodeToFile(*module, out);
  return bitcode;
}

/// Reads what the index wants to know from the module's words: SPIR-V 1.2,
/// sections 2.3 and 3.32.
static void describe(SpirvImage &image) {
  enum {
    Header = 5,
    EntryPoint = 15,
    Capability = 17,
    Function = 54,
    FunctionEnd = 56
  };
  enum { Float16 = 9, Float64 = 10 };
  auto word = [&](size_t i) {
    return support::endian::read32le(image.words.data() + 4 * i);
  };
  size_t count = image.words.size() / 4, begin = 0;
  DenseMap<uint32_t, std::string> names;
  uint32_t function = 0;
  for (size_t i = Header; i < count;) {
    uint32_t length = word(i) >> 16;
    if (length == 0 || length > count - i)
      return;
    switch (word(i) & 0xffff) {
    case Capability:
      if (word(i + 1) == Float64)
        image.extensions.push_back("cl_khr_fp64");
      if (word(i + 1) == Float16)
        image.extensions.push_back("cl_khr_fp16");
      break;
    case EntryPoint:
      names[word(i + 2)] = image.words.data() + 4 * (i + 3);
      break;
    case Function:
      function = word(i + 2);
      begin = i;
      break;
    case FunctionEnd:
      if (names.contains(function))
        image.codeBytes[names[function]] = 4 * (i + 1 - begin);
      break;
    }
    i += length;
  }
}

Expected<SpirvImage>
ashlar::opencl::writeSpirv(ArrayRef<SmallVector<char, 0>> kernels,
                           const MachineModel &machine,
                           const WriteOptions &options) {
  std::string none;
  CompiledNodes nodes(none);
  LLVMContext context;
  auto target = targetMachineFor(machine);
  if (!target)
    return target.takeError();
  Module all("kernels", context);
  setTarget(all, **target);
  for (const SmallVector<char, 0> &bitcode : kernels) {
    auto module = parseBitcodeFile(
        MemoryBufferRef({bitcode.data(), bitcode.size()}, "kernel"), context);
    if (!module)
      return module.takeError();
    HeldDiagnostics diagnostics(context);
    if (Linker::linkModules(all, std::move(*module))) {
      if (Error error = diagnostics.take())
        return error;
      return createStringError("linking of LLVM IR failed");
    }
  }
  auto words = emitSpirv(all, **target);
  if (!words)
    return words.takeError();
  SpirvImage image;
  image.words.assign(words->begin(), words->end());
  saveBytes(options.saveTemps, "kernels.spv", image.words);
  describe(image);
  return image;
}
