// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CompileKernel.h"
#include "BFloatsAsIntegers.h"
#include "SingleLaneStores.h"
#include "ashlar/runtime/kernel_abi.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include <unistd.h>

using namespace ashlar::cpu;
using llvm::Expected;

/// In which registers floats are passed.
static const char *riscvAbi(const ashlar::MachineModel &machine) {
  if (machine.hasFeatures({"d"}))
    return "lp64d";
  return machine.hasFeatures({"f"}) ? "lp64f" : "lp64";
}

/// The nodes of the kernel that this thread compiles.
static thread_local const std::string *compiledNodes = nullptr;

/// LLVM does not return from what it calls fatal. Without a handler the process
/// aborts and nobody knows of which kernel that was.
static void nameFatalErrors() {
  static bool done = [] {
    llvm::install_fatal_error_handler(
        [](void *, const char *reason, bool) {
          llvm::errs() << "error: ";
          if (compiledNodes && !compiledNodes->empty())
            llvm::errs() << *compiledNodes << ": ";
          llvm::errs() << "LLVM: " << reason
                       << "\nthis is our own fault; please report it with the "
                          "model that shows it\n";
          // Other threads compile: nothing of theirs may be taken down first.
          ::_exit(70);
        },
        nullptr);
    return true;
  }();
  (void)done;
}

static Expected<std::unique_ptr<llvm::TargetMachine>>
createTargetMachine(const ashlar::MachineModel &machine,
                    const CompileKernelOptions &options) {
  nameFatalErrors();
  std::string error;
  llvm::Triple triple(machine.code.triple);
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return llvm::createStringError(error);
  std::string features;
  for (const std::string &feature : machine.code.features)
    features += (features.empty() ? "+" : ",+") + feature;
  llvm::TargetOptions targetOptions;
  if (options.contractFloats)
    targetOptions.AllowFPOpFusion = llvm::FPOpFusion::Fast;
  llvm::Reloc::Model relocation = llvm::Reloc::PIC_;
  std::optional<llvm::CodeModel::Model> codeModel;
  if (triple.isRISCV()) {
    // Linked into a program that may lie anywhere, though not be moved.
    targetOptions.MCOptions.ABIName = riscvAbi(machine);
    relocation = llvm::Reloc::Static;
    codeModel = llvm::CodeModel::Medium;
  }
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, machine.code.processor, features, targetOptions, relocation,
      codeModel,
      options.optimize ? llvm::CodeGenOptLevel::Default
                       : llvm::CodeGenOptLevel::Less));
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

/// What LLVM has left to do: kernels come with their loops, vectors and
/// registers chosen, so all the passes of -O1 would make a whole compile take
/// 1.4 times as long and change no kernel's time (measured with a text
/// detector of 132 kernels).
static constexpr const char *kernelPasses =
    "always-inline,globaldce,function(sroa,early-cse,simplifycfg,"
    "instcombine<no-verify-fixpoint>,reassociate,loop-mssa(loop-rotate,licm),"
    "simplifycfg,instcombine<no-verify-fixpoint>,"
    "loop(loop-idiom,indvars,loop-deletion),sroa,early-cse<memssa>,"
    "instcombine<no-verify-fixpoint>,loop-mssa(licm),simplifycfg)";
/// Of what is compiled to be believed: the call of the body is inlined.
static constexpr const char *plainPasses =
    "always-inline,globaldce,function(sroa,early-cse,simplifycfg)";

static llvm::Error optimizeModule(llvm::Module &module,
                                  llvm::TargetMachine &target, bool optimize) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&target);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  llvm::ModulePassManager passes;
  if (llvm::Error error = builder.parsePassPipeline(
          passes, optimize ? kernelPasses : plainPasses))
    return error;
  passes.run(module, modules);
  return llvm::Error::success();
}

namespace {
/// Holds what LLVM says of a module while it is worked on. Without a handler
/// its errors end the process, from whichever thread they are met on.
class HeldDiagnostics {
public:
  explicit HeldDiagnostics(llvm::LLVMContext &context)
      : context(context), before(context.getDiagnosticHandler()) {
    context.setDiagnosticHandler(std::make_unique<Handler>(errors));
  }
  ~HeldDiagnostics() { context.setDiagnosticHandler(std::move(before)); }

