// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From values to bytes. Each tensor value belongs to one buffer: an input, an
// output, a weight, or a range of the arena that lives from its writer to its
// last reader. Views belong to the buffer they look at.
#include "ArenaPlan.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "ashlar/Transforms/Fuse/Views.h"
#include "ashlar/Transforms/Schedule/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <limits>
#include <optional>

using namespace mlir;
using namespace ashlar;
using exec::Storage;

namespace ashlar {
#define GEN_PASS_DEF_SCHEDULEPROGRAMPASS
#include "ashlar/Transforms/Schedule/Passes.h.inc"
} // namespace ashlar

namespace {
/// The bytes behind one or more values.
struct Buffer {
  Storage storage;
  unsigned index = 0;   ///< of the input, output or weight; of the arena range
  int64_t firstUse = 0; ///< commands, inclusive
  int64_t lastUse = 0;
  int64_t bytes = 0;
};

/// A value as a part of a buffer.
struct Place {
  unsigned buffer;
  int64_t offset; ///< bytes
};

class Scheduler {
public:
  Scheduler(func::FuncOp function, ModuleOp module)
      : function(function), module(module), b(function) {}

  LogicalResult run() {
    if (failed(findPlaces()))
      return failure();
    planArena();
    emit();
    return success();
  }

private:
  unsigned addBuffer(Storage storage, unsigned index, int64_t bytes) {
    buffers.push_back({storage, index, 0, 0, bytes});
    return buffers.size() - 1;
  }

  unsigned weightIndex(Attribute value) {
    auto [it, isNew] = weightNumbers.try_emplace(value, weights.size());
    if (isNew)
      weights.push_back(value);
    return it->second;
  }

  /// The value a chain of views looks at.
  static Value viewed(Value value) {
    while (Operation *op = value.getDefiningOp()) {
      if (!isView(op))
        break;
      value = op->getOperand(0);
    }
    return value;
  }

  /// Results that the caller takes out are computed in its own memory.
  void assignOutputs(func::ReturnOp ret) {
    for (OpOperand &operand : ret->getOpOperands()) {
      Value source = viewed(operand.get());
      bool whole =
          byteSize(source.getType()) == byteSize(operand.get().getType());
      if (source.getDefiningOp<exec::InvokeOp>() && whole &&
          !places.count(source)) {
        unsigned buffer = addBuffer(Storage::Output, operand.getOperandNumber(),
                                    byteSize(source.getType()));
        places[source] = {buffer, 0};
      }
    }
  }

  /// The last command that reads each value, itself or through a view.
  void findLastUses() {
    int64_t command = 0;
    for (Operation &op : function.getBody().front()) {
      if (isa<func::ReturnOp>(op))
        command = std::numeric_limits<int64_t>::max() - 1;
      else if (isa<exec::InvokeOp>(op))
        ++command;
      else
        continue;
      for (Value operand : op.getOperands())
        lastUse[viewed(operand)] = command;
    }
  }

  /// The dying operand whose place the result of `invoke` can take over.
  std::optional<Place> placeToTakeOver(exec::InvokeOp invoke, int64_t command) {
    auto kernel = module.lookupSymbol<func::FuncOp>(invoke.getKernel());
    auto aliases = kernel->getAttrOfType<ArrayAttr>(exec::aliasesAttrName);
    if (!aliases)
      return std::nullopt;
    for (Attribute number : aliases) {
      Value operand = invoke.getOperand(cast<IntegerAttr>(number).getInt());
      Place place = places.lookup(operand);
      const Buffer &buffer = buffers[place.buffer];
      // The buffer may hold more than this value, and others may look at it.
      bool dies = buffer.storage == Storage::Arena &&
                  lastUse.lookup(viewed(operand)) == command &&
                  buffer.bytes == byteSize(operand.getType()) &&
                  llvm::count_if(invoke.getOperands(), [&](Value other) {
                    return places.lookup(other).buffer == place.buffer;
                  }) == 1;
      if (dies)
        return place;
    }
    return std::nullopt;
  }

