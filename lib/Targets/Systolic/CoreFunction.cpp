// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A register of a command in loops is its first value plus, for each loop that
// an `advance` names, the loop's counter times the step.
#include "CoreFunction.h"
#include "ashlar/runtime/kernel_abi.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Module.h"

using namespace ashlar::systolic;

namespace {
constexpr uint64_t offsetMask =
    (uint64_t(1) << ASHLAR_SYSTOLIC_BINDING_SHIFT) - 1;

bool readsMemoryAddress(uint8_t funct) {
  return funct == ASHLAR_SYSTOLIC_MVIN || funct == ASHLAR_SYSTOLIC_MVIN2 ||
         funct == ASHLAR_SYSTOLIC_MVIN3 || funct == ASHLAR_SYSTOLIC_MVOUT;
}

class CoreFunction {
public:
  CoreFunction(const Kernel &kernel, llvm::Module &module)
      : b(module.getContext()) {
    llvm::Type *i64 = b.getInt64Ty(), *pointer = b.getPtrTy();
    auto *type = llvm::FunctionType::get(
        b.getInt32Ty(), {pointer, pointer, pointer, i64, i64}, false);
    function = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage,
                                      llvm::StringRef(kernel.name), module);
    function->addFnAttr(llvm::Attribute::NoUnwind);
    llvm::Function *entry = function;
    b.SetInsertPoint(newBlock());
    fence();
    // Parts of it are functions of their own: the code generator's time grows
    // faster than these do.
    auto *part =
        llvm::FunctionType::get(b.getVoidTy(), {pointer}, /*isVarArg=*/false);
    for (size_t at = 0; at < kernel.commands.size();) {
      function =
          llvm::Function::Create(part, llvm::GlobalValue::InternalLinkage,
                                 llvm::StringRef(kernel.name), module);
      function->addFnAttr(llvm::Attribute::NoUnwind);
      function->addFnAttr(llvm::Attribute::NoInline);
      b.CreateCall(function, entry->getArg(0));
      at = addPart(kernel, at);
      b.SetInsertPoint(&entry->getEntryBlock());
    }
    function = entry;
    fence();
    b.CreateRet(b.getInt32(ASHLAR_KERNEL_OK));
  }

private:
  struct Loop {
    uint64_t count;
    llvm::PHINode *counter;
  };
  /// What one advance adds to both registers.
  struct Advance {
    size_t loop;
    uint64_t registers[2];
  };

  /// Commands from `at` on, until there are many and no loop is open; where the
  /// next part begins.
  size_t addPart(const Kernel &kernel, size_t at) {
    constexpr size_t many = 200;
    b.SetInsertPoint(newBlock());
    bindings.clear();
    for (uint32_t i = 0; i < kernel.bindings; ++i)
      bindings.push_back(b.CreateLoad(b.getInt64Ty(), slot(b.getInt64(i))));
    size_t end = at + many;
    do {
      add(kernel.commands[at++]);
    } while (at < kernel.commands.size() &&
             (at < end || !loops.empty() || !steps.empty()));
    b.CreateRetVoid();
    return at;
  }

  llvm::BasicBlock *newBlock() {
    return llvm::BasicBlock::Create(b.getContext(), "", function);
  }
  llvm::Value *slot(llvm::Value *binding) {
    return b.CreateGEP(b.getInt64Ty(), function->getArg(0), binding);
  }

  void fence() {
    auto *type = llvm::FunctionType::get(b.getVoidTy(), false);
    b.CreateCall(
        llvm::InlineAsm::get(type, "fence", "~{memory}", /*sideEffects=*/true));
  }

  void add(const Command &command) {
    switch (command.funct) {
    case ASHLAR_SYSTOLIC_REGION:
      return;
    case ASHLAR_SYSTOLIC_LOOP:
      return begin(command.rs1);
    case ASHLAR_SYSTOLIC_END:
      return end();
    case ASHLAR_SYSTOLIC_ADVANCE:
      steps.push_back(
          {loops.size() - 1 - command.unit, {command.rs1, command.rs2}});
      return;
    case ASHLAR_SYSTOLIC_SYNC:
      fence();
      break;
    default:
      issue(command);
    }
    steps.clear();
  }

  void begin(uint64_t count) {
    llvm::BasicBlock *before = b.GetInsertBlock(), *body = newBlock();
    b.CreateBr(body);
    b.SetInsertPoint(body);
    llvm::PHINode *counter = b.CreatePHI(b.getInt64Ty(), 2);
    counter->addIncoming(b.getInt64(0), before);
    loops.push_back({count, counter});
  }

