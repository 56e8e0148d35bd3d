// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ExpandIntrinsics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

/// The larger one by IEEE 754-2019's maximum: a NaN if there is one, and -0 is
/// less than 0.
static Value *writeExtreme(IRBuilder<> &b, Value *x, Value *y, bool largest) {
  Type *type = x->getType();
  Type *bits = IntegerType::get(b.getContext(), type->getScalarSizeInBits());
  if (auto *vector = dyn_cast<FixedVectorType>(type))
    bits = FixedVectorType::get(bits, vector->getNumElements());
  // Equal floats differ in the sign of a zero at most.
  Value *left = b.CreateBitCast(x, bits), *right = b.CreateBitCast(y, bits);
  Value *both = largest ? b.CreateAnd(left, right) : b.CreateOr(left, right);
  Value *isFurther = largest ? b.CreateFCmpOGT(x, y) : b.CreateFCmpOLT(x, y);
  Value *keepsX = b.CreateOr(isFurther, b.CreateFCmpUNO(x, x));
  return b.CreateSelect(b.CreateFCmpOEQ(x, y), b.CreateBitCast(both, type),
                        b.CreateSelect(keepsX, x, y));
}

/// The largest or least element: halves beside each other as long as they are
/// equal, then one by one.
static Value *reduceExtreme(IRBuilder<> &b, Value *vector, bool largest) {
  unsigned lanes = cast<FixedVectorType>(vector->getType())->getNumElements();
  for (; lanes % 2 == 0; lanes /= 2) {
    SmallVector<int> low, high;
    for (unsigned i = 0; i != lanes / 2; ++i) {
      low.push_back(i);
      high.push_back(lanes / 2 + i);
    }
    vector = writeExtreme(b, b.CreateShuffleVector(vector, low),
                          b.CreateShuffleVector(vector, high), largest);
  }
  Value *result = b.CreateExtractElement(vector, uint64_t(0));
  for (unsigned i = 1; i != lanes; ++i)
    result =
        writeExtreme(b, result, b.CreateExtractElement(vector, i), largest);
  return result;
}

/// What stands for the call; itself: nothing does, and null: nothing need.
static Value *expand(IntrinsicInst &call) {
  IRBuilder<> b(&call);
  switch (call.getIntrinsicID()) {
  case Intrinsic::maximum:
  case Intrinsic::minimum:
    return writeExtreme(b, call.getArgOperand(0), call.getArgOperand(1),
                        call.getIntrinsicID() == Intrinsic::maximum);
  case Intrinsic::vector_reduce_fmaximum:
  case Intrinsic::vector_reduce_fminimum:
    return reduceExtreme(b, call.getArgOperand(0),
                         call.getIntrinsicID() ==
                             Intrinsic::vector_reduce_fmaximum);
  case Intrinsic::fmuladd:
    return b.CreateIntrinsic(
        call.getType(), Intrinsic::fma,
        {call.getArgOperand(0), call.getArgOperand(1), call.getArgOperand(2)});
  case Intrinsic::prefetch:
  case Intrinsic::lifetime_start:
  case Intrinsic::lifetime_end:
  case Intrinsic::assume:
  case Intrinsic::experimental_noalias_scope_decl:
    return nullptr;
  default:
    return &call;
  }
}

/// Of the number that it says, in the function's first block.
static void makeArray(AllocaInst &slot) {
  auto *count = dyn_cast<ConstantInt>(slot.getArraySize());
  if (!slot.isArrayAllocation() || !count)
    return;
  IRBuilder<> b(&slot);
  AllocaInst *array = b.CreateAlloca(
      ArrayType::get(slot.getAllocatedType(), count->getZExtValue()));
  array->setAlignment(slot.getAlign());
  slot.replaceAllUsesWith(array);
  slot.eraseFromParent();
}

/// Nothing computes with bfloats any more; where they lie they are integers of
/// their width.
static Type *withoutBFloats(Type *type) {
  if (type->isBFloatTy())
    return Type::getInt16Ty(type->getContext());
  if (auto *array = dyn_cast<ArrayType>(type))
    return ArrayType::get(withoutBFloats(array->getElementType()),
                          array->getNumElements());
  if (auto *vector = dyn_cast<FixedVectorType>(type))
    return FixedVectorType::get(withoutBFloats(vector->getElementType()),
                                vector->getNumElements());
  return type;
}

/// Of variables that a workgroup's threads share.
static void retypeGlobals(Module &module) {
  for (GlobalVariable &global : make_early_inc_range(module.globals())) {
    Type *type = withoutBFloats(global.getValueType());
    if (type == global.getValueType())
      continue;
    auto *other = new GlobalVariable(module, type, global.isConstant(),
                                     global.getLinkage(), UndefValue::get(type),
                                     "", &global, GlobalValue::NotThreadLocal,
                                     global.getAddressSpace());
    other->setAlignment(global.getAlign());
    other->takeName(&global);
    global.replaceAllUsesWith(other);
    global.eraseFromParent();
  }
}

void ashlar::opencl::expandIntrinsics(Function &function) {
  retypeGlobals(*function.getParent());
  for (Instruction &instruction :
       make_early_inc_range(instructions(function))) {
    if (auto *address = dyn_cast<GetElementPtrInst>(&instruction)) {
      address->setSourceElementType(
          withoutBFloats(address->getSourceElementType()));
      address->setResultElementType(
          withoutBFloats(address->getResultElementType()));
      continue;
    }
    if (auto *slot = dyn_cast<AllocaInst>(&instruction)) {
      slot->setAllocatedType(withoutBFloats(slot->getAllocatedType()));
      makeArray(*slot);
      continue;
    }
    auto *call = dyn_cast<IntrinsicInst>(&instruction);
    if (!call)
      continue;
    Value *other = expand(*call);
    if (other == call)
      continue;
    if (other)
      call->replaceAllUsesWith(other);
    call->eraseFromParent();
  }
}