  LogicalResult findPlaces() {
    for (BlockArgument argument : function.getArguments())
      places[argument] = {addBuffer(Storage::Input, argument.getArgNumber(),
                                    byteSize(argument.getType())),
                          0};
    Block &block = function.getBody().front();
    findLastUses();
    assignOutputs(cast<func::ReturnOp>(block.getTerminator()));
    int64_t command = 0;
    for (Operation &op : block.without_terminator()) {
      if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
        // What is only read packed is stored only so.
        if (llvm::all_of(constant->getUsers(), [](Operation *user) {
              return isa<tile::PackOp>(user);
            }))
          continue;
        places[constant] = {addBuffer(Storage::Weights,
                                      weightIndex(constant.getValue()),
                                      byteSize(constant.getType())),
                            0};
      } else if (auto pack = dyn_cast<tile::PackOp>(op)) {
        auto constant = pack.getSource().getDefiningOp<arith::ConstantOp>();
        if (!constant)
          return pack.emitError("expected a constant to pack");
        places[pack] = {
            addBuffer(Storage::Weights,
                      weightIndex(pack.getPacked(constant.getValue())),
                      byteSize(pack.getType())),
            0};
      } else if (isView(&op)) {
        Place source = places.lookup(op.getOperand(0));
        auto type = cast<RankedTensorType>(op.getResult(0).getType());
        int64_t width = elementBytes(type.getElementType());
        places[op.getResult(0)] = {source.buffer,
                                   source.offset + viewOffset(&op) * width};
      } else if (auto invoke = dyn_cast<exec::InvokeOp>(op)) {
        ++command;
        for (Value result : invoke.getResults()) {
          if (!places.count(result)) {
            if (std::optional<Place> place = placeToTakeOver(invoke, command))
              places[result] = *place;
            else
              places[result] = {
                  addBuffer(Storage::Arena, 0, byteSize(result.getType())), 0};
          }
          Buffer &buffer = buffers[places[result].buffer];
          if (buffer.firstUse == 0)
            buffer.firstUse = command;
          buffer.lastUse = std::max(lastUse.lookup(result), command);
        }
      } else {
        return op.emitError("cannot be scheduled: expected kernels, views and "
                            "constants after the stage tile");
      }
    }
    return success();
  }

  void planArena() {
    SmallVector<ArenaRequest> requests;
    for (auto [i, buffer] : llvm::enumerate(buffers))
      if (buffer.storage == Storage::Arena) {
        buffer.index = requests.size();
        requests.push_back({buffer.firstUse, buffer.lastUse + 1, buffer.bytes});
      }
    arena = ashlar::planArena(requests);
  }

  exec::BindingAttr binding(Value value, bool written) {
    Place place = places.lookup(value);
    const Buffer &buffer = buffers[place.buffer];
    int64_t offset = place.offset;
    unsigned index = buffer.index;
    if (buffer.storage == Storage::Arena) {
      offset += arena.offsets[buffer.index];
      index = 0;
    }
    return bindingAt(buffer.storage, index, offset, byteSize(value.getType()),
                     written);
  }
  exec::BindingAttr bindingAt(Storage storage, unsigned index, int64_t offset,
                              int64_t length, bool written) {
    MLIRContext *context = function.getContext();
    return exec::BindingAttr::get(
        context, storage, index, exec::SizeAttr::get(context, offset),
        exec::SizeAttr::get(context, length), written);
  }

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

  void emit() {
    OpBuilder outer = OpBuilder::atBlockEnd(module.getBody());
    auto program = exec::ProgramOp::create(
        outer, function.getLoc(), function.getSymName(),
        interface(function.getArgumentTypes(),
                  [&](unsigned i) { return function.getArgAttrDict(i); }),
        interface(function.getResultTypes(),
                  [&](unsigned i) { return function.getResultAttrDict(i); }),
        b.getArrayAttr(weights), arena.bytes, arena.lowerBound);
    Block *commands = b.createBlock(&program.getBody());
    b.setInsertionPointToStart(commands);
    Block &block = function.getBody().front();
    bool first = true;
    for (auto invoke : block.getOps<exec::InvokeOp>()) {
      if (!first)
        exec::BarrierOp::create(b, invoke.getLoc());
      first = false;
      SmallVector<Attribute> bindings;
      for (Value operand : invoke.getOperands())
        bindings.push_back(binding(operand, false));
      for (Value result : invoke.getResults())
        bindings.push_back(binding(result, true));
      exec::LaunchOp::create(b, invoke.getLoc(), invoke.getKernelAttr(),
                             b.getArrayAttr(bindings));
    }
    // What is passed through, or returned twice, is copied.
    bool copied = false;
    for (OpOperand &operand : block.getTerminator()->getOpOperands()) {
      Place place = places.lookup(operand.get());
      const Buffer &buffer = buffers[place.buffer];
      unsigned number = operand.getOperandNumber();
      if (buffer.storage == Storage::Output && buffer.index == number)
        continue;
      int64_t bytes = byteSize(operand.get().getType());
      if (bytes == 0)
        continue;
      if (!copied && !first)
        exec::BarrierOp::create(b, function.getLoc());
      copied = true;
      exec::CopyOp::create(b, function.getLoc(), binding(operand.get(), false),
                           bindingAt(Storage::Output, number, 0, bytes, true));
    }
  }

  func::FuncOp function;
  ModuleOp module;
  OpBuilder b;
  SmallVector<Buffer> buffers;
  DenseMap<Value, Place> places;
  DenseMap<Value, int64_t> lastUse;
  SmallVector<Attribute> weights;
  DenseMap<Attribute, unsigned> weightNumbers;
  ArenaPlan arena;
};

struct ScheduleProgram
    : ashlar::impl::ScheduleProgramPassBase<ScheduleProgram> {
  void runOnOperation() override {
    SmallVector<func::FuncOp> entries;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function.isPublic())
        entries.push_back(function);
    for (func::FuncOp function : entries) {
      Scheduler scheduler(function, getOperation());
      if (failed(scheduler.run()))
        return signalPassFailure();
      function.erase();
    }
  }
};
} // namespace
