// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels between two ops of control flow run in the order that keeps the least
// memory alive at the worst moment.
#include "OperationOrder.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Support/Remarks.h"
#include "ashlar/Transforms/Fuse/ControlFlow.h"
#include "ashlar/Transforms/Fuse/Views.h"
#include "ashlar/Transforms/Schedule/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_REORDEROPERATIONSPASS
#include "ashlar/Transforms/Schedule/Passes.h.inc"
} // namespace ashlar

namespace {
/// Commands that keep their place: what runs before them, runs before them.
bool isFence(Operation *op) {
  return isControlFlow(op) || isLoopSlice(op) || isa<cf::AssertOp>(op) ||
         op->hasTrait<OpTrait::IsTerminator>();
}

Value viewed(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isView(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// The ops between two fences.
class Stretch {
public:
  Stretch(ArrayRef<Operation *> ops, ModuleOp module)
      : ops(ops.begin(), ops.end()), own(ops.begin(), ops.end()),
        module(module) {
    for (Operation *op : ops)
      if (auto invoke = dyn_cast<exec::InvokeOp>(op))
        numbers[invoke] = invokes.size(), invokes.push_back(invoke);
  }

  void reorder() {
    if (invokes.size() < 3)
      return;
    for (exec::InvokeOp invoke : invokes)
      describe(invoke);
    OperationOrder found = orderForLowestPeak(problem);
    exec::InvokeOp first = invokes.front();
    if (found.peak < found.originalPeak) {
      apply(found.order);
      remark::passed(first.getLoc(), about(first, "Order", "schedule"))
          << "and the " << remark::metric("Kernels", invokes.size() - 1)
          << " kernels after it were reordered: at most "
          << remark::metric("Bytes", found.peak) << " bytes alive instead of "
          << remark::metric("BytesBefore", found.originalPeak)
          << (found.isExact ? ", no order has less"
                            : ", the best order that was found");
      return;
    }
    remark::analysis(first.getLoc(), about(first, "Order", "schedule"))
        << "and the " << remark::metric("Kernels", invokes.size() - 1)
        << " kernels after it keep their order: at most "
        << remark::metric("Bytes", found.peak) << " bytes alive, "
        << (found.isExact ? "no order has less" : "no better order was found");
  }

private:
  /// The number of the buffer behind `value`; -1: none that an order changes.
  int bufferOf(Value value) {
    Value root = viewed(value);
    auto invoke = root.getDefiningOp<exec::InvokeOp>();
    if (!invoke || invoke->getBlock() != invokes.front()->getBlock() ||
        isOutput(root))
      return -1;
    auto [it, isNew] = buffers.try_emplace(root, problem.buffers.size());
    if (isNew)
      problem.buffers.push_back(
          {int64_t(llvm::alignTo(byteSize(root.getType()), 64)),
           isReadOutside(root)});
    return it->second;
  }

  /// Computed in the caller's memory, or where a branch's result is wanted.
  static bool isOutput(Value root) {
    Operation *end = root.getParentBlock()->getTerminator();
    if (!isa<func::ReturnOp>(end) && !isa<scf::IfOp>(end->getParentOp()))
      return false;
    return llvm::any_of(end->getOperands(), [&](Value operand) {
      return viewed(operand) == root &&
             byteSize(operand.getType()) == byteSize(root.getType());
    });
  }

  bool isReadOutside(Value value) const {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      if (isView(user))
        return isReadOutside(user->getResult(0));
      return !numbers.contains(user);
    });
  }

  void describe(exec::InvokeOp invoke) {
    OrderProblem::Operation op;
    llvm::SmallSetVector<int, 8> reads;
    SmallVector<int> perOperand;
    for (Value operand : invoke.getOperands()) {
      int buffer = bufferOf(operand);
      perOperand.push_back(buffer);
      if (buffer >= 0)
        reads.insert(buffer);
    }
    op.reads.assign(reads.begin(), reads.end());
    for (Value result : invoke.getResults())
      if (int buffer = bufferOf(result); buffer >= 0)
        op.writes.push_back(buffer);
    auto kernel = module.lookupSymbol<func::FuncOp>(invoke.getKernel());
    auto aliases = kernel->getAttrOfType<ArrayAttr>(exec::aliasesAttrName);
    for (Attribute attribute :
         aliases ? aliases.getValue() : ArrayRef<Attribute>()) {
      int64_t number = cast<IntegerAttr>(attribute).getInt();
      Value operand = invoke.getOperand(number);
      int buffer = perOperand[number];
      // As BufferPlan does: a whole buffer that is given once.
      if (buffer >= 0 && op.writes.size() == 1 &&
          llvm::count(perOperand, buffer) == 1 &&
          byteSize(operand.getType()) == byteSize(viewed(operand).getType()))
        op.takesOver.push_back(buffer);
    }
    problem.operations.push_back(std::move(op));
  }

  /// `op` after what it reads; what is no kernel follows its readers.
  void place(Operation *op, Operation *fence) {
    if (!placed.insert(op).second)
      return;
    for (Value operand : op->getOperands())
      if (Operation *source = operand.getDefiningOp();
          source && own.contains(source))
        place(source, fence);
    op->moveBefore(fence);
  }

  void apply(ArrayRef<int> order) {
    Operation *fence = ops.back()->getNextNode();
    for (int number : order)
      place(invokes[number], fence);
    for (Operation *op : ops)
      place(op, fence);
  }

  SmallVector<Operation *> ops;
  llvm::DenseSet<Operation *> own; ///< the same
  ModuleOp module;
  SmallVector<exec::InvokeOp> invokes;
  llvm::DenseMap<Operation *, unsigned> numbers;
  llvm::DenseMap<Value, int> buffers;
  llvm::DenseSet<Operation *> placed;
  OrderProblem problem;
};

struct ReorderOperations
    : ashlar::impl::ReorderOperationsPassBase<ReorderOperations> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function.isPublic())
        reorder(function.getBody().front());
  }

private:
  void reorder(Block &block) {
    SmallVector<SmallVector<Operation *>> stretches(1);
    for (Operation &op : block) {
      if (isControlFlow(&op))
        for (Region &region : op.getRegions())
          reorder(region.front());
      if (isFence(&op))
        stretches.emplace_back();
      else
        stretches.back().push_back(&op);
    }
    for (ArrayRef<Operation *> ops : stretches)
      Stretch(ops, getOperation()).reorder();
  }
};
} // namespace
