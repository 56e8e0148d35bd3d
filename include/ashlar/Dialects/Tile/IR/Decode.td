// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operands that are computed where they are copied.
#ifndef ASHLAR_DIALECTS_TILE_IR_DECODE_TD
#define ASHLAR_DIALECTS_TILE_IR_DECODE_TD

include "ashlar/Dialects/Tile/IR/TileDialect.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tile_DecodeOp : Tile_Op<"decode", [
    Pure, IsolatedFromAbove, SingleBlock]> {
  let summary = "A tensor whose elements are computed where they are copied";
  let description = [{
    Weights of a few bits with a scale for each block of them, as an operand of
    a `tile.contract`: each element is what the body makes of one element of
    each of the inputs, at its map over the result's dims, and of its place in
    the result. Nothing of that is ever in memory as a whole. In a kernel the
    result stands for memory of which the copies of a ring alone read parts.

    With `padded`, maps may lead beyond an input's ends; elements of the result
    there are zero. So a convolution reads a tensor with zeros around it.

    ```mlir
    %w = tile.decode %bytes, %scales maps [#bytes, #scales]
        : tensor<64x4x16xi8>, tensor<64x4xf16> -> tensor<64x128xf16> {
    ^bb0(%byte: i8, %scale: f16, %row: index, %column: index):
      ...
      tile.decoded %x : f16
    }
    %p = tile.decode %x maps [affine_map<(h, w, c) -> (h - 1, w - 1, c)>] padded
        : tensor<56x56x64xbf16> -> tensor<58x58x64xbf16> {
    ^bb0(%element: bf16, %h: index, %w: index, %c: index):
      tile.decoded %element : bf16
    }
    ```
  }];
  let arguments = (ins Variadic<AnyShaped>:$inputs,
                       AffineMapArrayAttr:$maps, UnitAttr:$padded);
  let results = (outs AnyShaped:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $inputs `maps` $maps (`padded` $padded^)? attr-dict
    `:` type($inputs) `->` type($result) $body
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::AffineMap getMap(unsigned number) {
      return ::llvm::cast<::mlir::AffineMapAttr>(getMaps()[number]).getValue();
    }
    ::mlir::ShapedType getType() {
      return ::llvm::cast<::mlir::ShapedType>(getResult().getType());
    }
    /// Of the body: what is at each place of the result.
    ::mlir::Block::BlockArgListType getPlaces() {
      return getBody().getArguments().drop_front(getInputs().size());
    }
    ::mlir::Value getElement();
    /// Where all of it is its only input with zeros around: how far from the
    /// result's beginning that one's is, by dim; none: it is something else.
    ::std::optional<::llvm::SmallVector<int64_t>> getMargins();
  }];
}

def Tile_DecodedOp : Tile_Op<"decoded", [
    Terminator, Pure, ReturnLike, HasParent<"DecodeOp">]> {
  let summary = "The element that a body of `tile.decode` computes";
  let arguments = (ins AnyType:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

#endif // ASHLAR_DIALECTS_TILE_IR_DECODE_TD
