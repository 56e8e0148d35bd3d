// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a thread does where results leave by an engine of boxes.
#ifndef ASHLAR_DIALECTS_TILE_IR_THREADSTORES_TD
#define ASHLAR_DIALECTS_TILE_IR_THREADSTORES_TD

include "ashlar/Dialects/Tile/IR/TileDialect.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Tile_StoreOp<string mnemonic> : Tile_Op<mnemonic, [
    MemoryEffects<[MemRead, MemWrite]>]>;

def Tile_ThreadMatrixStoreOp : Tile_StoreOp<"thread_matrix_store"> {
  let summary = "Stores matrices that the lanes of a group hold";
  let description = [{
    As many matrices as there are words, each 8 rows of 8 elements of 16 bits,
    into memory of the workgroup: lane l holds two neighbours of row l / 4, the
    first in the lower half of a word, and `place` is where row l % 8 of matrix
    l / 8 goes. All lanes of the group are there.
  }];
  let arguments = (ins Variadic<I32>:$words, AnyMemRef:$target, Index:$place);
  let assemblyFormat = [{
    $words `to` $target `[` $place `]` attr-dict `:` type($target)
  }];
}

def Tile_ThreadLanesMeetOp : Tile_StoreOp<"thread_lanes_meet"> {
  let summary = "A barrier of a group's lanes";
  let description = [{
    With `published`, what they have stored into memory of the workgroup before,
    an engine sees behind it.
  }];
  let arguments = (ins UnitAttr:$published);
  let assemblyFormat = "(`published` $published^)? attr-dict";
}

def Tile_ThreadBoxStoreOp : Tile_StoreOp<"thread_box_store"> {
  let summary = "Begins to store a box of a tensor";
  let description = [{
    What lies in memory of the workgroup from `place` on, row by row, swizzled as
    `map`, one of the kernel's tensor maps, says, to the places `at` of the
    target. Nothing is stored outside of the tensor. The memory is read until
    `tile.thread_box_wait`.
  }];
  let arguments = (ins AnyMemRef:$source, Index:$place, AnyMemRef:$target,
                       Variadic<Index>:$at, I64Attr:$map);
  let assemblyFormat = [{
    $source `[` $place `]` `,` $target `[` $at `]` `map` $map attr-dict `:`
    type($source) `,` type($target)
  }];
}

def Tile_ThreadBoxWaitOp : Tile_StoreOp<"thread_box_wait"> {
  let summary = "Waits until boxes that this thread stores have been read";
  let description = [{
    From `memory`: all but the last `pending` of them.
  }];
  let arguments = (ins AnyMemRef:$memory, I64Attr:$pending);
  let assemblyFormat = "$memory `but` $pending attr-dict `:` type($memory)";
}

#endif // ASHLAR_DIALECTS_TILE_IR_THREADSTORES_TD