  void end() {
    auto [count, counter] = loops.pop_back_val();
    llvm::Value *next = b.CreateAdd(counter, b.getInt64(1));
    counter->addIncoming(next, b.GetInsertBlock());
    llvm::BasicBlock *after = newBlock();
    b.CreateCondBr(b.CreateICmpULT(next, b.getInt64(count)),
                   counter->getParent(), after);
    b.SetInsertPoint(after);
  }

  /// What the loops add to register `index`; null: nothing.
  llvm::Value *advanced(unsigned index) {
    llvm::Value *sum = nullptr;
    for (const Advance &step : steps) {
      if (!step.registers[index])
        continue;
      llvm::Value *part = b.CreateMul(loops[step.loop].counter,
                                      b.getInt64(step.registers[index]));
      sum = sum ? b.CreateAdd(sum, part) : part;
    }
    return sum;
  }

  /// Whether all iterations name one binding.
  bool isOfOneBinding(uint64_t first) const {
    __int128 least = first, most = first;
    for (const Advance &step : steps) {
      auto span = __int128(int64_t(step.registers[0])) *
                  __int128(loops[step.loop].count - 1);
      (span < 0 ? least : most) += span;
    }
    return least >> ASHLAR_SYSTOLIC_BINDING_SHIFT ==
           most >> ASHLAR_SYSTOLIC_BINDING_SHIFT;
  }

  /// A place in memory: its binding's address and the offset; null stays null.
  llvm::Value *address(uint64_t first) {
    llvm::Value *moved = advanced(0);
    auto sum = [&](llvm::Value *value) {
      return moved ? b.CreateAdd(value, moved) : value;
    };
    if (isOfOneBinding(first)) {
      uint64_t number = first >> ASHLAR_SYSTOLIC_BINDING_SHIFT;
      if (number == 0)
        return sum(b.getInt64(first));
      return sum(
          b.CreateAdd(bindings[number - 1], b.getInt64(first & offsetMask)));
    }
    llvm::Value *whole = sum(b.getInt64(first));
    llvm::Value *number =
        b.CreateLShr(whole, uint64_t(ASHLAR_SYSTOLIC_BINDING_SHIFT));
    llvm::Value *isNull = b.CreateICmpEQ(number, b.getInt64(0));
    // Slot 0 is there whenever some binding is.
    llvm::Value *index = b.CreateSelect(isNull, b.getInt64(0),
                                        b.CreateSub(number, b.getInt64(1)));
    llvm::Value *base = b.CreateLoad(b.getInt64Ty(), slot(index));
    return b.CreateAdd(b.CreateSelect(isNull, b.getInt64(0), base),
                       b.CreateAnd(whole, offsetMask));
  }

  void issue(const Command &command) {
    auto constant = [&](unsigned index, uint64_t first) {
      llvm::Value *moved = advanced(index);
      return moved ? b.CreateAdd(b.getInt64(first), moved)
                   : static_cast<llvm::Value *>(b.getInt64(first));
    };
    llvm::Value *rs1 = readsMemoryAddress(command.funct)
                           ? address(command.rs1)
                           : constant(0, command.rs1);
    llvm::Value *rs2 = constant(1, command.rs2);
    llvm::Type *i64 = b.getInt64Ty();
    auto *type = llvm::FunctionType::get(b.getVoidTy(), {i64, i64}, false);
    // custom-3; both source registers, no destination.
    std::string text =
        ".insn r 0x7b, 3, " + llvm::utostr(command.funct) + ", x0, $0, $1";
    b.CreateCall(llvm::InlineAsm::get(type, text, "r,r,~{memory}",
                                      /*hasSideEffects=*/true),
                 {rs1, rs2});
  }

  llvm::IRBuilder<> b;
  llvm::Function *function;
  llvm::SmallVector<llvm::Value *> bindings; ///< their addresses
  llvm::SmallVector<Loop> loops;             ///< around what is written now
  llvm::SmallVector<Advance> steps;          ///< of the next command
};
} // namespace

std::string ashlar::systolic::whyNoCore(const Machine &machine) {
  if (machine.flags & ASHLAR_SYSTOLIC_EXTENDED || machine.arrays != 1 ||
      !(machine.flags & ASHLAR_SYSTOLIC_INTERLOCKED))
    return "its instructions are more than those that a RISC-V core issues as "
           "custom-3; the presets gemmini and gemmini-ws have no others";
  return "";
}

void ashlar::systolic::addCoreFunction(const Kernel &kernel,
                                       llvm::Module &module) {
  CoreFunction(kernel, module);
}
