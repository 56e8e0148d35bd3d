// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who has a say in which values of a program may be rounded. Values that only
// move (views, pads, concatenations, transposes) form a class with what they
// move: all of a class have one type. It is low where whoever computes the
// class and whoever reads it agrees.
#ifndef ASHLAR_LIB_TRANSFORMS_PRECISION_PRECISIONGRAPH_H
#define ASHLAR_LIB_TRANSFORMS_PRECISION_PRECISIONGRAPH_H

#include "SensitiveOps.h"
#include "ashlar/Machine/MachineModel.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ashlar {

/// An op that computes, and its say.
struct PrecisionOp {
  mutable mlir::linalg::GenericOp op; ///< a handle: MLIR asks it unconst
  const PrecisionRule *rule;
  unsigned node;  ///< in the decisions
  NumberType low; ///< what it would read and write, were it low
  bool reads = false, writes = false;
  bool isContraction = false;
  /// A contraction that gains enough to have its operands converted for it.
  bool converts = false;
  /// Picks elements from one large constant, such as an embedding.
  bool gathers = false;
};

struct ValueClass {
  llvm::SmallVector<mlir::Value> values;
  llvm::SmallVector<unsigned> nodes; ///< who has a say, each once
  bool isPinned = false;             ///< somebody insists on f32
  bool isWorth = false;              ///< rounding it saves something
};

class PrecisionGraph {
public:
  /// The low type that a node of this name would have.
  using LowType = llvm::function_ref<NumberType(const std::string &)>;

  /// Adds the nodes of `function` to `decisions`. Operands are converted where
  /// `machine` gains by it, or another device may compute products of
  /// `lowElsewhere`.
  PrecisionGraph(mlir::func::FuncOp function, LowType lowOf,
                 const MachineModel &machine,
                 llvm::ArrayRef<NumberType> lowElsewhere,
                 PrecisionDecisions &decisions);

  /// Gives each node its say, now that types are decided: where the rules
  /// would keep a node wide and its type is low, that is somebody's wish.
  void settle(const PrecisionDecisions &decisions);

  mlir::func::FuncOp function() const { return owner; }
  llvm::ArrayRef<PrecisionOp> ops() const { return computing; }
  llvm::ArrayRef<ValueClass> classes() const { return all; }
  /// The class of a value that moves or is computed here; null: none.
  const ValueClass *classOf(mlir::Value value) const;
  /// What the nodes of `of` agree on.
  static NumberType agreed(const ValueClass &of,
                           const PrecisionDecisions &decisions);
  /// Whether a contraction multiplies low operands, where its node is low.
  bool lowersOperands(const PrecisionOp &contraction,
                      const PrecisionDecisions &decisions) const;
  /// Says of each node that multiplies, reads or writes something low that it
  /// is low: one whose neighbours are all f32 is not, whatever its type.
  void markLow(PrecisionDecisions &decisions) const;
  /// The op that a use of a value belongs to; null: none that computes.
  const PrecisionOp *readerOf(mlir::OpOperand &use) const;

private:
  void unite(mlir::Value x, mlir::Value y);
  unsigned find(unsigned number) const;
  unsigned numberOf(mlir::Value value);
  void predictGains(PrecisionDecisions &decisions,
                    const MachineModel &machine) const;

  mlir::func::FuncOp owner;
  llvm::SmallVector<PrecisionOp> computing;
  llvm::DenseMap<mlir::Operation *, unsigned> opNumbers;
  llvm::SmallVector<mlir::Value> values;
  llvm::DenseMap<mlir::Value, unsigned> valueNumbers;
  llvm::SmallVector<unsigned> parents; ///< of values, towards their class
  llvm::SmallVector<ValueClass> all;
  llvm::SmallVector<unsigned> classNumbers; ///< by value
};

/// Whether `op` passes elements on as they are: its sources, or none.
llvm::SmallVector<mlir::Value> movedBy(mlir::Operation *op);
bool isMovement(mlir::Operation *op);

/// Whether fusion will surely keep `value` in registers: elementwise ops of the
/// same shape that come down to one, or one reduction, read it, and nobody
/// else. Then it is neither stored nor rounded.
bool staysInRegisters(mlir::Value value);

/// What the machine multiplies per cycle, operands of `type`.
double multiplyRate(const MachineModel &machine, NumberType type,
                    int64_t *group = nullptr);

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_PRECISION_PRECISIONGRAPH_H
