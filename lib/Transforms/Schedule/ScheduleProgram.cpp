// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From ops to commands on the places that a plan gives their values.
#include "BufferPlan.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Dialects/Exec/Utils/ControlFlow.h"
#include "ashlar/Transforms/Schedule/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ashlar;
using exec::Storage;

namespace ashlar {
#define GEN_PASS_DEF_SCHEDULEPROGRAMPASS
#include "ashlar/Transforms/Schedule/Passes.h.inc"
} // namespace ashlar

namespace {
class Scheduler {
public:
  Scheduler(func::FuncOp function, ModuleOp module, const SymbolTable &symbols)
      : function(function), module(module), plan(function, module, symbols),
        b(function) {}

  LogicalResult run() {
    if (failed(plan.run()))
      return failure();
    emitProgram();
    return success();
  }

private:
  ArrayAttr interface(TypeRange types,
                      llvm::function_ref<DictionaryAttr(unsigned)> attributes) {
    SmallVector<Attribute> described;
    for (auto [i, type] : llvm::enumerate(types)) {
      NamedAttrList list(attributes(i));
      list.append("tensor", TypeAttr::get(type));
      described.push_back(list.getDictionary(function.getContext()));
    }
    return b.getArrayAttr(described);
  }

  /// Where sizes of outputs are at the end; none of them is an output.
  ArrayAttr outputSizes(unsigned outputs) {
    SmallVector<Attribute> sizes;
    Operation *ret = function.getBody().front().getTerminator();
    for (unsigned i = outputs; i != ret->getNumOperands(); ++i) {
      auto of =
          cast<ArrayAttr>(function.getResultAttr(i, exec::sizeOfAttrName));
      sizes.push_back(b.getDictionaryAttr(
          {b.getNamedAttr("output", of[0]), b.getNamedAttr("dimension", of[1]),
           b.getNamedAttr("value", plan.binding(ret->getOperand(i), false))}));
    }
    return sizes.empty() ? ArrayAttr() : b.getArrayAttr(sizes);
  }

  void emitProgram() {
    OpBuilder outer = OpBuilder::atBlockEnd(module.getBody());
    unsigned outputs = function.getNumResults();
    while (outputs != 0 &&
           function.getResultAttr(outputs - 1, exec::sizeOfAttrName))
      --outputs;
    auto program = exec::ProgramOp::create(
        outer, function.getLoc(), function.getSymName(),
        interface(function.getArgumentTypes(),
                  [&](unsigned i) { return function.getArgAttrDict(i); }),
        interface(function.getResultTypes().take_front(outputs),
                  [&](unsigned i) { return function.getResultAttrDict(i); }),
        b.getArrayAttr(plan.weights()), plan.arenaBytes(),
        plan.arenaLowerBound(), outputSizes(outputs),
        plan.companionArenas().empty()
            ? DenseI64ArrayAttr()
            : b.getDenseI64ArrayAttr(plan.companionArenas()));
    b.createBlock(&program.getBody());
    Block &block = function.getBody().front();
    emitBlock(block);
    // What is passed through, or returned twice, is copied.
    separate();
    for (OpOperand &operand :
         block.getTerminator()->getOpOperands().take_front(outputs)) {
      const ValueBuffer &buffer = plan.bufferOf(operand.get());
      unsigned number = operand.getOperandNumber();
      if (buffer.storage == Storage::Output && buffer.index == number)
        continue;
      MLIRContext *context = function.getContext();
      copy(function.getLoc(), plan.binding(operand.get(), false),
           exec::BindingAttr::get(context, Storage::Output, number,
                                  exec::SizeAttr::get(context, 0),
                                  byteFormula(operand.get()), true, -1));
    }
    if (ModuleOp(module)->hasAttr(exec::symbolsAttrName))
      listBuffers(program);
    dropLastBarrier();
  }

