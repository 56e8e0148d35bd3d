// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels between two ops of control flow run in the order that keeps the least
// memory alive at the worst moment.
#include "OperationOrder.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Dialects/Exec/Utils/ControlFlow.h"
#include "ashlar/Dialects/Exec/Utils/Views.h"
#include "ashlar/Support/Remarks.h"
#include "ashlar/Transforms/Schedule/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_REORDEROPERATIONSPASS
#include "ashlar/Transforms/Schedule/Passes.h.inc"
} // namespace ashlar

namespace {
/// The ops between two fences.
class Stretch {
public:
  Stretch(ArrayRef<Operation *> ops, const SymbolTable &symbols)
      : ops(ops.begin(), ops.end()), own(ops.begin(), ops.end()),
        symbols(symbols) {
    for (Operation *op : ops)
      if (isa<exec::InvokeOp, exec::TransferOp>(op))
        numbers[op] = commands.size(), commands.push_back(op);
  }

  /// The bytes alive at the peak. The first time is told, and searched longer,
  /// for as much work as is left; what it takes is taken off that.
  int64_t reorder(bool isFirst, int64_t &workLeft) {
    if (commands.empty())
      return 0;
    for (Operation *command : commands)
      describe(command);
    OperationOrder found =
        orderForLowestPeak(problem, isFirst ? workOf(workLeft) : 3'000'000);
    if (isFirst) {
      explain(found);
      workLeft -= found.work;
    }
    if (found.peak < found.originalPeak)
      apply(found.order);
    order = found.order;
    return found.peak;
  }

  /// Computes one value again for a peak nearer to `target`; false: none does.
  bool rematerialize(int64_t target) {
    std::vector<bool> repeatable;
    for (Operation *command : commands)
      repeatable.push_back(isCheap(command));
    auto found = chooseRematerialization(problem, order, repeatable, target);
    if (!found)
      return false;
    auto writer = cast<exec::InvokeOp>(commands[found->writer]);
    Operation *before = commands[found->before];
    OpBuilder b(before);
    Operation *again = b.clone(*writer);
    remark::passed(writer.getLoc(),
                   about(writer, "Rematerialization", "schedule"))
        << "is computed again for " << nodeName(before->getLoc())
        << ", so that "
        << remark::metric("BytesFreed", bytesOf(writer.getResult(0)))
        << " bytes are free at the peak; it costs "
        << remark::metric("Flops", flopsOf(writer)) << " operations and moves "
        << remark::metric("Bytes", bytesMoved(writer)) << " bytes more";
    for (int number : found->readers)
      for (OpOperand &operand : commands[number]->getOpOperands())
        if (viewed(operand.get()) == writer.getResult(0))
          operand.set(viewOf(operand.get(), again->getResult(0), b));
    return true;
  }

private:
  exec::KernelOp kernelOf(exec::InvokeOp invoke) const {
    return symbols.lookup<exec::KernelOp>(invoke.getKernel());
  }

