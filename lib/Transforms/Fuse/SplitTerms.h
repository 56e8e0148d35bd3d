// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TRANSFORMS_FUSE_SPLITTERMS_H
#define ASHLAR_LIB_TRANSFORMS_FUSE_SPLITTERMS_H

#include "ashlar/Dialects/Tile/IR/TileOps.h"

namespace ashlar {

/// A contraction of parts of the terms, which are a dim of its result, and what
/// adds these sums in their order and does what followed the sums of all.
struct TermParts {
  tile::ContractOp op;
  mlir::Value result;
};

/// Shares out the terms of reduced dim `dim`, counted among all dims, among
/// `parts`; in front of `op`, which stays. None: the dim has no such parts that
/// each operand sees as a dim of its own, or the result more than sums.
std::optional<TermParts> splitTerms(tile::ContractOp op, unsigned dim,
                                    int64_t parts);

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_FUSE_SPLITTERMS_H
