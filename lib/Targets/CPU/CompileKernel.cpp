// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CompileKernel.h"
#include "../LLVM/BFloatsAsIntegers.h"
#include "../LLVM/LLVMModule.h"
#include "SingleLaneStores.h"
#include "ashlar/runtime/kernel_abi.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Target/TargetMachine.h"

using namespace ashlar;
using namespace ashlar::cpu;
using llvm::Expected;

/// In which registers floats are passed.
static const char *riscvAbi(const ashlar::MachineModel &machine) {
  if (machine.hasFeatures({"d"}))
    return "lp64d";
  return machine.hasFeatures({"f"}) ? "lp64f" : "lp64";
}

static Expected<std::unique_ptr<llvm::TargetMachine>>
targetMachineFor(const ashlar::MachineModel &machine,
                 const CompileKernelOptions &options) {
  TargetMachineOptions target;
  if (options.contractFloats)
    target.target.AllowFPOpFusion = llvm::FPOpFusion::Fast;
  target.relocation = llvm::Reloc::PIC_;
  if (llvm::Triple(machine.code.triple).isRISCV()) {
    // Linked into a program that may lie anywhere, though not be moved.
    target.target.MCOptions.ABIName = riscvAbi(machine);
    target.relocation = llvm::Reloc::Static;
    target.codeModel = llvm::CodeModel::Medium;
  }
  if (!options.optimize)
    target.level = llvm::CodeGenOptLevel::Less;
  return ashlar::createTargetMachine(machine, target);
}

/// Adds the function that the runtime calls: it takes the buffers' addresses
/// out of their array and calls the body, which is inlined.
static void addEntry(llvm::Module &module, llvm::StringRef symbol) {
  llvm::Function *body = module.getFunction(symbol);
  body->setName(symbol + ".body");
  body->setLinkage(llvm::GlobalValue::InternalLinkage);
  body->addFnAttr(llvm::Attribute::AlwaysInline);
  llvm::LLVMContext &context = module.getContext();
  llvm::IRBuilder<> b(context);
  llvm::Type *pointer = b.getPtrTy(), *i64 = b.getInt64Ty();
  auto *type = llvm::FunctionType::get(
      b.getInt32Ty(), {pointer, pointer, pointer, i64, i64}, false);
  auto *entry = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage,
                                       symbol, module);
  entry->addFnAttr(llvm::Attribute::NoUnwind);
  b.SetInsertPoint(llvm::BasicBlock::Create(context, "", entry));
  llvm::SmallVector<llvm::Value *> arguments;
  // Buffers come first, then parameters, then scratch and groups.
  unsigned buffers = 0, behind = body->arg_size() - 3;
  while (buffers != behind && body->getArg(buffers)->getType()->isPointerTy())
    ++buffers;
  for (unsigned i = 0; i != buffers; ++i) {
    llvm::Value *slot = b.CreateConstGEP1_64(pointer, entry->getArg(0), i);
    arguments.push_back(b.CreateLoad(pointer, slot));
  }
  for (unsigned i = buffers; i != behind; ++i) {
    llvm::Value *slot =
        b.CreateConstGEP1_64(i64, entry->getArg(1), i - buffers);
    arguments.push_back(b.CreateLoad(i64, slot));
  }
  for (unsigned i = 2; i != 5; ++i)
    arguments.push_back(entry->getArg(i));
  b.CreateCall(body, arguments);
  b.CreateRet(b.getInt32(ASHLAR_KERNEL_OK));
  for (unsigned i = 0; i != behind + 1; ++i)
    if (body->getArg(i)->getType()->isPointerTy())
      body->addParamAttr(
          i, llvm::Attribute::getWithAlignment(
                 context, llvm::Align(ASHLAR_KERNEL_BUFFER_ALIGNMENT)));
}

static Expected<KernelObject> emitObject(llvm::Module &module,
                                         llvm::TargetMachine &target) {
  auto file = writeObjectFile(module, target);
  if (!file)
    return file.takeError();
  KernelObject result;
  result.object = std::move(*file);
  auto object =
      llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(
          {result.object.data(), result.object.size()}, "kernel"));
  if (!object)
    return object.takeError();
  for (const llvm::object::SectionRef &section : (*object)->sections())
    if (section.isText())
      result.codeBytes += section.getSize();
  for (const llvm::object::SymbolRef &symbol : (*object)->symbols()) {
    auto flags = symbol.getFlags();
    auto name = symbol.getName();
    if (flags && name && (*flags & llvm::object::SymbolRef::SF_Undefined) &&
        !name->empty())
      result.undefinedSymbols.push_back(name->str());
    if (!flags)
      llvm::consumeError(flags.takeError());
    if (!name)
      llvm::consumeError(name.takeError());
  }
  return result;
}

/// The kernel behind its entry, as LLVM is done with it.
static Expected<std::unique_ptr<llvm::Module>>
finishKernel(mlir::ModuleOp source, llvm::StringRef symbol,
             const ashlar::MachineModel &machine,
             const CompileKernelOptions &options, llvm::TargetMachine &target,
             llvm::LLVMContext &context) {
  auto translated = translateKernel(source, symbol, target, context);
  if (!translated)
    return translated.takeError();
  std::unique_ptr<llvm::Module> module = std::move(*translated);
  addEntry(*module, symbol);
  moveBFloatsAsIntegers(*module);
  std::string features(target.getTargetFeatureString());
  for (llvm::Function &function : *module) {
    function.addFnAttr("target-cpu", machine.code.processor);
    function.addFnAttr("tune-cpu", machine.code.tune);
    if (!features.empty())
      function.addFnAttr("target-features", features);
    if (machine.vectors.bytes == 64)
      function.addFnAttr("prefer-vector-width", "512");
  }
  saveText(options.saveTemps, (symbol + ".ll").str(), *module);
  HeldDiagnostics diagnostics(context);
  if (llvm::Error error = optimizeModule(
          *module, target, options.optimize ? kernelPasses : plainPasses))
    return error;
  if (llvm::Error error = diagnostics.take())
    return error;
  storeSingleLanesAsScalars(*module);
  saveText(options.saveTemps, (symbol + ".opt.ll").str(), *module);
  return module;
}

