// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "MaskedBFloats.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

/// The vector of 16-bit integers in place of one of bfloat; null for others.
static VectorType *integersFor(Type *type) {
  auto vector = dyn_cast<VectorType>(type);
  if (!vector || !vector->getElementType()->isBFloatTy())
    return nullptr;
  return VectorType::get(Type::getInt16Ty(type->getContext()), vector);
}

static void retype(IntrinsicInst *access) {
  IRBuilder<> b(access);
  auto alignment = [&](unsigned argument) {
    return access->getParamAlign(argument).valueOrOne();
  };
  Value *moved = nullptr;
  switch (access->getIntrinsicID()) {
  case Intrinsic::masked_store: {
    VectorType *type = integersFor(access->getArgOperand(0)->getType());
    if (!type)
      return;
    b.CreateMaskedStore(b.CreateBitCast(access->getArgOperand(0), type),
                        access->getArgOperand(1), alignment(1),
                        access->getArgOperand(2));
    access->eraseFromParent();
    return;
  }
  case Intrinsic::masked_load:
  case Intrinsic::masked_gather: {
    VectorType *type = integersFor(access->getType());
    if (!type)
      return;
    Value *from = access->getArgOperand(0), *mask = access->getArgOperand(1);
    Value *otherwise = b.CreateBitCast(access->getArgOperand(2), type);
    if (access->getIntrinsicID() == Intrinsic::masked_load)
      moved = b.CreateMaskedLoad(type, from, alignment(0), mask, otherwise);
    else
      moved = b.CreateMaskedGather(type, from, alignment(0), mask, otherwise);
    break;
  }
  default:
    return;
  }
  access->replaceAllUsesWith(b.CreateBitCast(moved, access->getType()));
  access->eraseFromParent();
}

void ashlar::cpu::moveMaskedBFloatsAsIntegers(Module &module) {
  SmallVector<IntrinsicInst *> accesses;
  for (Function &function : module)
    for (Instruction &instruction : instructions(function))
      if (auto *intrinsic = dyn_cast<IntrinsicInst>(&instruction))
        accesses.push_back(intrinsic);
  for (IntrinsicInst *access : accesses)
    retype(access);
}
