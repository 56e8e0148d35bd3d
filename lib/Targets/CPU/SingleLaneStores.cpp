// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SingleLaneStores.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

/// The one lane that a mask selects; nothing where it is not constant or
/// selects none or several.
static std::optional<unsigned> selectedLane(Value *mask) {
  auto *constant = dyn_cast<Constant>(mask);
  auto *type = dyn_cast<FixedVectorType>(mask->getType());
  if (!constant || !type)
    return std::nullopt;
  std::optional<unsigned> selected;
  for (unsigned i = 0; i != type->getNumElements(); ++i) {
    Constant *lane = constant->getAggregateElement(i);
    if (!lane || !isa<ConstantInt, UndefValue>(lane))
      return std::nullopt;
    if (!lane->isOneValue())
      continue;
    if (selected)
      return std::nullopt;
    selected = i;
  }
  return selected;
}

static void storeLane(IntrinsicInst *access, unsigned lane) {
  IRBuilder<> b(access);
  Value *value = access->getArgOperand(0), *to = access->getArgOperand(1);
  Type *element = value->getType()->getScalarType();
  uint64_t distance =
      lane * access->getDataLayout().getTypeStoreSize(element).getFixedValue();
  StoreInst *store = b.CreateAlignedStore(
      b.CreateExtractElement(value, lane),
      lane ? b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), to, distance) : to,
      commonAlignment(access->getParamAlign(1).valueOrOne(), distance));
  store->setAAMetadata(access->getAAMetadata());
  access->eraseFromParent();
}

void ashlar::cpu::storeSingleLanesAsScalars(Module &module) {
  SmallVector<std::pair<IntrinsicInst *, unsigned>> stores;
  for (Function &function : module)
    for (Instruction &instruction : instructions(function))
      if (auto *intrinsic = dyn_cast<IntrinsicInst>(&instruction))
        if (intrinsic->getIntrinsicID() == Intrinsic::masked_store)
          if (auto lane = selectedLane(intrinsic->getArgOperand(2)))
            stores.emplace_back(intrinsic, *lane);
  for (auto [store, lane] : stores)
    storeLane(store, lane);
}