Expected<KernelObject>
ashlar::cpu::compileKernel(mlir::ModuleOp source, llvm::StringRef symbol,
                           const MachineModel &machine,
                           const CompileKernelOptions &options) {
  CompiledNodes nodes(options.nodes);
  llvm::LLVMContext context;
  auto target = targetMachineFor(machine, options);
  if (!target)
    return target.takeError();
  auto module =
      finishKernel(source, symbol, machine, options, **target, context);
  if (!module)
    return module.takeError();
  return emitObject(**module, **target);
}

llvm::Error ashlar::cpu::prepareObject(llvm::Module &object,
                                       const MachineModel &machine) {
  auto target = targetMachineFor(machine, {});
  if (!target)
    return target.takeError();
  setTarget(object, **target);
  object.addModuleFlag(
      llvm::Module::Error, "target-abi",
      llvm::MDString::get(object.getContext(), riscvAbi(machine)));
  return llvm::Error::success();
}

llvm::Error ashlar::cpu::addKernel(mlir::ModuleOp source,
                                   llvm::StringRef symbol,
                                   const MachineModel &machine,
                                   const CompileKernelOptions &options,
                                   llvm::Module &object) {
  CompiledNodes nodes(options.nodes);
  auto target = targetMachineFor(machine, options);
  if (!target)
    return target.takeError();
  auto module = finishKernel(source, symbol, machine, options, **target,
                             object.getContext());
  if (!module)
    return module.takeError();
  HeldDiagnostics diagnostics(object.getContext());
  if (llvm::Linker::linkModules(object, std::move(*module))) {
    if (llvm::Error error = diagnostics.take())
      return error;
    return llvm::createStringError("linking of LLVM IR failed");
  }
  // Only now: what is internal and not called would not have been linked.
  object.getFunction(symbol)->setLinkage(llvm::GlobalValue::InternalLinkage);
  return llvm::Error::success();
}

Expected<KernelObject> ashlar::cpu::compileModule(llvm::Module &module,
                                                  const MachineModel &machine) {
  CompileKernelOptions options;
  options.contractFloats = false;
  auto target = targetMachineFor(machine, options);
  if (!target)
    return target.takeError();
  return emitObject(module, **target);
}

std::string ashlar::cpu::callerOf(const KernelObject &object,
                                  llvm::StringRef undefined) {
  auto file = llvm::object::ELFObjectFileBase::createELFObjectFile(
      llvm::MemoryBufferRef({object.object.data(), object.object.size()},
                            "object"));
  if (!file) {
    llvm::consumeError(file.takeError());
    return "";
  }
  auto valueOr = [](auto expected, auto other) {
    if (expected)
      return decltype(other)(*expected);
    llvm::consumeError(expected.takeError());
    return other;
  };
  for (const llvm::object::SectionRef &section : (*file)->sections())
    for (const llvm::object::RelocationRef &relocation :
         section.relocations()) {
      auto symbol = relocation.getSymbol();
      if (symbol == (*file)->symbol_end() ||
          valueOr(symbol->getName(), llvm::StringRef()) != undefined)
        continue;
      auto code =
          valueOr(section.getRelocatedSection(),
                  llvm::object::section_iterator((*file)->section_end()));
      for (const llvm::object::ELFSymbolRef function : (*file)->symbols())
        if (valueOr(function.getType(), llvm::object::SymbolRef::ST_Unknown) ==
                llvm::object::SymbolRef::ST_Function &&
            valueOr(function.getSection(), code) == code &&
            valueOr(function.getAddress(), uint64_t(0)) <=
                relocation.getOffset() &&
            relocation.getOffset() <
                valueOr(function.getAddress(), uint64_t(0)) +
                    function.getSize())
          return valueOr(function.getName(), llvm::StringRef()).str();
    }
  return "";
}

Expected<KernelObject>
ashlar::cpu::compileAbiVersion(const MachineModel &machine) {
  llvm::LLVMContext context;
  llvm::Module module("abi", context);
  auto target = targetMachineFor(machine, {});
  if (!target)
    return target.takeError();
  setTarget(module, **target);
  llvm::IRBuilder<> b(context);
  new llvm::GlobalVariable(module, b.getInt32Ty(), /*isConstant=*/true,
                           llvm::GlobalValue::ExternalLinkage,
                           b.getInt32(ASHLAR_KERNEL_ABI_VERSION),
                           ASHLAR_KERNEL_ABI_SYMBOL);
  return emitObject(module, **target);
}

Expected<KernelObject>
ashlar::cpu::compileStub(const MachineModel &machine,
                         const std::vector<std::string> &symbols) {
  llvm::LLVMContext context;
  llvm::Module module("stub", context);
  auto target = targetMachineFor(machine, {});
  if (!target)
    return target.takeError();
  setTarget(module, **target);
  llvm::IRBuilder<> b(context);
  for (const std::string &symbol : symbols) {
    auto *function = llvm::Function::Create(
        llvm::FunctionType::get(b.getVoidTy(), false),
        llvm::GlobalValue::ExternalLinkage, symbol, module);
    b.SetInsertPoint(llvm::BasicBlock::Create(context, "", function));
    b.CreateRetVoid();
  }
  return emitObject(module, **target);
}
