// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A machine as one contraction sees it, and what is predicted of it there.
#ifndef ASHLAR_COST_CORE_H
#define ASHLAR_COST_CORE_H

#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "ashlar/Machine/MachineModel.h"

namespace ashlar {

/// The types of a contraction's products, as machine files spell them.
ProductTypes productOf(tile::ContractOp op);
/// Of floats and signed integers.
ProductTypes productOf(mlir::Type left, mlir::Type right, mlir::Type sum);

/// What a worker of a machine does with the types of one contraction.
struct Core {
  /// Without `groups`, terms are added one by one.
  Core(const MachineModel &machine, tile::ContractOp op, bool groups = true);

  int64_t vectorBytes, registers, sumBytes;
  /// Terms that one step of the unit multiplies and adds; they count as one in
  /// all that follows.
  int64_t group = 1;
  /// Of whole vectors; the latency in as many cycles as that takes.
  double multiplyAddsPerCycle = 1, loadsPerCycle = 2, latency = 4;
  /// Memory of one worker alone: the nearest, the farthest; bytes a cycle from
  /// what lies beyond.
  int64_t nearBytes = 32 << 10, farBytes = 1 << 20;
  double beyondBytesPerCycle = 8;
  /// From main memory, what is read once. Half of what a long stream reaches:
  /// weights come in many short ones.
  double coldBytesPerCycle = 4;
  double mainLatency = 400; ///< cycles
  /// From the farthest memory of the worker's own.
  double farBytesPerCycle = 32;
  double hz = 1e9;
  /// A unit for these types whose sums are in registers of its own; null: none.
  /// `group` of its terms lie side by side. Lives as long as the machine.
  const MultiplyUnit *matrices = nullptr;
  /// How many loads of a vector one row of its registers is.
  int64_t vectorsOfMatrix(const MultiplyUnit &unit) const;
  /// By the names of the machine model: what multiplies in vectors, and the
  /// memory behind `farBytes`.
  llvm::StringRef vectorUnit = "lanes", farMemory = "main";
  /// Sizes are the largest of ranges: nothing may depend on what divides them.
  bool openSizes = false;
};

/// What limits a contraction, in cycles of one worker that does all of it.
struct Prediction {
  double compute = 0; ///< multiply units, and sums that wait for themselves
  double nearest = 0; ///< loads of vectors from the nearest memory
  double farther = 0; ///< what streams from the farthest memory of its own
  double main = 0;    ///< what comes from beyond once
  /// Of all boxes of registers, each by its own slowest of the first two.
  double boxes = 0;
  int64_t groups = 1; ///< parts that workers share

  double cycles() const { return std::max({boxes, farther, main}); }
  llvm::StringRef bound() const;
};

/// All of a contraction that its strategy depends on, in one line: the same for
/// the same computation, whatever its nodes are called. `hasPanels` says that b
/// is constant and will be stored as the kernel reads it.
std::string contractionText(tile::ContractOp op, bool hasPanels);

} // namespace ashlar

#endif // ASHLAR_COST_CORE_H
