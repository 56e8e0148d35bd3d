// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "BFloatsAsIntegers.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

/// The type of integers in place of bfloat or a vector of it; null for others.
static Type *integersFor(Type *type) {
  if (!type->getScalarType()->isBFloatTy())
    return nullptr;
  Type *integer = Type::getInt16Ty(type->getContext());
  if (auto vector = dyn_cast<VectorType>(type))
    return VectorType::get(integer, vector);
  return integer;
}

/// Masked accesses have their type in their name.
static void retype(IntrinsicInst *access) {
  IRBuilder<> b(access);
  auto alignment = [&](unsigned argument) {
    return access->getParamAlign(argument).valueOrOne();
  };
  Value *moved = nullptr;
  switch (access->getIntrinsicID()) {
  case Intrinsic::masked_store: {
    Type *type = integersFor(access->getArgOperand(0)->getType());
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
    Type *type = integersFor(access->getType());
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

/// Whether an instruction means the same with integers.
static bool moves(const Instruction &instruction) {
  return isa<LoadInst, StoreInst, PHINode, SelectInst, ShuffleVectorInst,
             InsertElementInst, ExtractElementInst, FreezeInst, BitCastInst>(
      instruction);
}

/// Bitcasts in front of an operation that is no move and takes bfloats.
static void keepOperands(Instruction &instruction) {
  IRBuilder<> b(&instruction);
  for (Use &operand : instruction.operands())
    if (Type *type = integersFor(operand->getType()))
      if (auto *defined = dyn_cast<Instruction>(operand.get()))
        if (moves(*defined))
          operand = b.CreateBitCast(b.CreateBitCast(defined, type),
                                    operand->getType());
}

/// What stands for a bfloat that a move takes: itself, where it is moved, too.
static Value *asInteger(Value *value) {
  Type *type = integersFor(value->getType());
  if (!type)
    return value;
  if (auto *constant = dyn_cast<Constant>(value))
    return ConstantExpr::getBitCast(constant, type);
  auto *defined = cast<Instruction>(value);
  if (moves(*defined))
    return value;
  return IRBuilder<>(defined->getNextNode()).CreateBitCast(defined, type);
}

static void retypeMoves(Function &function) {
  SmallVector<Instruction *> moving, others;
  for (Instruction &instruction : instructions(function))
    (moves(instruction) ? moving : others).push_back(&instruction);
  for (Instruction *instruction : others)
    keepOperands(*instruction);
  for (Instruction *instruction : moving)
    for (Use &operand : instruction->operands())
      operand = asInteger(operand);
  for (Instruction *instruction : moving)
    if (Type *type = integersFor(instruction->getType()))
      instruction->mutateType(type);
}

void ashlar::moveBFloatsAsIntegers(Module &module) {
  for (Function &function : module) {
    SmallVector<IntrinsicInst *> accesses;
    for (Instruction &instruction : instructions(function))
      if (auto *intrinsic = dyn_cast<IntrinsicInst>(&instruction))
        accesses.push_back(intrinsic);
    for (IntrinsicInst *access : accesses)
      retype(access);
    retypeMoves(function);
  }
}
