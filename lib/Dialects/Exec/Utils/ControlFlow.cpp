// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Dialects/Exec/Utils/ControlFlow.h"
#include "ashlar/Analysis/ByteSize.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

static bool areTensors(TypeRange types) {
  return llvm::all_of(types,
                      [](Type type) { return isa<RankedTensorType>(type); });
}

/// Whether the ops of this block become commands.
static bool holdsCommands(Block *block) {
  Operation *parent = block->getParentOp();
  return isa<func::FuncOp>(parent) || ashlar::isControlFlow(parent);
}

bool ashlar::isControlFlow(Operation *op) {
  if (op->getNumResults() == 0 || !areTensors(op->getResultTypes()))
    return false;
  bool isKind = isa<scf::ForOp>(op) && op->hasAttr(commandsAttrName);
  if (auto branches = dyn_cast<scf::IfOp>(op))
    isKind = bool(conditionTensor(branches.getCondition()));
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    isKind = areTensors(loop.getInits().getTypes()) &&
             bool(conditionTensor(loop.getConditionOp().getCondition()));
  return isKind && holdsCommands(op->getBlock());
}

Value ashlar::conditionTensor(Value condition) {
  auto extract = condition.getDefiningOp<tensor::ExtractOp>();
  return extract && extract.getTensor().getType().getNumElements() == 1
             ? extract.getTensor()
             : Value();
}

bool ashlar::isLoopSlice(Operation *op) {
  auto slice = dyn_cast<OffsetSizeAndStrideOpInterface>(op);
  auto loop = dyn_cast<scf::ForOp>(op->getParentOp());
  if (!isa<tensor::ExtractSliceOp, tensor::InsertSliceOp>(op) || !loop ||
      !isControlFlow(loop))
    return false;
  ArrayRef<int64_t> whole =
      isa<tensor::ExtractSliceOp>(op)
          ? cast<tensor::ExtractSliceOp>(op).getSourceType().getShape()
          : cast<tensor::InsertSliceOp>(op).getDestType().getShape();
  ArrayRef<int64_t> sizes = slice.getStaticSizes();
  auto isOne = [](int64_t stride) { return stride == 1; };
  auto isZero = [](int64_t offset) { return offset == 0; };
  return slice.getOffsets().size() == 1 &&
         slice.getOffsets()[0] == loop.getInductionVar() &&
         ShapedType::isDynamic(slice.getStaticOffsets()[0]) &&
         llvm::all_of(slice.getStaticOffsets().drop_front(), isZero) &&
         llvm::all_of(slice.getStaticStrides(), isOne) && sizes[0] == 1 &&
         sizes.drop_front() == whole.drop_front();
}

bool ashlar::servesControlFlow(Operation *op) {
  if (isa<scf::YieldOp, scf::ConditionOp>(op))
    return true;
  if (auto require = dyn_cast<cf::AssertOp>(op))
    return conditionTensor(require.getArg()) ||
           require.getArg().getDefiningOp<arith::ConstantOp>();
  // In the blocks of an scf.if, its condition is known.
  if (isa<arith::ConstantOp>(op) && !op->use_empty() &&
      llvm::all_of(op->getUsers(),
                   [](Operation *user) { return isa<cf::AssertOp>(user); }))
    return true;
  if (isLoopSlice(op))
    return true;
  auto isRead = [](Operation *user) {
    return isa<scf::IfOp, scf::ConditionOp, cf::AssertOp>(user);
  };
  return isa<tensor::ExtractOp>(op) && !op->use_empty() &&
         conditionTensor(op->getResult(0)) &&
         llvm::all_of(op->getUsers(), isRead);
}

bool ashlar::isFence(Operation *op) {
  return isControlFlow(op) || isLoopSlice(op) || isa<cf::AssertOp>(op) ||
         op->hasTrait<OpTrait::IsTerminator>();
}