  /// What a session needs to give the values of the arena other places.
  void listBuffers(exec::ProgramOp program) {
    SmallVector<Attribute> listed;
    for (const ValueBuffer &buffer : plan.arenaBuffers()) {
      auto [first, last] = plan.lifeOf(buffer);
      listed.push_back(b.getArrayAttr(
          {buffer.size, b.getI64IntegerAttr(buffer.offset),
           b.getI64IntegerAttr(first), b.getI64IntegerAttr(last)}));
    }
    program->setAttr(exec::buffersAttrName, b.getArrayAttr(listed));
  }

  /// The end of a block is one.
  void dropLastBarrier() {
    Block *block = b.getInsertionBlock();
    if (!block->empty() && isa<exec::BarrierOp>(block->back()))
      block->back().erase();
    b.setInsertionPointToEnd(block);
  }

  /// A barrier, unless the block has just begun or what comes before waits by
  /// itself.
  void separate() {
    Block *block = b.getInsertionBlock();
    if (!block->empty() && isa<exec::LaunchOp, exec::CopyOp>(block->back()))
      exec::BarrierOp::create(b, block->back().getLoc());
  }

  void copy(Location location, exec::BindingAttr source,
            exec::BindingAttr target, int64_t sourceStride = 0,
            int64_t targetStride = 0) {
    if (source.getLength().getLargest() == 0)
      return;
    exec::CopyOp::create(b, location, source, target,
                         b.getI64IntegerAttr(sourceStride),
                         b.getI64IntegerAttr(targetStride));
  }

  void copyTo(Location location, Value source, Value target) {
    if (!plan.samePlace(source, target))
      copy(location, plan.binding(source, false), plan.binding(target, true));
  }

  exec::BindingAttr condition(Value value) {
    return plan.binding(conditionTensor(value), false);
  }

  void emitLaunch(exec::InvokeOp invoke) {
    separate();
    SmallVector<Attribute> bindings;
    for (Value operand : invoke.getOperands())
      bindings.push_back(plan.binding(operand, false));
    for (Value result : invoke.getResults())
      bindings.push_back(plan.binding(result, true));
    exec::LaunchOp::create(b, invoke.getLoc(), invoke.getKernelAttr(),
                           b.getArrayAttr(bindings));
  }

  void emitTransfer(exec::TransferOp transfer) {
    separate();
    copy(transfer.getLoc(), plan.binding(transfer.getSource(), false),
         plan.binding(transfer.getResult(), true));
  }

  void emitIf(scf::IfOp op) {
    auto branches =
        exec::IfOp::create(b, op.getLoc(), condition(op.getCondition()));
    for (auto [from, to] :
         llvm::zip(op->getRegions(), branches->getRegions())) {
      OpBuilder::InsertionGuard guard(b);
      b.createBlock(&to);
      emitBlock(from.front());
      separate();
      for (auto [source, target] : llvm::zip(
               from.front().getTerminator()->getOperands(), op.getResults()))
        copyTo(op.getLoc(), source, target);
      dropLastBarrier();
    }
  }

