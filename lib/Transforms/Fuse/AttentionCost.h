// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TRANSFORMS_FUSE_ATTENTIONCOST_H
#define ASHLAR_LIB_TRANSFORMS_FUSE_ATTENTIONCOST_H

#include "ashlar/Cost/Core.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"

namespace ashlar {

/// What a tile of rows and keys takes of a worker, in cycles.
struct AttentionTile {
  double products = 0; ///< of a matrix unit
  double weights = 0;  ///< of lanes: from scores to weights, and sums rescaled
  double copies = 0;   ///< of keys and values
  double start = 0;    ///< until the first ones are there
  /// Whether a unit multiplies for one group while another computes weights,
  /// or the same one does.
  bool goesOn = false;

  /// Of a part of so many tiles of keys.
  double cyclesOf(int64_t tiles) const;
};

/// Cycles of all lanes from scores to weights, of so many rows and keys, of an
/// attention with values of `columns` elements; 0: nothing is known of lanes.
double cyclesOfWeights(tile::AttentionOp op, const MachineModel &machine,
                       int64_t rows, int64_t keys, int64_t columns);

/// Of all parts, each of so many tiles of keys.
Prediction predictAttention(tile::AttentionOp op, const MachineModel &machine,
                            const AttentionTile &tile, int64_t parts,
                            int64_t tiles);

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_FUSE_ATTENTIONCOST_H