  /// Of one search, where all together may do so much more: most programs have
  /// one large stretch, but each body of a loop has its own.
  static int64_t workOf(int64_t left) {
    return std::clamp<int64_t>(left, 300'000, 30'000'000);
  }

  static int64_t bytesOf(Value value) {
    return llvm::alignTo(byteSize(value.getType()), 64);
  }

  static int64_t bytesMoved(exec::InvokeOp invoke) {
    int64_t bytes = 0;
    for (Value value : invoke->getOperands())
      bytes += byteSize(value.getType());
    for (Value value : invoke->getResults())
      bytes += byteSize(value.getType());
    return bytes;
  }

  int64_t flopsOf(exec::InvokeOp invoke) {
    exec::SizeAttr flops = kernelOf(invoke).getFlopsAttr();
    return flops && flops.isConstant() ? flops.getConstant() : 0;
  }

  /// What is not summed up over anything, but picked and changed a little.
  bool isCheap(Operation *command) {
    auto invoke = dyn_cast<exec::InvokeOp>(command);
    if (!invoke)
      return false;
    return invoke->getNumResults() == 1 && !kernelOf(invoke).getCycles() &&
           flopsOf(invoke) <= 16 * bytesOf(invoke.getResult(0)) &&
           bytesMoved(invoke) <= 4 * bytesOf(invoke.getResult(0));
  }

  /// The same view as `view`, of another value.
  static Value viewOf(Value view, Value root, OpBuilder &b) {
    Operation *op = view.getDefiningOp();
    if (!isView(op))
      return root;
    IRMapping mapping;
    mapping.map(op->getOperand(0), viewOf(op->getOperand(0), root, b));
    return b.clone(*op, mapping)->getResult(0);
  }

  void explain(const OperationOrder &found) {
    if (commands.size() < 3)
      return;
    Operation *first = commands.front();
    if (found.peak < found.originalPeak) {
      remark::passed(first->getLoc(), about(first, "Order", "schedule"))
          << "and the " << remark::metric("Kernels", commands.size() - 1)
          << " kernels after it were reordered: at most "
          << remark::metric("Bytes", found.peak) << " bytes alive instead of "
          << remark::metric("BytesBefore", found.originalPeak)
          << (found.isExact ? ", no order has less"
                            : ", the best order that was found");
      return;
    }
    remark::analysis(first->getLoc(), about(first, "Order", "schedule"))
        << "and the " << remark::metric("Kernels", commands.size() - 1)
        << " kernels after it keep their order: at most "
        << remark::metric("Bytes", found.peak) << " bytes alive, "
        << (found.isExact ? "no order has less" : "no better order was found");
  }

  /// The number of the buffer behind `value`; -1: none that an order changes.
  int bufferOf(Value value) {
    Value root = viewed(value);
    Operation *writer = root.getDefiningOp();
    if (!isa_and_nonnull<exec::InvokeOp, exec::TransferOp>(writer) ||
        writer->getBlock() != commands.front()->getBlock() || isOutput(root))
      return -1;
    auto [it, isNew] = buffers.try_emplace(root, problem.buffers.size());
    if (isNew)
      problem.buffers.push_back({bytesOf(root), isReadOutside(root)});
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

  /// The operands whose memory the result may take over.
  SmallVector<int64_t> aliasesOf(Operation *command) {
    auto invoke = dyn_cast<exec::InvokeOp>(command);
    if (!invoke)
      return {};
    return SmallVector<int64_t>(
        kernelOf(invoke).getAliases().value_or(ArrayRef<int64_t>()));
  }

  void describe(Operation *command) {
    OrderProblem::Operation op;
    llvm::SmallSetVector<int, 8> reads;
    SmallVector<int> perOperand;
    for (Value operand : command->getOperands()) {
      int buffer = bufferOf(operand);
      perOperand.push_back(buffer);
      if (buffer >= 0)
        reads.insert(buffer);
    }
    op.reads.assign(reads.begin(), reads.end());
    for (Value result : command->getResults())
      if (int buffer = bufferOf(result); buffer >= 0)
        op.writes.push_back(buffer);
    for (int64_t number : aliasesOf(command)) {
      Value operand = command->getOperand(number);
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
      place(commands[number], fence);
    for (Operation *op : ops)
      place(op, fence);
  }

  SmallVector<Operation *> ops;
  llvm::DenseSet<Operation *> own; ///< the same
  const SymbolTable &symbols;
  SmallVector<Operation *> commands;
  llvm::DenseMap<Operation *, unsigned> numbers;
  llvm::DenseMap<Value, int> buffers;
  llvm::DenseSet<Operation *> placed;
  OrderProblem problem;
  std::vector<int> order;
};

/// Of one stretch: each costs a search.
constexpr int mostRepeated = 64;
/// Of all stretches of an entry, as OperationOrder counts it: some 30 seconds.
constexpr int64_t mostWork = 150'000'000;

struct ReorderOperations
    : ashlar::impl::ReorderOperationsPassBase<ReorderOperations> {
  using ReorderOperationsPassBase::ReorderOperationsPassBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function.isPublic()) {
        workLeft = mostWork;
        reorder(function.getBody().front(), symbols);
      }
  }

private:
  void reorder(Block &block, const SymbolTable &symbols) {
    SmallVector<SmallVector<Operation *>> stretches(1);
    for (Operation &op : block) {
      if (isControlFlow(&op))
        for (Region &region : op.getRegions())
          reorder(region.front(), symbols);
      if (isFence(&op))
        stretches.emplace_back();
      else
        stretches.back().push_back(&op);
    }
    for (SmallVector<Operation *> &ops : stretches)
      reorder(ops, symbols);
  }

  void reorder(SmallVector<Operation *> &ops, const SymbolTable &symbols) {
    if (ops.empty())
      return;
    Block *block = ops.front()->getBlock();
    Operation *before = ops.front()->getPrevNode();
    Operation *fence = ops.back()->getNextNode();
    for (int repeated = 0;; ++repeated) {
      Stretch stretch(ops, symbols);
      int64_t peak = stretch.reorder(/*isFirst=*/repeated == 0, workLeft);
      if (repeated == mostRepeated || arenaBytes == 0 || peak <= arenaBytes ||
          !stretch.rematerialize(arenaBytes))
        return;
      ops.clear();
      for (Operation *op = before ? before->getNextNode() : &block->front();
           op != fence; op = op->getNextNode())
        ops.push_back(op);
    }
  }

  int64_t workLeft = mostWork;
};
} // namespace
