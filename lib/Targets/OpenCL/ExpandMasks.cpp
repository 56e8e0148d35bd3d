// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ExpandIntrinsics.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

/// Lane i of a vector; of addresses without making a vector of them, which
/// SPIR-V does not have.
static Value *laneOf(IRBuilder<> &b, Value *vector, unsigned i) {
  if (!vector->getType()->isVectorTy())
    return vector;
  if (vector->getType()->isPtrOrPtrVectorTy()) {
    if (Value *same = getSplatValue(vector))
      return same;
    if (auto *address = dyn_cast<GetElementPtrInst>(vector)) {
      SmallVector<Value *> indices;
      for (Value *index : address->indices())
        indices.push_back(laneOf(b, index, i));
      return b.CreateGEP(address->getSourceElementType(),
                         laneOf(b, address->getPointerOperand(), i), indices);
    }
  }
  return b.CreateExtractElement(vector, i);
}

/// Whether a mask is that of lanes up to a number, as at the end of a row: then
/// the last lane says that all take part.
static bool isPrefix(Value *mask) {
  auto *compare = dyn_cast<ICmpInst>(mask);
  if (!compare || !ICmpInst::isGT(compare->getPredicate()) ||
      !getSplatValue(compare->getOperand(0)))
    return false;
  auto *lanes = dyn_cast<Constant>(compare->getOperand(1));
  auto *type = cast<FixedVectorType>(mask->getType());
  for (unsigned i = 0; lanes && i != type->getNumElements(); ++i) {
    auto *lane = dyn_cast<ConstantInt>(lanes->getAggregateElement(i));
    if (!lane || !lane->equalsInt(i))
      return false;
  }
  return lanes;
}

/// Whether all lanes of a mask take part.
static Value *areAll(IRBuilder<> &b, Value *mask) {
  unsigned lanes = cast<FixedVectorType>(mask->getType())->getNumElements();
  Value *all = b.CreateExtractElement(mask, lanes - 1);
  for (unsigned i = 0; !isPrefix(mask) && i + 1 != lanes; ++i)
    all = b.CreateAnd(all, b.CreateExtractElement(mask, i));
  return all;
}

namespace {
/// One access of many lanes, whose mask says which take part.
struct Access {
  explicit Access(IntrinsicInst &call) : call(call) {
    Intrinsic::ID id = call.getIntrinsicID();
    isStore = id == Intrinsic::masked_store || id == Intrinsic::masked_scatter;
    isApart = id == Intrinsic::masked_gather || id == Intrinsic::masked_scatter;
    unsigned first = isStore;
    address = call.getArgOperand(first);
    alignment = call.getParamAlign(first).valueOrOne();
    mask = call.getArgOperand(first + 1);
    stored = isStore ? call.getArgOperand(0) : nullptr;
    other = isStore ? nullptr : call.getArgOperand(first + 2);
    type = cast<FixedVectorType>(isStore ? stored->getType() : call.getType());
  }

  unsigned lanes() const { return type->getNumElements(); }

  /// Reads lane i into `before`, or writes it.
  Value *writeLane(IRBuilder<> &b, unsigned i, Value *before) const {
    Type *element = type->getElementType();
    Value *place = isApart ? laneOf(b, address, i)
                           : b.CreateConstGEP1_64(element, address, i);
    uint64_t bytes = element->getPrimitiveSizeInBits() / 8;
    Align align = isApart ? alignment : commonAlignment(alignment, i * bytes);
    if (isStore) {
      b.CreateAlignedStore(b.CreateExtractElement(stored, i), place, align);
      return nullptr;
    }
    return b.CreateInsertElement(before,
                                 b.CreateAlignedLoad(element, place, align), i);
  }

  /// All lanes take part.
  Value *writeAll(IRBuilder<> &b) const {
    if (isApart) {
      Value *result = other;
      for (unsigned i = 0; i != lanes(); ++i)
        result = writeLane(b, i, result);
      return result;
    }
    if (!isStore)
      return b.CreateAlignedLoad(type, address, alignment);
    b.CreateAlignedStore(stored, address, alignment);
    return nullptr;
  }

  /// The lanes of a mask that is known.
  Value *writeSome(IRBuilder<> &b, Constant &known) const {
    Value *result = other;
    for (unsigned i = 0; i != lanes(); ++i)
      if (!known.getAggregateElement(i)->isNullValue())
        result = writeLane(b, i, result);
    return result;
  }

  /// Asks each lane.
  Value *writeAsked(Instruction *before) const {
    Value *result = other;
    for (unsigned i = 0; i != lanes(); ++i) {
      IRBuilder<> b(before);
      BasicBlock *from = before->getParent();
      Instruction *then = SplitBlockAndInsertIfThen(
          b.CreateExtractElement(mask, i), before->getIterator(), false);
      b.SetInsertPoint(then);
      Value *changed = writeLane(b, i, result);
      if (isStore)
        continue;
      b.SetInsertPoint(before->getParent(), before->getParent()->begin());
      PHINode *joined = b.CreatePHI(type, 2);
      joined->addIncoming(changed, then->getParent());
      joined->addIncoming(result, from);
      result = joined;
    }
    return result;
  }

  Value *expand() const {
    IRBuilder<> b(&call);
    if (auto *known = dyn_cast<Constant>(mask))
      return known->isAllOnesValue() ? writeAll(b) : writeSome(b, *known);
    // Most vectors of a row are whole ones.
    Instruction *whole, *asked;
    SplitBlockAndInsertIfThenElse(areAll(b, mask), call.getIterator(), &whole,
                                  &asked);
    b.SetInsertPoint(whole);
    Value *all = writeAll(b), *some = writeAsked(asked);
    if (isStore)
      return nullptr;
    b.SetInsertPoint(&call);
    PHINode *result = b.CreatePHI(type, 2);
    result->addIncoming(all, whole->getParent());
    result->addIncoming(some, asked->getParent());
    return result;
  }

  IntrinsicInst &call;
  bool isStore, isApart;
  Value *address, *mask, *stored, *other;
  Align alignment;
  FixedVectorType *type;
};
} // namespace

static bool isMasked(const IntrinsicInst &call) {
  switch (call.getIntrinsicID()) {
  case Intrinsic::masked_load:
  case Intrinsic::masked_store:
  case Intrinsic::masked_gather:
  case Intrinsic::masked_scatter:
    return true;
  default:
    return false;
  }
}

void ashlar::opencl::expandMasks(Function &function) {
  SmallVector<IntrinsicInst *> masked;
  for (Instruction &instruction : instructions(function))
    if (auto *call = dyn_cast<IntrinsicInst>(&instruction))
      if (isMasked(*call))
        masked.push_back(call);
  for (IntrinsicInst *call : masked) {
    Access access(*call);
    Value *address = access.address;
    if (Value *result = access.expand())
      call->replaceAllUsesWith(result);
    call->eraseFromParent();
    if (access.isApart)
      RecursivelyDeleteTriviallyDeadInstructions(address);
  }
}
