// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All of the dialect, for its reference page.
include "ashlar/Dialects/Tile/IR/TileOps.td"
include "ashlar/Dialects/Tile/IR/Decode.td"
