// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LLVMModule.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/TargetSelect.h"
#include <unistd.h>

void ashlar::initializeLLVM() {
  static bool done = [] {
    llvm::InitializeAllTargets();
    llvm::InitializeAllTargetMCs();
    llvm::InitializeAllAsmPrinters();
    // For inline assembly.
    llvm::InitializeAllAsmParsers();
    return true;
  }();
  (void)done;
}

llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
ashlar::createTargetMachine(const MachineModel &machine,
                            const TargetMachineOptions &options) {
  std::string error, features;
  llvm::Triple triple(machine.code.triple);
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return llvm::createStringError(
        "expected a code generator for '" + triple.str() +
        "' in this program, found none; the compiler of the Python wheel has "
        "those of processors alone: compile with the tools of a build from "
        "source");
  for (const std::string &feature : machine.code.features)
    features += (features.empty() ? "+" : ",+") + feature;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, machine.code.processor, features, options.target,
      options.relocation, options.codeModel, options.level));
}

void ashlar::setTarget(llvm::Module &module,
                       const llvm::TargetMachine &target) {
  module.setTargetTriple(target.getTargetTriple());
  module.setDataLayout(target.createDataLayout());
}

llvm::Expected<std::unique_ptr<llvm::Module>>
ashlar::translateKernel(mlir::ModuleOp source, llvm::StringRef symbol,
                        const llvm::TargetMachine &target,
                        llvm::LLVMContext &context) {
  std::unique_ptr<llvm::Module> module =
      mlir::translateModuleToLLVMIR(source, context, symbol);
  if (!module)
    return llvm::createStringError("translation to LLVM IR failed");
  setTarget(*module, target);
  return module;
}

static thread_local const std::string *compiledNodes = nullptr;

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

ashlar::CompiledNodes::CompiledNodes(const std::string &nodes) {
  nameFatalErrors();
  compiledNodes = &nodes;
}

ashlar::CompiledNodes::~CompiledNodes() { compiledNodes = nullptr; }

struct ashlar::HeldDiagnostics::Handler : llvm::DiagnosticHandler {
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

ashlar::HeldDiagnostics::HeldDiagnostics(llvm::LLVMContext &context)
    : context(context), before(context.getDiagnosticHandler()) {
  context.setDiagnosticHandler(std::make_unique<Handler>(errors));
}

ashlar::HeldDiagnostics::~HeldDiagnostics() {
  context.setDiagnosticHandler(std::move(before));
}

llvm::Error ashlar::HeldDiagnostics::take() {
  if (errors.empty())
    return llvm::Error::success();
  return llvm::createStringError("LLVM: " + errors);
}

const char *const ashlar::kernelPasses =
    "always-inline,globaldce,function(sroa,early-cse,simplifycfg,"
    "instcombine<no-verify-fixpoint>,reassociate,loop-mssa(loop-rotate,licm),"
    "simplifycfg,instcombine<no-verify-fixpoint>,"
    "loop(loop-idiom,indvars,loop-deletion),sroa,early-cse<memssa>,"
    "instcombine<no-verify-fixpoint>,loop-mssa(licm),simplifycfg)";
const char *const ashlar::plainPasses =
    "always-inline,globaldce,function(sroa,early-cse,simplifycfg)";

llvm::Error
ashlar::runPasses(llvm::Module &module, llvm::TargetMachine &target,
                  llvm::function_ref<llvm::Error(llvm::PassBuilder &,
                                                 llvm::ModulePassManager &)>
                      add) {
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
  llvm::ModulePassManager all;
  if (llvm::Error error = add(builder, all))
    return error;
  all.run(module, modules);
  return llvm::Error::success();
}

llvm::Error ashlar::optimizeModule(llvm::Module &module,
                                   llvm::TargetMachine &target,
                                   llvm::StringRef passes) {
  return runPasses(
      module, target,
      [&](llvm::PassBuilder &builder, llvm::ModulePassManager &all) {
        return builder.parsePassPipeline(all, passes);
      });
}

static llvm::Expected<llvm::SmallVector<char, 0>>
writeCode(llvm::Module &module, llvm::TargetMachine &target,
          llvm::CodeGenFileType kind) {
  ashlar::HeldDiagnostics diagnostics(module.getContext());
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager passes;
  if (target.addPassesToEmitFile(passes, stream, nullptr, kind))
    return llvm::createStringError("this LLVM cannot write code for " +
                                   module.getTargetTriple().str());
  passes.run(module);
  if (llvm::Error error = diagnostics.take())
    return error;
  return object;
}

llvm::Expected<llvm::SmallVector<char, 0>>
ashlar::writeObjectFile(llvm::Module &module, llvm::TargetMachine &target) {
  return writeCode(module, target, llvm::CodeGenFileType::ObjectFile);
}

llvm::Expected<llvm::SmallVector<char, 0>>
ashlar::writeAssembly(llvm::Module &module, llvm::TargetMachine &target) {
  return writeCode(module, target, llvm::CodeGenFileType::AssemblyFile);
}

static void save(const std::string &folder, llvm::StringRef name,
                 llvm::function_ref<void(llvm::raw_ostream &)> write) {
  if (folder.empty())
    return;
  llvm::SmallString<256> path(folder);
  llvm::sys::path::append(path, name);
  std::error_code code;
  llvm::raw_fd_ostream out(path, code);
  if (!code)
    write(out);
  out.flush();
  out.clear_error();
}

void ashlar::saveText(const std::string &folder, llvm::StringRef name,
                      const llvm::Module &module) {
  save(folder, name,
       [&](llvm::raw_ostream &out) { module.print(out, nullptr); });
}

void ashlar::saveBytes(const std::string &folder, llvm::StringRef name,
                       llvm::StringRef bytes) {
  save(folder, name, [&](llvm::raw_ostream &out) { out << bytes; });
}
