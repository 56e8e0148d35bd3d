// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "WideProducts.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;
using namespace ashlar;

static bool isStep(const Instruction &instruction) {
  const auto *call = dyn_cast<CallInst>(&instruction);
  const auto *text =
      call ? dyn_cast<InlineAsm>(call->getCalledOperand()) : nullptr;
  return text && text->getAsmString().contains("wgmma.mma_async");
}

/// Of two operands, each rounded once: f32 has more than twice their digits.
static bool isNarrow(const Instruction &instruction) {
  switch (instruction.getOpcode()) {
  case Instruction::FAdd:
  case Instruction::FSub:
  case Instruction::FMul:
  case Instruction::FDiv:
    return instruction.getType()->getScalarSizeInBits() == 16;
  default:
    return false;
  }
}

static void widen(Instruction &narrow) {
  IRBuilder<> b(&narrow);
  Type *wide = narrow.getType()->getWithNewType(b.getFloatTy());
  auto operand = [&](unsigned i) {
    return b.CreateFPExt(narrow.getOperand(i), wide);
  };
  Value *left = operand(0), *right = operand(1);
  Value *made =
      b.CreateBinOp(Instruction::BinaryOps(narrow.getOpcode()), left, right);
  narrow.replaceAllUsesWith(b.CreateFPTrunc(made, narrow.getType()));
  narrow.eraseFromParent();
}

void ashlar::cuda::widenProducts(Module &module) {
  for (Function &function : module) {
    if (none_of(instructions(function), isStep))
      continue;
    for (Instruction &instruction :
         make_early_inc_range(instructions(function)))
      if (isNarrow(instruction))
        widen(instruction);
  }
}
