// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "BareProgram.h"
#include "WeightTable.h"
#include "ashlar/Support/NoteAt.h"
#include "ashlar/runtime/kernel_abi.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

using namespace mlir;
using namespace ashlar;

static constexpr uint64_t alignment = ASHLAR_KERNEL_BUFFER_ALIGNMENT;

//===-- What can be such a function ---------------------------------------===//

FailureOr<exec::ProgramOp> ashlar::findBareEntry(ModuleOp program) {
  auto entries = llvm::to_vector(program.getOps<exec::ProgramOp>());
  if (entries.size() != 1)
    return emitError(program.getLoc())
           << "expected one entry point, which becomes a function, found "
           << entries.size();
  exec::ProgramOp entry = entries.front();
  constexpr const char *advice = "; a module (.ash) can hold it";
  if (auto symbols = program->getAttrOfType<ArrayAttr>(exec::symbolsAttrName);
      symbols && !symbols.empty())
    return emitError(entry.getLoc())
           << "expected sizes that are fixed (--shape), found some that each "
              "call chooses"
           << advice;
  if (ArrayAttr sizes = entry.getOutputSizesAttr(); sizes && !sizes.empty()) {
    auto output = cast<DictionaryAttr>(sizes[0]).getAs<IntegerAttr>("output");
    auto name = cast<DictionaryAttr>(entry.getOutputs()[output.getInt()])
                    .getAs<StringAttr>("ashlar.name");
    return emitError(entry.getLoc())
           << "expected outputs of fixed sizes, found that the size of '"
           << (name ? name.getValue() : "") << "' depends on data" << advice;
  }
  for (Operation &op : entry.getBody().front()) {
    if (isa<exec::LaunchOp, exec::CopyOp, exec::BarrierOp>(op))
      continue;
    const char *what = isa<exec::IfOp>(op)     ? "a condition"
                       : isa<exec::LoopOp>(op) ? "a loop"
                                               : "a check that ends the call";
    return noteAt(
        emitError(op.getLoc())
            << "expected kernels and copies alone in an object, found " << what
            << advice,
        entry.getLoc(), "in this entry");
  }
  return entry;
}

//===-- The function ------------------------------------------------------===//

namespace {
class BareMain {
public:
  BareMain(exec::ProgramOp entry, llvm::Module &object, StringRef name)
      : entry(entry), kernels(entry->getParentOfType<ModuleOp>()),
        object(object), b(object.getContext()) {
    llvm::Type *pointer = b.getPtrTy();
    auto *type = llvm::FunctionType::get(b.getInt32Ty(),
                                         {pointer, pointer, pointer}, false);
    main = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage,
                                  name, object);
    main->addFnAttr(llvm::Attribute::NoUnwind);
    placeArenas();
  }

  uint64_t build() {
    b.SetInsertPoint(llvm::BasicBlock::Create(b.getContext(), "", main));
    uint64_t most = 1;
    entry.walk([&](exec::LaunchOp launch) {
      most = std::max<uint64_t>(most, launch.getBindings().size());
    });
    buffers = b.CreateAlloca(llvm::ArrayType::get(b.getPtrTy(), most));
    loadArguments(main->getArg(0), entry.getInputs().size(), inputs);
    loadArguments(main->getArg(1), entry.getOutputs().size(), outputs);
    addWeights();
    failed = llvm::BasicBlock::Create(b.getContext(), "", main);
    status = llvm::PHINode::Create(b.getInt32Ty(), 0, "", failed);
    for (Operation &op : entry.getBody().front()) {
      if (auto launch = dyn_cast<exec::LaunchOp>(op))
        call(launch);
      else if (auto copy = dyn_cast<exec::CopyOp>(op))
        this->copy(copy);
    }
    b.CreateRet(b.getInt32(ASHLAR_KERNEL_OK));
    b.SetInsertPoint(failed);
    if (status->getNumIncomingValues())
      b.CreateRet(status);
    else
      failed->eraseFromParent();
    return scratchBytes + kernelScratch;
  }

private:
  /// Of all devices one behind the other, then what a kernel needs.
  void placeArenas() {
    auto place = [&](uint64_t bytes) {
      arenas.push_back(scratchBytes);
      scratchBytes += llvm::alignTo(bytes, alignment);
    };
    place(entry.getArenaBytes());
    for (unsigned i = 0; i != entry.getNumCompanions(); ++i)
      place(entry.getCompanionArenaBytes(i));
    entry.walk([&](exec::LaunchOp launch) {
      auto kernel = kernels.lookup<exec::KernelOp>(launch.getKernel());
      kernelScratch =
          std::max<uint64_t>(kernelScratch, *kernel.getScratchBytes());
    });
  }

