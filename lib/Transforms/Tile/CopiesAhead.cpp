// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CopiesAhead.h"
#include "ashlar/Dialects/Tile/IR/Decode.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace ashlar;

static Value rootOf(Value memory) {
  while (auto view = memory.getDefiningOp<ViewLikeOpInterface>())
    memory = view.getViewSource();
  return memory;
}

/// Whether all ways to this memory begin here.
static bool isOneMemory(Value root) {
  if (auto argument = dyn_cast<BlockArgument>(root))
    return isa<func::FuncOp>(argument.getOwner()->getParentOp());
  auto effects = root.getDefiningOp<MemoryEffectOpInterface>();
  return effects &&
         effects.getEffectOnValue<MemoryEffects::Allocate>(root).has_value();
}

/// Where ways of several memories meet, it may be any.
static bool mayBe(Value memory, Value root) {
  Value own = rootOf(memory);
  return own == root || !isOneMemory(own);
}

/// Whether an op of `scope` may change `root`.
static bool isWritten(Value root, Operation *scope) {
  return scope
      ->walk([&](Operation *op) {
        for (Value operand : op->getOperands())
          if (isa<MemRefType>(operand.getType()) && mayBe(operand, root) &&
              !isPure(op) &&
              (!isa<MemoryEffectOpInterface>(op) ||
               hasEffect<MemoryEffects::Write>(op, operand)))
            return WalkResult::interrupt();
        return WalkResult::advance();
      })
      .wasInterrupted();
}

std::string ashlar::whyNotAhead(tile::CopyOp copy, Operation *scope,
                                ValueRange others,
                                llvm::SetVector<Operation *> &slice) {
  if (copy->getParentOfType<tile::RoleOp>())
    return "it belongs to a role already";
  Operation *ring = copy.getRing().getDefiningOp();
  if (!ring || (scope->isProperAncestor(ring) &&
                (isa<scf::ForOp>(scope) || ring->getParentOp() != scope)))
    return "its ring is made inside of loops";
  if (!llvm::all_of(copy.getToken().getUsers(), llvm::IsaPred<tile::WaitOp>))
    return "its token goes elsewhere than to tile.wait";
  SmallVector<Value> sources = {copy.getSource()};
  if (tile::DecodeOp decode = tile::decodeOf(copy.getSource()))
    sources = llvm::to_vector(ValueRange(decode.getInputs()));
  for (Value source : sources)
    if (Value root = rootOf(source);
        !isOneMemory(root) || isWritten(root, scope))
      return "what it copies is made by the kernel";
  SmallVector<Value> needed(copy->getOperands());
  llvm::append_range(needed, others);
  while (!needed.empty()) {
    Value value = needed.pop_back_val();
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
      if (loop && scope->isAncestor(loop) && argument != loop.getInductionVar())
        return "where it copies from depends on the iteration before";
      continue;
    }
    Operation *source = value.getDefiningOp();
    if (isa<tile::AllocOp, tile::DecodeOp>(source) ||
        !scope->isProperAncestor(source))
      continue;
    // A division is done where it would have been, or behind what decides
    // that.
    if (!isMemoryEffectFree(source) || source->getNumRegions() != 0)
      return "where it copies from is computed by the kernel";
    if (slice.insert(source))
      llvm::append_range(needed, source->getOperands());
  }
  return "";
}

int64_t ashlar::tripsOf(scf::ForOp loop) {
  std::optional<int64_t> from = getConstantIntValue(loop.getLowerBound()),
                         to = getConstantIntValue(loop.getUpperBound()),
                         by = getConstantIntValue(loop.getStep());
  if (!from || !to || !by || *by < 1 || *from >= *to)
    return 0;
  return llvm::divideCeil(*to - *from, *by);
}
