// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two contractions with a softmax between them: how much of it is made at a
// time.
#ifndef ASHLAR_ANALYSIS_ATTENTIONBOX_H
#define ASHLAR_ANALYSIS_ATTENTIONBOX_H

#include "ashlar/Dialects/Tile/IR/TileOps.h"

namespace ashlar {

/// The box of `values`' parallel dims that one worker makes whole, with the
/// rows of `scores` behind it: one of each batch, and of its rows as many as
/// divide them and keep the scores of a box within `bytes`. Empty where no
/// such box is worth it, or a dim that it cuts does not stand alone in a map.
/// With `openSizes`, a caller may choose fewer rows: all of them, or none.
llvm::SmallVector<int64_t> chooseAttentionBox(tile::ContractOp scores,
                                              tile::ContractOp values,
                                              int64_t bytes,
                                              bool openSizes = false);

} // namespace ashlar

#endif // ASHLAR_ANALYSIS_ATTENTIONBOX_H
