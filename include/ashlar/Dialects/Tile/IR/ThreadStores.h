// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_DIALECTS_TILE_IR_THREADSTORES_H
#define ASHLAR_DIALECTS_TILE_IR_THREADSTORES_H

#include "ashlar/Dialects/Tile/IR/TileOps.h"

#define GET_OP_CLASSES
#include "ashlar/Dialects/Tile/IR/ThreadStores.h.inc"

#endif // ASHLAR_DIALECTS_TILE_IR_THREADSTORES_H
