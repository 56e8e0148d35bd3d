// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TRANSFORMS_FUSE_ATTENTIONLEVELS_H
#define ASHLAR_LIB_TRANSFORMS_FUSE_ATTENTIONLEVELS_H

#include "MatchAttention.h"

namespace ashlar {

/// What a worker has at a time.
struct AttentionTiles {
  llvm::SmallVector<int64_t> box; ///< of the result's dims
  unsigned keyDim = 0;            ///< of `reduced`, that a loop cuts
  int64_t keys = 0;               ///< so many of it; 0: all, without a loop

  int64_t countBoxes(llvm::ArrayRef<int64_t> sizes) const;
  /// As levels of a `tile.attention` of these sizes.
  llvm::SmallVector<mlir::Attribute> toLevels(mlir::MLIRContext *context,
                                              llvm::ArrayRef<int64_t> parallel,
                                              unsigned numReduced) const;
};

/// One of each batch, and as many of its rows as divide them and keep their
/// scores within `bytes`: those of all keys where that is rows enough, else
/// those of some keys at a time. None where neither can be had, or is worth it.
/// With `openSizes`, a caller may choose fewer rows and keys: all keys, and
/// rows that need not divide them. With `shared`, threads compute a part
/// together: some keys at a time first; with both, neither needs to divide what
/// there is, and there are tiles of keys wherever a loop can take them.
std::optional<AttentionTiles> chooseAttentionTiles(AttentionMatch &match,
                                                   int64_t bytes,
                                                   bool openSizes, bool shared);

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_FUSE_ATTENTIONLEVELS_H
