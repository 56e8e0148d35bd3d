// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "WritePtx.h"
#include "../LLVM/GroupEntry.h"
#include "../LLVM/LLVMModule.h"
#include "../LLVM/ThreadCode.h"
#include "ExactLoads.h"
#include "LineTables.h"
#include "PtxWriter.h"
#include "WideProducts.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/OptBisect.h"

using namespace llvm;
using namespace ashlar;
using namespace ashlar::cuda;

template <Intrinsic::ID id> static Value *readRegister(IRBuilder<> &b) {
  return b.CreateZExt(b.CreateIntrinsic(b.getInt32Ty(), id, {}),
                      b.getInt64Ty());
}

static Function &addEntry(Module &module,
                          const cpu::LoweredKernels::Kernel &kernel) {
  GroupEntry how = {CallingConv::PTX_Kernel, /*hasOffsets=*/false,
                    readRegister<Intrinsic::nvvm_read_ptx_sreg_ctaid_x>,
                    readRegister<Intrinsic::nvvm_read_ptx_sreg_nctaid_x>,
                    unsigned(kernel.maps)};
  Function &entry = addGroupEntry(module, kernel.symbol, how);
  entry.addFnAttr("nvvm.reqntid", std::to_string(kernel.threads) + ",1,1");
  // Roles that share out registers ask for a count that the assembler knows.
  if (kernel.maps != 0)
    entry.addFnAttr("nvvm.minctasm", "1");
  if (kernel.cluster != 1)
    entry.addFnAttr("nvvm.cluster_dim",
                    std::to_string(kernel.cluster) + ",1,1");
  return entry;
}

/// Where the body names a tensor map, the entry's argument is meant.
static Error giveMaps(Module &module, TargetMachine &target,
                      const cpu::LoweredKernels::Kernel &kernel) {
  if (kernel.maps == 0)
    return Error::success();
  if (Error error = optimizeModule(module, target, "always-inline,globaldce"))
    return error;
  Function &entry = *module.getFunction(kernel.symbol);
  for (int64_t i = 0; i != kernel.maps; ++i) {
    GlobalVariable *named = module.getNamedGlobal(tensorMapName(i));
    if (!named)
      continue;
    named->replaceAllUsesWith(entry.getArg(entry.arg_size() - kernel.maps + i));
    named->eraseFromParent();
  }
  return Error::success();
}

/// Names are a module's of PTX, in which all kernels will be.
static void nameApart(Module &module, StringRef symbol) {
  unsigned number = 0;
  for (GlobalVariable &global : module.globals())
    global.setName(symbol + "_" + Twine(number++));
}

/// More shared memory than code may declare is what a launch gives: an array
/// without a size. How much that is.
static uint64_t takeFromLaunch(Module &module) {
  constexpr uint64_t mostDeclared = 48 << 10;
  constexpr unsigned shared = 3; // PTX's state space, as LLVM numbers it
  SmallVector<GlobalVariable *> all;
  uint64_t bytes = 0;
  for (GlobalVariable &global : module.globals())
    if (global.getAddressSpace() == shared) {
      bytes += module.getDataLayout().getTypeAllocSize(global.getValueType());
      all.push_back(&global);
    }
  // Several have one packed memory each, in front of this.
  if (bytes <= mostDeclared || all.size() != 1)
    return 0;
  GlobalVariable *own = all.front();
  auto *given = new GlobalVariable(
      module, ArrayType::get(Type::getInt8Ty(module.getContext()), 0),
      /*isConstant=*/false, GlobalValue::ExternalLinkage,
      /*Initializer=*/nullptr, "", own, GlobalValue::NotThreadLocal, shared);
  given->takeName(own);
  given->setAlignment(own->getAlign());
  own->replaceAllUsesWith(given);
  own->eraseFromParent();
  return bytes;
}

/// As they are, for the assembler as well.
static void keepLoops(Function &function) {
  DominatorTree tree(function);
  LoopInfo loops(tree);
  for (Loop *loop : loops.getLoopsInPreorder())
    loop->setLoopAlreadyUnrolled();
}

static Error writeText(Module &module, TargetMachine &target,
                       CompiledKernel &kernel) {
  auto text = writeAssembly(module, target);
  if (!text)
    return text.takeError();
  kernel.text.assign(text->data(), text->size());
  return Error::success();
}

Expected<CompiledKernel>
ashlar::cuda::compileKernel(const cpu::LoweredKernels::Kernel &kernel,
                            const MachineModel &machine,
                            const WriteOptions &options) {
  CompiledNodes nodes(kernel.nodes);
  LLVMContext context;
  auto target = createTargetMachine(machine, {});
  if (!target)
    return target.takeError();
  mlir::ModuleOp source = kernel.module;
  std::optional<NodeLines> lines;
  if (options.hasLines)
    lines.emplace(source);
  auto translated = translateKernel(source, kernel.symbol, **target, context);
  if (!translated)
    return translated.takeError();
  std::unique_ptr<Module> module = std::move(*translated);
  Function &entry = addEntry(*module, kernel);
  if (lines)
    lines->addEntry(entry);
  if (Error error = giveMaps(*module, **target, kernel))
    return error;
  nameApart(*module, kernel.symbol);
  uint64_t sharedBytes = takeFromLaunch(*module);
  saveText(options.saveTemps, kernel.symbol + ".ll", *module);
  HeldDiagnostics diagnostics(context);
  if (Error error = optimizeModule(
          *module, **target, options.optimize ? kernelPasses : plainPasses))
    return error;
  if (Error error = optimizeModule(*module, **target, joiningPasses))
    return error;
  makeLoadsExact(*module);
  widenProducts(*module);
  if (Error error = diagnostics.take())
    return error;
  if (lines)
    lines->nameFiles(entry);
  saveText(options.saveTemps, kernel.symbol + ".opt.ll", *module);
  if (Error error = checkCalls(*module, "PTX", "cuda"))
    return error;
  CompiledKernel compiled;
  compiled.sharedBytes = sharedBytes;
  raw_string_ostream stream(compiled.optimized);
  WriteBitcodeToFile(*module, stream);
  if (Error error = writeText(*module, **target, compiled))
    return error;
  return compiled;
}

