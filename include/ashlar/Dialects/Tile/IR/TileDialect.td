// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_DIALECTS_TILE_IR_TILEDIALECT_TD
#define ASHLAR_DIALECTS_TILE_IR_TILEDIALECT_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let summary = "The tile program of a contraction";
  let description = [{
    Every contraction (matrix products, convolutions, the products of
    attention) is a grid of result boxes; each is a sequence of pairs of an A
    box and a B box, whose addresses are affine in the loop counters, multiplied
    and added into an accumulator that stays where the arithmetic is.

    Three levels say so, each meaning the same numbers:

    1. `tile.contract` says what is computed, on tensors or memrefs;
    2. `#tile.strategy` on it says how: boxes, order, unrolling;
    3. the expanded program: loops around `tile.init`, `tile.step`, `tile.add`
       and `tile.drain`, whose accumulators are SSA values of type `!tile.acc`;
       what is brought near first is `tile.copy`ed into slots of a `!tile.ring`.

    Nothing here names a machine. A target translates level 3; whatever decides
    does so earlier, in `#tile.strategy`, and reads the machine model.
  }];
  let cppNamespace = "::ashlar::tile";
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
}

class Tile_Op<string mnemonic, list<Trait> traits = []>
    : Op<Tile_Dialect, mnemonic, traits>;

