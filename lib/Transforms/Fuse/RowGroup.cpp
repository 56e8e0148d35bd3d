// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RowGroup.h"
#include "Dispatches.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Analysis/RowDims.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ashlar;

/// As many as FormDispatches lets share a kernel.
static constexpr size_t mostOfRows = 64;

static bool isPlain(linalg::GenericOp op) {
  return op && op->getNumResults() == 1 && op.hasPureTensorSemantics() &&
         deviceOf(op) == 0 &&
         llvm::none_of(op.getStaticLoopRanges(), [](int64_t range) {
           return ShapedType::isDynamic(range) || range == 0;
         });
}

RowGroup::RowGroup(ArrayRef<linalg::GenericOp> all, int64_t rowDims)
    : ops(all), rowDims(rowDims) {
  llvm::sort(ops, [](linalg::GenericOp x, linalg::GenericOp y) {
    return x->isBeforeInBlock(y);
  });
}

RowGroup RowGroup::behind(linalg::GenericOp root) {
  RowGroup group;
  if (!isPlain(root))
    return group;
  group.ops.push_back(root);
  for (size_t i = 0; i < group.ops.size() && group.ops.size() < mostOfRows; ++i)
    for (Value input : group.ops[i].getDpsInputs()) {
      auto producer = input.getDefiningOp<linalg::GenericOp>();
      if (!isPlain(producer) || group.has(producer) ||
          producer->getBlock() != root->getBlock() ||
          !llvm::all_of(producer->getUsers(),
                        [&](Operation *user) { return group.has(user); }))
        continue;
      group.ops.push_back(producer);
      if (countRowDims(group.ops) == 0) {
        group.ops.pop_back();
        continue;
      }
      // Others may have waited for this one.
      i = size_t(-1);
      break;
    }
  return RowGroup(group.ops,
                  group.ops.size() > 1 ? countRowDims(group.ops) : 0);
}

SmallVector<linalg::GenericOp> RowGroup::reductions() const {
  return llvm::to_vector(llvm::make_filter_range(ops, [](linalg::GenericOp op) {
    return op.getNumReductionLoops() != 0;
  }));
}

int64_t RowGroup::rows() const {
  return ShapedType::getNumElements(
      ArrayRef(root().getStaticLoopRanges()).take_front(rowDims));
}

int64_t RowGroup::pointsOfRow(linalg::GenericOp op) const {
  return ShapedType::getNumElements(
      ArrayRef(op.getStaticLoopRanges()).drop_front(rowDims));
}

int64_t RowGroup::resultsOfRow(linalg::GenericOp op) const {
  return cast<ShapedType>(op->getResult(0).getType()).getNumElements() / rows();
}

int64_t RowGroup::bytesRead() const {
  llvm::SmallPtrSet<Value, 8> seen;
  int64_t bytes = 0;
  for (linalg::GenericOp op : ops)
    for (Value input : op.getDpsInputs())
      if (auto type = dyn_cast<RankedTensorType>(input.getType());
          type && !has(input.getDefiningOp()) &&
          !input.getDefiningOp<tensor::EmptyOp>() && seen.insert(input).second)
        bytes += byteSize(type);
  return bytes;
}

int64_t RowGroup::bytesWritten() const {
  return byteSize(root()->getResult(0).getType());
}

int64_t RowGroup::bytesPassed() const {
  int64_t bytes = 0;
  for (linalg::GenericOp op : ops)
    if (passesRow(op))
      bytes += byteSize(op->getResult(0).getType()) / rows();
  return bytes;
}

bool ashlar::recomputeRows(RowGroup &group) {
  auto passes = [&](Value value) {
    auto producer = value.getDefiningOp<linalg::GenericOp>();
    return producer && group.has(producer) && group.passesRow(producer);
  };
  for (linalg::GenericOp op : group.ops)
    for (OpOperand *input : op.getDpsInputOperands())
      if (passes(input->get()) && (input->get()
                                           .getDefiningOp<linalg::GenericOp>()
                                           .getNumReductionLoops() != 0 ||
                                   !linalg::areElementwiseOpsFusable(input)))
        return false;
  IRRewriter rewriter(group.root());
  // From the first on: what has been fused reads what is passed on no more.
  for (linalg::GenericOp &op : group.ops) {
    auto findPassed = [&]() -> OpOperand * {
      for (OpOperand *input : op.getDpsInputOperands())
        if (passes(input->get()))
          return input;
      return nullptr;
    };
    while (OpOperand *input = findPassed()) {
      rewriter.setInsertionPoint(op);
      // One that nobody else reads leaves no second result.
      Operation *own = rewriter.clone(*input->get().getDefiningOp());
      input->set(own->getResult(0));
      auto fused = linalg::fuseElementwiseOps(rewriter, input);
      assert(succeeded(fused) && "was asked before");
      Value before = op->getResult(0);
      rewriter.replaceAllUsesWith(before, fused->replacements.lookup(before));
      rewriter.eraseOp(op);
      rewriter.eraseOp(own);
      op = cast<linalg::GenericOp>(fused->fusedOp);
    }
  }
  for (linalg::GenericOp &op : llvm::drop_begin(llvm::reverse(group.ops)))
    if (op->use_empty()) {
      rewriter.eraseOp(op);
      op = {};
    }
  llvm::erase_if(group.ops, [](linalg::GenericOp op) { return !op; });
  return true;
}

void ashlar::copyForReaders(linalg::GenericOp op) {
  SmallVector<Operation *> readers;
  for (Operation *user : op->getUsers())
    if (!llvm::is_contained(readers, user))
      readers.push_back(user);
  OpBuilder b(op);
  for (Operation *reader : llvm::drop_begin(readers))
    op->getResult(0).replaceUsesWithIf(
        b.clone(*op)->getResult(0),
        [&](OpOperand &use) { return use.getOwner() == reader; });
}