  llvm::Error take() {
    if (errors.empty())
      return llvm::Error::success();
    return llvm::createStringError("LLVM: " + errors);
  }

private:
  struct Handler : llvm::DiagnosticHandler {
    explicit Handler(std::string &errors) : errors(errors) {}
    bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
      if (info.getSeverity() != llvm::DS_Error)
        return true;
      llvm::raw_string_ostream stream(errors);
      if (!errors.empty())
        stream << "; ";
      llvm::DiagnosticPrinterRawOStream printer(stream);
      info.print(printer);
      return true;
    }
    std::string &errors;
  };

  llvm::LLVMContext &context;
  std::unique_ptr<llvm::DiagnosticHandler> before;
  std::string errors;
};
} // namespace

static Expected<KernelObject> emitObject(llvm::Module &module,
                                         llvm::TargetMachine &target) {
  HeldDiagnostics diagnostics(module.getContext());
  KernelObject result;
  llvm::raw_svector_ostream stream(result.object);
  llvm::legacy::PassManager passes;
  if (target.addPassesToEmitFile(passes, stream, nullptr,
                                 llvm::CodeGenFileType::ObjectFile))
    return llvm::createStringError("this LLVM cannot write object files");
  passes.run(module);
  if (llvm::Error error = diagnostics.take())
    return error;
  auto object = llvm::object::ObjectFile::createObjectFile(
      llvm::MemoryBufferRef(stream.str(), "kernel"));
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

static void saveText(const std::string &folder, llvm::StringRef name,
                     const llvm::Module &module) {
  if (folder.empty())
    return;
  llvm::SmallString<256> path(folder);
  llvm::sys::path::append(path, name);
  std::error_code code;
  llvm::raw_fd_ostream out(path, code);
  if (!code)
    module.print(out, nullptr);
  // A file less is no reason to fail: these are for looking at.
  out.flush();
  out.clear_error();
}

/// The kernel behind its entry, as LLVM is done with it.
static Expected<std::unique_ptr<llvm::Module>>
translateKernel(mlir::ModuleOp source, llvm::StringRef symbol,
                const ashlar::MachineModel &machine,
                const CompileKernelOptions &options,
                llvm::TargetMachine &target, llvm::LLVMContext &context) {
  std::unique_ptr<llvm::Module> module =
      mlir::translateModuleToLLVMIR(source, context, symbol);
  if (!module)
    return llvm::createStringError("translation to LLVM IR failed");
  module->setTargetTriple(target.getTargetTriple());
  module->setDataLayout(target.createDataLayout());
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
  if (llvm::Error error = optimizeModule(*module, target, options.optimize))
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
  compiledNodes = &options.nodes;
  llvm::scope_exit forget([] { compiledNodes = nullptr; });
  llvm::LLVMContext context;
  auto target = createTargetMachine(machine, options);
  if (!target)
    return target.takeError();
  auto module =
      translateKernel(source, symbol, machine, options, **target, context);
  if (!module)
    return module.takeError();
  return emitObject(**module, **target);
}

llvm::Error ashlar::cpu::prepareObject(llvm::Module &object,
                                       const MachineModel &machine) {
  auto target = createTargetMachine(machine, {});
  if (!target)
    return target.takeError();
  object.setTargetTriple((*target)->getTargetTriple());
  object.setDataLayout((*target)->createDataLayout());
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
  auto target = createTargetMachine(machine, options);
  if (!target)
    return target.takeError();
  auto module = translateKernel(source, symbol, machine, options, **target,
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
  auto target = createTargetMachine(machine, options);
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
  auto target = createTargetMachine(machine, {});
  if (!target)
    return target.takeError();
  module.setTargetTriple((*target)->getTargetTriple());
  module.setDataLayout((*target)->createDataLayout());
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
  auto target = createTargetMachine(machine, {});
  if (!target)
    return target.takeError();
  module.setTargetTriple((*target)->getTargetTriple());
  module.setDataLayout((*target)->createDataLayout());
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