def Tile_AccType : TypeDef<Tile_Dialect, "Acc"> {
  let mnemonic = "acc";
  let summary = "A box of partial sums, where the arithmetic is";
  let description = [{
    Vector registers on a CPU, registers of a group of threads, accumulator
    memory of an array. Static, at least one dim; lanes run along the last.
    Where a matrix unit has registers of its own for sums, the type says how
    many rows and columns one holds.

    ```mlir
    !tile.acc<14x32xf32>
    !tile.acc<32x32xf32, registers = [16, 16]>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape,
                        "::mlir::Type":$elementType,
                        OptionalArrayRefParameter<"int64_t">:$registers);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Tile_MatrixType : TypeDef<Tile_Dialect, "Matrix"> {
  let mnemonic = "matrix";
  let summary = "A register of a matrix unit, or a part of one";
  let description = [{
    Rows and what one row holds. Where the unit multiplies groups of terms, a
    row of its right operand holds one group for each column.

    ```mlir
    !tile.matrix<14x32xbf16>
    ```
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$columns,
                        "::mlir::Type":$elementType);
  let assemblyFormat = "`<` custom<MatrixShape>($rows, $columns, $elementType) `>`";
  let genVerifyDecl = 1;
}

def Tile_RingType : TypeDef<Tile_Dialect, "Ring"> {
  let mnemonic = "ring";
  let summary = "Memory near the arithmetic, in slots that copies take in turn";
  let description = [{
    How many slots, then what one holds. Static.

    ```mlir
    !tile.ring<3, 128x64xbf16>
    ```
  }];
  let parameters = (ins "int64_t":$slots, ArrayRefParameter<"int64_t">:$shape,
                        "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// What is in a slot, seen by those who read it.
    ::mlir::MemRefType getSlotType() const {
      return ::mlir::MemRefType::get(getShape(), getElementType());
    }
  }];
}

def Tile_TokenType : TypeDef<Tile_Dialect, "Token"> {
  let mnemonic = "token";
  let summary = "That something has been begun, to be waited for";
}

def Tile_StrategyAttr : AttrDef<Tile_Dialect, "Strategy"> {
  let mnemonic = "strategy";
  let summary = "How a contraction is computed";
  let description = [{
    One number per dim of the contraction, parallel dims first:

    - `workers`: the box of one worker, 0 for the whole dim, a multiple of
      `box` otherwise; none for reduced dims;
    - `box`: what one accumulator holds of each parallel dim and sums of each
      reduced dim, which it divides, before it joins the total (two-level
      accumulation);
    - `order`: the parallel dims in the order of their loops inside a worker's
      box, outermost first;
    - `unroll`: terms of the innermost reduced dim that are written out;
    - `packs`: whether a worker copies its box of B into a contiguous panel
      before the loops that reuse it;
    - `grouped`, where it stands: the last reduced dim is a group, terms that a
      unit of the machine multiplies and adds in one step;
    - `ahead`, where it stands: b's rows are asked for so many terms before
      they are read, since they lie too far apart for the machine to foresee;
    - `unit`, where it stands: rows, columns and terms of the matrix unit whose
      registers hold the sums.

    ```mlir
    #tile.strategy<workers = [0, 28, 0], box = [1, 14, 32, 3, 3, 64],
                   order = [0, 2, 1], unroll = 4, packs = false>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$workers,
                        ArrayRefParameter<"int64_t">:$box,
                        ArrayRefParameter<"int64_t">:$order,
                        "int64_t":$unroll, "bool":$packs,
                        DefaultValuedParameter<"bool", "false">:$grouped,
                        DefaultValuedParameter<"int64_t", "0">:$ahead,
                        OptionalArrayRefParameter<"int64_t">:$unit);
  let assemblyFormat = [{
    `<` `workers` `=` `[` $workers `]` `,` `box` `=` `[` $box `]` `,`
    `order` `=` `[` $order `]` `,` `unroll` `=` $unroll `,`
    custom<Reading>($packs, $grouped, $ahead, $unit) `>`
  }];
}

def Tile_PackedAttr : AttrDef<Tile_Dialect, "Packed",
                              [TypedAttrInterface]> {
  let mnemonic = "packed";
  let summary = "A constant in another order, filled up with zeros";
  let description = [{
    Element `i` of the value is the element of `source`, seen as one row-major
    line of its elements, at the sum of `i[d] * strides[d]`; it is zero where
    the column is `clip` or more. With `group` 1 the column is
    `i[first] * panel + i[last]`; otherwise the last dim is a group of that size
    and the column's place in its panel stands before it. The bytes are made
    while the module is written.
  }];
  let parameters = (ins "::mlir::TypedAttr":$source,
                        AttributeSelfTypeParameter<"">:$type,
                        ArrayRefParameter<"int64_t">:$strides,
                        "int64_t":$panel, "int64_t":$clip,
                        DefaultValuedParameter<"int64_t", "1">:$group);
  let assemblyFormat = [{
    `<` $source `,` `strides` `=` `[` $strides `]` `,`
    `panel` `=` $panel `,` `clip` `=` $clip (`,` `group` `=` $group^)? `>`
  }];
}

def Tile_RoundedAttr : AttrDef<Tile_Dialect, "Rounded",
                               [ElementsAttrInterface]> {
  let mnemonic = "rounded";
  let summary = "A constant with its elements in a smaller type";
  let description = [{
    Each element of `source`, of f32, rounded to nearest, ties to even. The
    bytes are made while the module is written, so that a weight is not held
    twice.
  }];
  let parameters = (ins "::mlir::TypedAttr":$source,
                        AttributeSelfTypeParameter<"",
                                                   "::mlir::ShapedType">:$type);
  let assemblyFormat = "`<` $source `>`";
}

def Tile_StackedAttr : AttrDef<Tile_Dialect, "Stacked",
                               [ElementsAttrInterface]> {
  let mnemonic = "stacked";
  let summary = "Constants of one type, one behind the other";
  let description = [{
    Of `n` sources, the value has one dim more, the first, of size `n`: at `i`
    lies source `i`. The bytes are brought together while the module is
    written, so that no weight is held twice.

    ```mlir
    #tile.stacked<dense<1.0> : tensor<4xf32>, dense<2.0> : tensor<4xf32>>
        : tensor<2x4xf32>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::TypedAttr">:$sources,
                        AttributeSelfTypeParameter<"",
                                                   "::mlir::ShapedType">:$type);
  let assemblyFormat = "`<` $sources `>`";
  let genVerifyDecl = 1;
}

#endif // ASHLAR_DIALECTS_TILE_IR_TILEDIALECT_TD
