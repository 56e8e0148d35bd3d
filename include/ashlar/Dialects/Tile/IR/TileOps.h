// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_DIALECTS_TILE_IR_TILEOPS_H
#define ASHLAR_DIALECTS_TILE_IR_TILEOPS_H

#include "ashlar/Dialects/Tile/IR/CutOperand.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

#include "ashlar/Dialects/Tile/IR/TileDialect.h.inc"
#include "ashlar/Dialects/Tile/IR/TileEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "ashlar/Dialects/Tile/IR/TileAttributes.h.inc"
#define GET_TYPEDEF_CLASSES
#include "ashlar/Dialects/Tile/IR/TileTypes.h.inc"
#define GET_OP_CLASSES
#include "ashlar/Dialects/Tile/IR/TileOps.h.inc"

namespace ashlar::tile {

/// Lets upstream's bufferization convert `tile.contract` from tensors to
/// memrefs.
void registerBufferization(mlir::DialectRegistry &registry);

/// Lets upstream's tiling cut `tile.contract` into boxes of its result.
void registerTiling(mlir::DialectRegistry &registry);

} // namespace ashlar::tile

#endif // ASHLAR_DIALECTS_TILE_IR_TILEOPS_H
