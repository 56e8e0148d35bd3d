// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SingleLaneStores.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

/// The lanes that a mask selects, surely; nothing where that is not known.
static std::optional<BitVector> selectedLanes(Value *mask) {
  auto *constant = dyn_cast<Constant>(mask);
  auto *type = dyn_cast<FixedVectorType>(mask->getType());
  if (!constant || !type)
    return std::nullopt;
  BitVector lanes(type->getNumElements());
  for (unsigned i = 0; i != lanes.size(); ++i) {
    Constant *lane = constant->getAggregateElement(i);
    if (!lane || !isa<ConstantInt, UndefValue>(lane))
      return std::nullopt;
    lanes[i] = lane->isOneValue();
  }
  return lanes;
}

/// Of each `group` of lanes the one that is selected alone.
static SmallVector<unsigned> lanesAlone(const BitVector &lanes,
                                        unsigned group) {
  SmallVector<unsigned> alone;
  for (unsigned begin = 0; begin < lanes.size(); begin += group) {
    unsigned end = std::min(begin + group, lanes.size());
    int first = lanes.find_first_in(begin, end);
    if (first >= 0 && lanes.find_first_in(first + 1, end) < 0)
      alone.push_back(first);
  }
  return alone;
}

static void storeLane(IRBuilder<> &b, IntrinsicInst *access, unsigned lane) {
  Value *value = access->getArgOperand(0), *to = access->getArgOperand(1);
  Type *element = value->getType()->getScalarType();
  uint64_t distance =
      lane * b.GetInsertBlock()->getDataLayout().getTypeStoreSize(element);
  Align alignment =
      commonAlignment(access->getParamAlign(1).valueOrOne(), distance);
  StoreInst *store = b.CreateAlignedStore(
      b.CreateExtractElement(value, lane),
      lane ? b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), to, distance) : to,
      alignment);
  store->setAAMetadata(access->getAAMetadata());
}

static void takeLanesAlone(IntrinsicInst *access, int64_t vectorBytes) {
  std::optional<BitVector> lanes = selectedLanes(access->getArgOperand(2));
  uint64_t bits = access->getArgOperand(0)->getType()->getScalarSizeInBits();
  if (!lanes || bits % 8 != 0)
    return;
  uint64_t group = std::max<uint64_t>(vectorBytes * 8 / bits, 1);
  SmallVector<unsigned> alone = lanesAlone(*lanes, group);
  if (alone.empty())
    return;
  IRBuilder<> b(access);
  for (unsigned lane : alone) {
    storeLane(b, access, lane);
    lanes->reset(lane);
  }
  if (lanes->none()) {
    access->eraseFromParent();
    return;
  }
  SmallVector<Constant *> rest;
  for (unsigned i = 0; i != lanes->size(); ++i)
    rest.push_back(b.getInt1(lanes->test(i)));
  access->setArgOperand(2, ConstantVector::get(rest));
}

void ashlar::cpu::storeSingleLanesAsScalars(Module &module,
                                            int64_t vectorBytes) {
  SmallVector<IntrinsicInst *> stores;
  for (Function &function : module)
    for (Instruction &instruction : instructions(function))
      if (auto *intrinsic = dyn_cast<IntrinsicInst>(&instruction))
        if (intrinsic->getIntrinsicID() == Intrinsic::masked_store)
          stores.push_back(intrinsic);
  for (IntrinsicInst *store : stores)
    takeLanesAlone(store, vectorBytes);
}