namespace {
/// All passes but the one that gives each use of a loop's address a register.
struct KeptAddresses : OptPassGate {
  bool shouldRunPass(StringRef pass, StringRef) const override {
    return pass != "Loop Strength Reduction";
  }
  bool isEnabled() const override { return true; }
};
} // namespace

Expected<CompiledKernel> ashlar::cuda::writeAnew(const CompiledKernel &kernel,
                                                 const MachineModel &machine,
                                                 const WriteWay &way) {
  LLVMContext context;
  KeptAddresses gate;
  if (way.keepsAddresses)
    context.setOptPassGate(gate);
  auto target = createTargetMachine(machine, {});
  if (!target)
    return target.takeError();
  auto module =
      parseBitcodeFile(MemoryBufferRef(kernel.optimized, "kernel"), context);
  if (!module)
    return module.takeError();
  if (way.sinks)
    if (Error error =
            optimizeModule(**module, **target,
                           "function(sink,instcombine<no-verify-fixpoint>)"))
      return error;
  // Which narrowed them again.
  widenProducts(**module);
  if (way.keepsLoops)
    for (Function &function : **module)
      if (!function.isDeclaration())
        keepLoops(function);
  CompiledKernel anew = kernel;
  if (Error error = writeText(**module, **target, anew))
    return error;
  return anew;
}

void ashlar::cuda::askForOneBlock(CompiledKernel &kernel) {
  constexpr StringRef threads = "\n.reqntid ", asked = ".minnctapersm";
  size_t at = kernel.text.find(threads.str());
  if (at == std::string::npos || StringRef(kernel.text).contains(asked))
    return;
  size_t end = kernel.text.find('\n', at + 1);
  kernel.text.insert(end + 1, (asked + " 1\n").str());
}

bool ashlar::cuda::keepRegisters(CompiledKernel &kernel) {
  constexpr StringRef instruction = "setmaxnreg.";
  std::string text;
  bool isFound = false;
  for (StringRef line : llvm::split(kernel.text, '\n')) {
    bool isOne = line.ltrim().starts_with(instruction);
    isFound |= isOne;
    if (!isOne)
      text += line.str() + '\n';
  }
  text.pop_back(); // what is behind the last line ends no line
  kernel.text = std::move(text);
  return isFound;
}

/// What stands in front of the code of any.
static Expected<std::string> emptyModule(const MachineModel &machine) {
  LLVMContext context;
  auto target = createTargetMachine(machine, {});
  if (!target)
    return target.takeError();
  Module module("", context);
  setTarget(module, **target);
  auto text = writeAssembly(module, **target);
  if (!text)
    return text.takeError();
  return std::string(text->data(), text->size());
}

/// PTX ISA, "mma", "wgmma.mma_async": a warp's products of floats of a byte,
/// and a warpgroup's of bytes of both signs, came with version 8.4.
static bool isYounger(StringRef line) {
  auto hasAny = [&](StringRef one, StringRef other) {
    return line.contains(one) || line.contains(other);
  };
  if (line.contains("wgmma.mma_async"))
    return hasAny("k32.s32.s8.u8 ", "k32.s32.u8.s8 ");
  return line.contains("mma.sync") && hasAny(".f32.e4m3.", ".f32.e5m2.");
}

/// What has none of them keeps to drivers that are older.
static void setVersion(std::string &text) {
  constexpr StringRef mark = ".version ", younger = "8.4";
  for (StringRef rest = text; !rest.empty();) {
    auto [line, behind] = rest.split('\n');
    rest = behind;
    if (!isYounger(line))
      continue;
    size_t begin = text.find(mark.str()) + mark.size();
    size_t size = text.find('\n', begin) - begin;
    // Chips that came later have later versions anyway, all of one digit each.
    if (StringRef(text).substr(begin, size) < younger)
      text.replace(begin, size, younger.str());
    return;
  }
}

Expected<std::string>
ashlar::cuda::joinModules(ArrayRef<CompiledKernel> kernels,
                          const MachineModel &machine) {
  auto all = emptyModule(machine);
  if (!all)
    return all;
  // Version, target and size of addresses are the same in each.
  unsigned files = 0;
  for (const CompiledKernel &kernel : kernels)
    *all += renumberFiles(
        StringRef(kernel.text).split(".address_size 64\n").second, files);
  setVersion(*all);
  return all;
}
