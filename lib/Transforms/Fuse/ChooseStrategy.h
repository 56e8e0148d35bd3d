// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The choice for one contraction, for the passes that make contractions.
#ifndef ASHLAR_LIB_TRANSFORMS_FUSE_CHOOSESTRATEGY_H
#define ASHLAR_LIB_TRANSFORMS_FUSE_CHOOSESTRATEGY_H

#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "ashlar/Targets/MachineModel.h"

namespace ashlar {

/// What a worker of a machine does with the types of one contraction.
struct Core {
  Core(const MachineModel &machine, tile::ContractOp op);

  int64_t vectorBytes, registers;
  /// Of whole vectors; the latency in as many cycles as that takes.
  double multiplyAddsPerCycle = 1, loadsPerCycle = 2, latency = 4;
  /// Memory of one worker alone: the nearest, the farthest; bytes a cycle from
  /// what lies beyond.
  int64_t nearBytes = 32 << 10, farBytes = 1 << 20;
  double beyondBytesPerCycle = 8;
  /// From main memory, what is read once. Half of what a long stream reaches:
  /// weights come in many short ones.
  double coldBytesPerCycle = 4;
};

/// Sets the strategy of `op` and packs a constant b.
void chooseStrategy(tile::ContractOp op, const Core &core);

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_FUSE_CHOOSESTRATEGY_H
