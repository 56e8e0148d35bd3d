// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "AttentionCost.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Machine/MainMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ashlar;

double AttentionTile::cyclesOf(int64_t tiles) const {
  if (!goesOn)
    return start + double(tiles) * std::max(products + weights, copies);
  // The first scores and the last values have nothing beside them.
  return start + double(tiles) * std::max({products, weights, copies}) +
         std::min(products, weights);
}

/// Operations for each element; what is the same for all is none.
static int64_t countOperations(Region &region) {
  int64_t count = 0;
  for (Operation &op : region.front())
    count += isa<arith::ArithDialect>(op.getDialect()) &&
             !isa<arith::ConstantOp>(op) &&
             llvm::none_of(op.getResultTypes(),
                           [](Type type) { return isa<IndexType>(type); });
  return count;
}

double ashlar::cyclesOfWeights(tile::AttentionOp op,
                               const MachineModel &machine, int64_t rows,
                               int64_t keys, int64_t columns) {
  // The largest score, the distance to it, its logarithm's base, the sum.
  constexpr int64_t own = 4;
  // Of a machine that does not say it, in operations of its lanes: made up.
  constexpr int64_t ofExponential = 8;
  double lanes = 0;
  for (const MultiplyUnit &unit : machine.units)
    if (unit.m == 1 && unit.k == 1)
      lanes = std::max(lanes, unit.stepsPerCycle * double(unit.n));
  if (lanes == 0)
    return 0;
  int64_t each = own;
  for (Region *region : {&op.getScore(), &op.getHide(), &op.getWeigh()})
    each += countOperations(*region);
  double exponentials = machine.workers.exponentialsPerCycle;
  if (exponentials == 0)
    exponentials = lanes / ofExponential;
  // Both are issued side by side.
  double elements = double(rows) * double(keys);
  return std::max((elements * double(each) + double(rows) * double(columns)) /
                      lanes,
                  elements / exponentials);
}

Prediction ashlar::predictAttention(tile::AttentionOp op,
                                    const MachineModel &machine,
                                    const AttentionTile &tile, int64_t parts,
                                    int64_t tiles) {
  Prediction made;
  double waves = double(llvm::divideCeil(parts, machine.workers.count));
  double all = waves * double(tiles);
  made.compute = all * (tile.goesOn ? std::max(tile.products, tile.weights)
                                    : tile.products + tile.weights);
  made.nearest = all * tile.copies;
  made.boxes = waves * tile.cyclesOf(tiles);
  made.groups = parts;
  int64_t bytes = 0;
  for (Value operand : op->getOperands())
    bytes += byteSize(operand.getType());
  made.main = double(bytes) / mainBytesPerCycle(machine);
  return made;
}
