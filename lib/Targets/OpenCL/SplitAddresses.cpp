// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SplitAddresses.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;
using namespace ashlar::opencl;

namespace {
/// (changed + kept) times a number, or shifted by one.
struct Index {
  Value *changed, *kept;
  Instruction *scaled = nullptr; ///< by which; null: neither
};
} // namespace

static std::optional<Index> readIndex(Value *value, const Loop &loop) {
  Index index;
  Value *sum = value, *factor = nullptr;
  // A match that fails may have bound what it looked at.
  if (match(value, m_CombineOr(m_Mul(m_Value(factor), m_ConstantInt()),
                               m_Shl(m_Value(factor), m_ConstantInt())))) {
    index.scaled = cast<Instruction>(value);
    sum = factor;
  }
  if (!match(sum, m_AddLike(m_Value(index.changed), m_Value(index.kept))))
    return std::nullopt;
  if (loop.isLoopInvariant(index.changed))
    std::swap(index.changed, index.kept);
  if (loop.isLoopInvariant(index.changed) ||
      !loop.isLoopInvariant(index.kept) || isa<Constant>(index.kept))
    return std::nullopt;
  return index;
}

PreservedAnalyses SplitAddressesPass::run(Function &function,
                                          FunctionAnalysisManager &analyses) {
  const LoopInfo &loops = analyses.getResult<LoopAnalysis>(function);
  bool changes = false;
  for (Instruction &instruction : instructions(function)) {
    auto *address = dyn_cast<GetElementPtrInst>(&instruction);
    const Loop *loop = loops.getLoopFor(instruction.getParent());
    if (!address || !loop || address->getNumIndices() != 1)
      continue;
    Value *base = address->getPointerOperand();
    const Loop *outer = loop->getParentLoop();
    BasicBlock *before = loop->getLoopPreheader();
    std::optional<Index> index = readIndex(address->getOperand(1), *loop);
    if (!index || !before || !outer || !loop->isLoopInvariant(base) ||
        outer->isLoopInvariant(base) || !outer->isLoopInvariant(index->kept))
      continue;
    auto scaled = [&](IRBuilder<> &b, Value *value) -> Value * {
      return index->scaled ? b.CreateBinOp(Instruction::BinaryOps(
                                               index->scaled->getOpcode()),
                                           value, index->scaled->getOperand(1))
                           : value;
    };
    IRBuilder<> front(before->getTerminator()), here(address);
    address->setOperand(0, front.CreateGEP(address->getSourceElementType(),
                                           base, scaled(front, index->kept)));
    address->setOperand(1, scaled(here, index->changed));
    // What lies between may be outside of the object.
    address->setNoWrapFlags(GEPNoWrapFlags::none());
    changes = true;
  }
  return changes ? PreservedAnalyses::none() : PreservedAnalyses::all();
}
