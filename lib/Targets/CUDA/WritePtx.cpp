// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "WritePtx.h"
#include "../LLVM/GroupEntry.h"
#include "../LLVM/LLVMModule.h"
#include "LineTables.h"
#include "PtxWriter.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

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

/// What an instruction asks for that neither PTX has to the last bit (its
/// sines, powers of two and the like are approximations) nor
/// ashlar-approximate-math has written before.
static StringRef missingFunction(const Instruction &instruction) {
  if (instruction.getOpcode() == Instruction::FRem)
    return "fmod";
  auto *call = dyn_cast<CallInst>(&instruction);
  Function *callee = call ? call->getCalledFunction() : nullptr;
  if (!callee)
    return "";
  if (!callee->isIntrinsic())
    return callee->isDeclaration() ? callee->getName() : "";
  switch (callee->getIntrinsicID()) {
  case Intrinsic::acos:
  case Intrinsic::asin:
  case Intrinsic::atan:
  case Intrinsic::atan2:
  case Intrinsic::cos:
  case Intrinsic::cosh:
  case Intrinsic::exp:
  case Intrinsic::exp10:
  case Intrinsic::exp2:
  case Intrinsic::log:
  case Intrinsic::log10:
  case Intrinsic::log2:
  case Intrinsic::pow:
  case Intrinsic::powi:
  case Intrinsic::sin:
  case Intrinsic::sinh:
  case Intrinsic::tan:
  case Intrinsic::tanh:
    return Intrinsic::getBaseName(callee->getIntrinsicID())
        .drop_front(StringRef("llvm.").size());
  default:
    return "";
  }
}

static Error checkCalls(const Module &module) {
  for (const Function &function : module)
    for (const Instruction &instruction : instructions(function))
      if (StringRef name = missingFunction(instruction); !name.empty())
        return createStringError(
            "PTX has no function '" + name + "'" +
            (instruction.getType()->getScalarType()->isDoubleTy() ? " of f64"
                                                                  : "") +
            "; let the processor do what needs it: --target=cpu+cuda:PRESET");
  return Error::success();
}

/// Loops of a few loads are written out, so that several are under way. Loads
/// and stores of neighbours the back end joins where it sees that their
/// addresses differ by numbers and how the first of them is aligned.
static constexpr char joiningPasses[] =
    "function(loop-unroll<O3;partial;no-upperbound;no-peeling;no-runtime>,"
    "instcombine<no-verify-fixpoint>,infer-address-spaces,"
    "separate-const-offset-from-gep,slsr,early-cse,infer-alignment),globaldce";

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
  std::unique_ptr<Module> module =
      mlir::translateModuleToLLVMIR(source, context, kernel.symbol);
  if (!module)
    return createStringError("translation to LLVM IR failed");
  setTarget(*module, **target);
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
  if (options.sinks)
    if (Error error = optimizeModule(*module, **target,
                                     "function(sink,instcombine<"
                                     "no-verify-fixpoint>)"))
      return error;
  if (Error error = diagnostics.take())
    return error;
  if (lines)
    lines->nameFiles(entry);
  saveText(options.saveTemps, kernel.symbol + ".opt.ll", *module);
  if (Error error = checkCalls(*module))
    return error;
  auto text = writeAssembly(*module, **target);
  if (!text)
    return text.takeError();
  return CompiledKernel{std::string(text->data(), text->size()), sharedBytes};
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
  return all;
}