  void loadArguments(llvm::Value *array, size_t count,
                     SmallVector<llvm::Value *> &values) {
    for (size_t i = 0; i != count; ++i)
      values.push_back(b.CreateLoad(
          b.getPtrTy(), b.CreateConstGEP1_64(b.getPtrTy(), array, i)));
  }

  void addWeights() {
    WeightTable table;
    SmallVector<unsigned> numbers;
    for (Attribute value : entry.getWeights())
      numbers.push_back(table.add(cast<TypedAttr>(value)));
    SmallVector<llvm::GlobalVariable *> globals;
    for (const WeightTable::Weight &weight : table.all()) {
      std::string bytes;
      bytes.reserve(weight.size);
      WeightBytes(weight.value).forEachPiece([&](ArrayRef<char> piece) {
        bytes.append(piece.data(), piece.size());
      });
      auto *data =
          llvm::ConstantDataArray::getRaw(bytes, bytes.size(), b.getInt8Ty());
      auto *global = new llvm::GlobalVariable(
          object, data->getType(), /*isConstant=*/true,
          llvm::GlobalValue::InternalLinkage, data, "ashlar_weight");
      global->setAlignment(llvm::Align(alignment));
      globals.push_back(global);
    }
    for (unsigned number : numbers)
      weights.push_back(globals[number]);
  }

  llvm::Value *addressOf(exec::BindingAttr binding) {
    int64_t offset = binding.getOffset().getConstant();
    unsigned index = binding.getIndex();
    llvm::Value *base = nullptr;
    switch (binding.getStorage()) {
    case exec::Storage::Input:
      base = inputs[index];
      break;
    case exec::Storage::Output:
      base = outputs[index];
      break;
    case exec::Storage::Weights:
      base = weights[index];
      break;
    case exec::Storage::Arena:
      base = main->getArg(2);
      offset += int64_t(arenas[index]);
    }
    return b.CreateConstGEP1_64(b.getInt8Ty(), base, offset);
  }

  /// All of the kernel's groups at once; what it returns ends the function
  /// where it is an error.
  void call(exec::LaunchOp launch) {
    for (auto [i, binding] : llvm::enumerate(launch.getBindings()))
      b.CreateStore(addressOf(cast<exec::BindingAttr>(binding)),
                    b.CreateConstGEP1_64(b.getPtrTy(), buffers, i));
    auto kernel = kernels.lookup<exec::KernelOp>(launch.getKernel());
    llvm::Value *result = b.CreateCall(
        object.getFunction(launch.getKernel()),
        {buffers, llvm::ConstantPointerNull::get(b.getPtrTy()),
         b.CreateConstGEP1_64(b.getInt8Ty(), main->getArg(2), scratchBytes),
         b.getInt64(0), b.getInt64(kernel.getGroups().getConstant())});
    auto *next = llvm::BasicBlock::Create(b.getContext(), "", main);
    status->addIncoming(result, b.GetInsertBlock());
    b.CreateCondBr(b.CreateICmpEQ(result, b.getInt32(ASHLAR_KERNEL_OK)), next,
                   failed);
    b.SetInsertPoint(next);
  }

  void copy(exec::CopyOp copy) {
    llvm::Align one(1);
    if (int64_t bytes = copy.getTarget().getLength().getConstant())
      b.CreateMemCpy(addressOf(copy.getTarget()), one,
                     addressOf(copy.getSource()), one, uint64_t(bytes));
  }

  exec::ProgramOp entry;
  SymbolTable kernels;
  llvm::Module &object;
  llvm::IRBuilder<> b;
  llvm::Function *main;
  llvm::BasicBlock *failed = nullptr;
  llvm::PHINode *status = nullptr;
  llvm::Value *buffers = nullptr;
  SmallVector<llvm::Value *> inputs, outputs, weights;
  SmallVector<uint64_t> arenas; ///< where in the scratch
  uint64_t scratchBytes = 0, kernelScratch = 0;
};
} // namespace

uint64_t ashlar::addBareMain(exec::ProgramOp entry, llvm::Module &object,
                             StringRef name) {
  return BareMain(entry, object, name).build();
}
