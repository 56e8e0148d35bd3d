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

static void widen(Instruction &product) {
  IRBuilder<> b(&product);
  b.setFastMathFlags(product.getFastMathFlags());
  Type *wide = product.getType()->getWithNewType(b.getFloatTy());
  auto operand = [&](unsigned i) {
    return b.CreateFPExt(product.getOperand(i), wide);
  };
  Value *left = operand(0), *right = operand(1);
  product.replaceAllUsesWith(
      b.CreateFPTrunc(b.CreateFMul(left, right), product.getType()));
  product.eraseFromParent();
}

void ashlar::cuda::widenProducts(Module &module) {
  for (Function &function : module) {
    if (none_of(instructions(function), isStep))
      continue;
    for (Instruction &instruction :
         make_early_inc_range(instructions(function)))
      if (instruction.getOpcode() == Instruction::FMul &&
          instruction.getType()->getScalarSizeInBits() == 16)
        widen(instruction);
  }
}