  void emitLoop(Operation *loop) {
    Carried carried = carriedBy(loop);
    separate();
    for (auto [initial, argument] :
         llvm::zip(carried.initial, carried.arguments))
      copyTo(loop->getLoc(), initial, argument);
    IntegerAttr iterations;
    exec::BindingAttr binding;
    if (auto counted = dyn_cast<scf::ForOp>(loop))
      iterations =
          b.getI64IntegerAttr(counted.getStaticTripCount()->getSExtValue());
    else
      binding =
          condition(cast<scf::WhileOp>(loop).getConditionOp().getCondition());
    auto commands =
        exec::LoopOp::create(b, loop->getLoc(), iterations, binding);
    if (exec::SizeAttr steps = openSteps(loop))
      commands->setAttr(
          exec::attributeSizesAttrName,
          b.getDictionaryAttr(b.getNamedAttr(commands.getIterationsAttrName(),
                                             b.getArrayAttr(steps))));
    OpBuilder::InsertionGuard guard(b);
    b.createBlock(&commands.getBody());
    emitBlock(*carried.body);
    separate();
    Operation *terminator = carried.body->getTerminator();
    // First those that others would overwrite, then all.
    for (OpOperand &yielded : terminator->getOpOperands())
      if (std::optional<Place> place = plan.waitingPlace(yielded))
        copy(loop->getLoc(), plan.binding(yielded.get(), false),
             plan.bindingAt(*place, byteFormula(yielded.get()), true));
    separate();
    for (OpOperand &yielded : terminator->getOpOperands()) {
      Value argument = carried.arguments[yielded.getOperandNumber()];
      if (std::optional<Place> place = plan.waitingPlace(yielded))
        copy(loop->getLoc(),
             plan.bindingAt(*place, byteFormula(argument), false),
             plan.binding(argument, true));
      else
        copyTo(loop->getLoc(), yielded.get(), argument);
    }
    dropLastBarrier();
  }

  void emitRow(Operation *slice) {
    separate();
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(slice)) {
      int64_t bytes = byteSize(insert.getSourceType());
      Place place = plan.placeOf(insert.getDest());
      copy(slice->getLoc(), plan.binding(insert.getSource(), false),
           plan.bindingAt(place, bytes, true), 0, bytes);
      return;
    }
    auto extract = cast<tensor::ExtractSliceOp>(slice);
    int64_t bytes = byteSize(extract.getType());
    copy(slice->getLoc(),
         plan.bindingAt(plan.placeOf(extract.getSource()), bytes, false),
         plan.binding(extract, true), bytes, 0);
  }

  void emitBlock(Block &block) {
    for (Operation &op : block) {
      if (auto invoke = dyn_cast<exec::InvokeOp>(op))
        emitLaunch(invoke);
      else if (auto transfer = dyn_cast<exec::TransferOp>(op))
        emitTransfer(transfer);
      else if (isLoopSlice(&op))
        emitRow(&op);
      else if (auto require = dyn_cast<cf::AssertOp>(op))
        exec::CheckOp::create(b, op.getLoc(), condition(require.getArg()),
                              require.getMsgAttr());
      else if (!isControlFlow(&op))
        continue;
      else if (auto branches = dyn_cast<scf::IfOp>(op))
        emitIf(branches);
      else
        emitLoop(&op);
    }
  }

  func::FuncOp function;
  ModuleOp module;
  BufferPlan plan;
  OpBuilder b;
};

/// A check that is known to hold goes away; any other reads memory.
void readKnownChecks(func::FuncOp function) {
  SmallVector<cf::AssertOp> known;
  function.walk([&](cf::AssertOp require) {
    if (matchPattern(require.getArg(), m_Constant()))
      known.push_back(require);
  });
  for (cf::AssertOp require : known) {
    if (matchPattern(require.getArg(), m_One())) {
      require.erase();
      continue;
    }
    OpBuilder b(function.getContext());
    b.setInsertionPointToStart(&function.getBody().front());
    auto type = RankedTensorType::get({}, b.getI1Type());
    auto never = arith::ConstantOp::create(b, require.getLoc(),
                                           DenseElementsAttr::get(type, false));
    b.setInsertionPoint(require);
    require.getArgMutable().assign(
        tensor::ExtractOp::create(b, require.getLoc(), never, ValueRange()));
  }
}

struct ScheduleProgram
    : ashlar::impl::ScheduleProgramPassBase<ScheduleProgram> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    SmallVector<func::FuncOp> entries;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function.isPublic())
        entries.push_back(function);
    for (func::FuncOp function : entries) {
      readKnownChecks(function);
      Scheduler scheduler(function, getOperation(), symbols);
      if (failed(scheduler.run()))
        return signalPassFailure();
      function.erase();
    }
  }
};
} // namespace
