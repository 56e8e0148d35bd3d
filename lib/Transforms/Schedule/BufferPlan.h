// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From values to bytes. Each tensor value belongs to one buffer: an input, an
// output, a weight, or a range of the arena that lives from its writer to its
// last reader. Views belong to the buffer they look at.
//
// The blocks of control flow are planned by themselves, innermost first. To
// the block around them, all they need is one buffer that lives while their op
// runs: both branches of a condition share it, and so do the steps of a loop.
// What goes in and out of them lives outside: a result of an scf.if is where
// both branches put it, and what a loop carries stays in one place, to which
// each step copies what the next one gets.
#ifndef ASHLAR_LIB_TRANSFORMS_SCHEDULE_BUFFERPLAN_H
#define ASHLAR_LIB_TRANSFORMS_SCHEDULE_BUFFERPLAN_H

#include "ArenaPlan.h"
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <optional>

namespace ashlar {

/// The bytes behind one or more values.
struct ValueBuffer {
  exec::Storage storage;
  unsigned index = 0;                ///< of the input, output or weight, or the
                                     ///< device whose arena it is in
  int64_t bytes = 0;                 ///< at the largest sizes
  exec::SizeAttr size;               ///< the same as a formula
  mlir::Block *scope = nullptr;      ///< whose commands count its life
  int64_t firstUse = 0, lastUse = 0; ///< commands, inclusive
  int64_t offset = 0;                ///< in the arena
};

/// A value as a part of a buffer.
struct Place {
  unsigned buffer = 0;
  int64_t offset = 0;  ///< bytes, at the largest sizes
  exec::SizeAttr open; ///< the same as a formula, if it is no constant
};

/// Bytes of a tensor.
exec::SizeAttr byteFormula(mlir::Value value);

/// What a loop carries: in scf.for and scf.while.
struct Carried {
  mlir::Block *body; ///< of one step
  llvm::SmallVector<mlir::Value> initial;
  llvm::SmallVector<mlir::Value> arguments; ///< of the first block
};
Carried carriedBy(mlir::Operation *loop);

/// How often a counted loop runs, where that is a caller's size; else null.
exec::SizeAttr openSteps(mlir::Operation *loop);

class BufferPlan {
public:
  BufferPlan(mlir::func::FuncOp function, mlir::ModuleOp module,
             const mlir::SymbolTable &symbols)
      : function(function), module(module), symbols(symbols) {}

  mlir::LogicalResult run();

  exec::BindingAttr binding(mlir::Value value, bool written) const;
  exec::BindingAttr bindingAt(Place place, int64_t length, bool written) const;
  exec::BindingAttr bindingAt(Place place, exec::SizeAttr length,
                              bool written) const;
  bool samePlace(mlir::Value x, mlir::Value y) const;
  Place placeOf(mlir::Value value) const { return places.lookup(value); }
  const ValueBuffer &bufferOf(mlir::Value value) const {
    return buffers[places.lookup(value).buffer];
  }
  /// Where a value that a loop yields waits until all others are read, if it
  /// must.
  std::optional<Place> waitingPlace(mlir::OpOperand &yielded) const;

  /// The values of the first device's arena; bindings name them by their
  /// number where sizes are a caller's.
  std::vector<ValueBuffer> arenaBuffers() const;
  /// The first and the last command of a buffer's life, in an order of all
  /// commands in which blocks stand between the begin and the end of their op.
  std::pair<int64_t, int64_t> lifeOf(const ValueBuffer &buffer) const;

  llvm::ArrayRef<mlir::Attribute> weights() const { return weightValues; }
  int64_t arenaBytes() const { return arena.bytes; }
  int64_t arenaLowerBound() const { return arena.lowerBound; }
  /// Of each further device: bytes and lower bound, one after the other.
  llvm::ArrayRef<int64_t> companionArenas() const { return companions; }

private:
  unsigned addBuffer(exec::Storage storage, unsigned index, int64_t bytes);
  unsigned addBuffer(exec::Storage storage, unsigned index,
                     exec::SizeAttr size);
  /// In the arena, alive at `command` of `scope` and until its last use.
  unsigned addRange(mlir::Block *scope, int64_t command, int64_t bytes);
  unsigned addRange(mlir::Block *scope, int64_t command, exec::SizeAttr size,
                    unsigned device = 0);
  mlir::LogicalResult placeView(mlir::Operation &op);
  void keepAlive(unsigned buffer, mlir::Value value, int64_t command);
  void findLastUses();
  void assignOutputs();
  mlir::LogicalResult checkStates();
  std::optional<Place> placeToTakeOver(exec::InvokeOp invoke, int64_t command);
  mlir::LogicalResult placeValues(mlir::Block &block);
  void placeWeight(mlir::Value value, mlir::Attribute elements);
  mlir::LogicalResult placeOp(mlir::Operation &op);
  void placeResults(exec::InvokeOp invoke);
  void placeTransfer(exec::TransferOp transfer);
  mlir::LogicalResult placeIf(mlir::scf::IfOp op);
  mlir::LogicalResult placeLoop(mlir::Operation *loop);
  mlir::LogicalResult placeRow(mlir::Operation *slice);
  void placeYielded(const Carried &carried);
  mlir::LogicalResult planInner(mlir::Operation *op);
  ArenaPlan planArena(mlir::Block *block, unsigned device);
  void moveTo(mlir::Block *block, int64_t base);
  void numberBuffers();
  bool isListed(unsigned buffer) const;

  mlir::func::FuncOp function;
  mlir::ModuleOp module;
  const mlir::SymbolTable &symbols; ///< of it
  std::vector<ValueBuffer> buffers;
  llvm::DenseMap<mlir::Value, Place> places;
  llvm::DenseMap<mlir::Operation *, int64_t> commands; ///< within their block
  /// By block and command: its first and last moment in the order of all.
  llvm::DenseMap<std::pair<mlir::Block *, int64_t>, std::pair<int64_t, int64_t>>
      spans;
  std::vector<int64_t> numbers; ///< of bindings, by buffer; empty: not wanted
  llvm::DenseMap<mlir::Value, int64_t> lastUse; ///< in the value's own block
  llvm::DenseMap<mlir::OpOperand *, unsigned> waiting;
  llvm::SmallVector<mlir::Attribute> weightValues;
  llvm::DenseMap<mlir::Attribute, unsigned> weightNumbers;
  llvm::SmallVector<int64_t> companions;
  ArenaPlan arena; ///< of the block planned last; at the end, of the entry
  llvm::DenseMap<mlir::Block *, llvm::SmallVector<unsigned>> ranges;
  llvm::DenseMap<mlir::Operation *, unsigned> innerArenas;
  llvm::DenseMap<unsigned, int64_t> innerLowerBounds; ///< by buffer
};

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_SCHEDULE_BUFFERPLAN_H
