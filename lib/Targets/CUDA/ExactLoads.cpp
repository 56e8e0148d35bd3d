// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ExactLoads.h"
#include "llvm/ADT/bit.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;
using namespace ashlar;

namespace {
/// A vector that is loaded in part.
struct PartialLoad {
  Instruction *load = nullptr; ///< null: it is none
  Value *from = nullptr, *otherwise = nullptr;
  Align align;
  SmallVector<bool> lanes; ///< which elements are loaded
};
} // namespace

/// Whether all elements of the mask are known.
static bool readMask(const Value *mask, SmallVectorImpl<bool> &lanes) {
  const auto *constant = dyn_cast<Constant>(mask);
  const auto *type = dyn_cast<FixedVectorType>(mask->getType());
  for (unsigned i = 0; constant && type && i != type->getNumElements(); ++i) {
    const Constant *lane = constant->getAggregateElement(i);
    if (!lane || !(lane->isOneValue() || lane->isNullValue()))
      return false;
    lanes.push_back(lane->isOneValue());
  }
  return !lanes.empty();
}

static PartialLoad readLoad(Instruction &instruction) {
  PartialLoad part;
  auto *type = dyn_cast<FixedVectorType>(instruction.getType());
  if (!type || type->getScalarSizeInBits() % 8 != 0)
    return part;
  if (auto *load = dyn_cast<LoadInst>(&instruction);
      load && load->isSimple() && !isPowerOf2_32(type->getNumElements())) {
    part.from = load->getPointerOperand();
    part.otherwise = PoisonValue::get(type);
    part.align = load->getAlign();
    part.lanes.assign(type->getNumElements(), true);
    part.load = load;
  }
  if (auto *call = dyn_cast<IntrinsicInst>(&instruction);
      call && call->getIntrinsicID() == Intrinsic::masked_load &&
      readMask(call->getArgOperand(1), part.lanes)) {
    part.from = call->getArgOperand(0);
    part.otherwise = call->getArgOperand(2);
    part.align = call->getParamAlign(0).valueOrOne();
    part.load = call;
  }
  return part;
}

/// Nothing joins loads across it.
static void addBarrier(IRBuilder<> &b) {
  b.CreateCall(InlineAsm::get(FunctionType::get(b.getVoidTy(), false), "",
                              "~{memory}", /*hasSideEffects=*/true));
}

/// Loads of one, two, four... elements in a row. What would become one
/// instruction again, and that one wider, is kept apart.
static Value *inPieces(const PartialLoad &part) {
  IRBuilder<> b(part.load);
  auto *type = cast<FixedVectorType>(part.load->getType());
  Type *element = type->getElementType();
  const uint64_t bytes = part.load->getDataLayout().getTypeStoreSize(element);
  constexpr unsigned widest = 32; // bytes that an instruction loads
  Value *made = part.otherwise;
  const unsigned size = part.lanes.size();
  for (unsigned i = 0; i != size;) {
    unsigned end = i;
    while (end != size && part.lanes[end])
      ++end;
    if (end == i) {
      ++i;
      continue;
    }
    const unsigned count = bit_floor(end - i);
    Value *place = b.CreateConstInBoundsGEP1_64(element, part.from, i);
    Value *loaded = b.CreateAlignedLoad(
        count == 1 ? element : FixedVectorType::get(element, count), place,
        commonAlignment(part.align, i * bytes));
    for (unsigned k = 0; k != count; ++k)
      made = b.CreateInsertElement(
          made, count == 1 ? loaded : b.CreateExtractElement(loaded, k), i + k);
    i += count;
    if (i != end && i * bytes % widest != 0)
      addBarrier(b);
  }
  return made;
}

void ashlar::cuda::makeLoadsExact(Module &module) {
  for (Function &function : module)
    for (Instruction &instruction :
         make_early_inc_range(instructions(function)))
      if (PartialLoad part = readLoad(instruction); part.load) {
        part.load->replaceAllUsesWith(inPieces(part));
        part.load->eraseFromParent();
      }
}
