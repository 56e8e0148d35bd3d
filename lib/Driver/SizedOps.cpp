// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SizedOps.h"
#include "ashlar/Analysis/EvaluateConstant.h"
#include "ashlar/Dialects/Exec/Utils/Views.h"
#include "ashlar/Support/Remarks.h"
#include "ashlar/Transforms/Simplify/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include <map>

using namespace mlir;
using namespace ashlar;

namespace {
/// The numbers of an op: dims of its results, and attributes.
struct OpNumbers {
  std::vector<int64_t> numbers;
  bool isUnaligned;
};
} // namespace

static std::map<std::pair<std::string, unsigned>, OpNumbers>
numbersByOp(const ProgramSizes &model) {
  std::map<std::pair<std::string, unsigned>, OpNumbers> found;
  std::map<std::string, unsigned> counts;
  for (size_t i = 0; i != model.parts.size(); ++i) {
    const ProgramSizes::Part &part = model.parts[i];
    if (part.isOfGraph)
      continue;
    size_t end = i + 1 == model.parts.size() ? model.numbers.size()
                                             : model.parts[i + 1].begin;
    found[{part.node, counts[part.node]++}] = {
        {model.numbers.begin() + part.begin, model.numbers.begin() + end},
        part.isUnaligned};
  }
  return found;
}

void SizedOps::add(const ProgramSizes &model, const ProgramSizes &other) {
  auto theirs = numbersByOp(other);
  for (auto &[op, own] : numbersByOp(model)) {
    auto found = theirs.find(op);
    std::vector<int64_t> &all = numbers[op];
    if (found == theirs.end()) {
      all.push_back(-1);
      continue;
    }
    llvm::append_range(all, found->second.numbers);
    if (found->second.numbers != own.numbers)
      ops.insert(op);
    if (own.isUnaligned || found->second.isUnaligned)
      unaligned.insert(op);
  }
}

namespace {
/// Marks the ops of one entry, in their order.
class Keeper {
public:
  explicit Keeper(const std::map<Operation *, int64_t> &sized) : sized(sized) {}

  void visit(Operation &op) {
    if (op.hasTrait<OpTrait::IsTerminator>() || !isMemoryEffectFree(&op))
      return;
    // A tensor without elements is known, but not how large others are that a
    // caller chooses its other dims for.
    if (sized.count(&op) && isEmpty(op))
      return keep(op);
    if (!hangsOnConstants(op))
      return;
    constants.insert(&op);
    if (op.getNumResults() != 1 || !sized.count(&op) ||
        isa<arith::ConstantOp, tensor::EmptyOp, linalg::FillOp>(op) ||
        isOneNumber(op))
      return;
    keepApart(op);
    keep(op);
  }

private:
  /// As no constant; nor is what it leads to known.
  void keep(Operation &op) {
    op.setDiscardableAttr(sizedAttrName, UnitAttr::get(op.getContext()));
    evaluator.assume(op.getResult(0), {});
  }

  static bool isEmpty(Operation &op) {
    auto type = op.getNumResults() == 1
                    ? dyn_cast<RankedTensorType>(op.getResult(0).getType())
                    : RankedTensorType();
    return type && type.hasStaticShape() && type.getNumElements() == 0;
  }

  /// Of an op that is merged with others, what it does with its indices stays.
  void keepApart(Operation &op) {
    auto mark =
        IntegerAttr::get(IntegerType::get(op.getContext(), 64), sized.at(&op));
    op.walk([&](Operation *inner) {
      if (!inner->hasTrait<OpTrait::IsTerminator>() &&
          !isa<linalg::IndexOp, arith::ConstantOp>(inner))
        inner->setDiscardableAttr(apartAttrName, mark);
    });
  }

  bool hangsOnConstants(Operation &op) const {
    llvm::SetVector<Value> operands(op.operand_begin(), op.operand_end());
    getUsedValuesDefinedAbove(op.getRegions(), operands);
    return llvm::all_of(operands, [&](Value operand) {
      return constants.contains(operand.getDefiningOp());
    });
  }

  /// An index could make it another number at another size.
  bool isOneNumber(Operation &op) {
    auto loops = dyn_cast<linalg::LinalgOp>(op);
    if (loops && loops.hasIndexSemantics())
      return false;
    DenseElementsAttr value = evaluator.evaluate(op.getResult(0));
    return value && value.isSplat();
  }

  /// What is equal at all sizes that were looked at has one number.
  const std::map<Operation *, int64_t> &sized;
  llvm::DenseSet<Operation *> constants;
  ConstantEvaluator evaluator;
};
} // namespace

void SizedOps::keepIn(ModuleOp model) const {
  if (ops.empty() && unaligned.empty())
    return;
  // As they are numbered where they are read.
  std::map<Operation *, int64_t> sized;
  std::map<std::vector<int64_t>, int64_t> kinds;
  std::map<std::string, unsigned> counts;
  model.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == model || isOfGraph(op))
      return;
    std::string node = nodeName(op->getLoc());
    unsigned number = counts[node]++;
    if (ops.count({node, number}))
      sized[op] = kinds.try_emplace(numbers.at({node, number}), kinds.size())
                      .first->second;
    if (unaligned.count({node, number}))
      op->setDiscardableAttr(copiedAttrName, UnitAttr::get(op->getContext()));
  });
  for (auto function : model.getOps<func::FuncOp>()) {
    Keeper keeper(sized);
    for (Operation &op : function.getBody().front())
      keeper.visit(op);
  }
}
