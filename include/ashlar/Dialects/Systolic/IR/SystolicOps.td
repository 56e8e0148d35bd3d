// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_DIALECTS_SYSTOLIC_IR_SYSTOLICOPS_TD
#define ASHLAR_DIALECTS_SYSTOLIC_IR_SYSTOLICOPS_TD

include "ashlar/Dialects/Systolic/IR/SystolicDialect.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// One that an `advance` may stand on.
class Systolic_Command<string mnemonic, list<Trait> traits = []>
    : Systolic_Op<mnemonic, traits> {
  dag advances = (ins OptionalAttr<DenseI64ArrayAttr>:$advance);
  let hasVerifier = 1;
}

//===-- Configuration -----------------------------------------------------===//

def Systolic_ConfigExecuteOp : Systolic_Command<"config_execute"> {
  let summary = "Dataflow, transposes and strides of the arrays";
  let description = [{
    Weight-stationary unless it says otherwise. Rows of A are `a_stride` rows
    apart, those of C `c_stride`, where no stream is configured. `relu` and
    `shift` are for results towards the scratchpad, output-stationary.

    ```mlir
    systolic.config_execute {bTransposed}
    ```
  }];
  let arguments = !con((ins
      UnitAttr:$outputStationary, UnitAttr:$relu, UnitAttr:$aTransposed,
      UnitAttr:$bTransposed, DefaultValuedAttr<I32Attr, "1">:$aStride,
      DefaultValuedAttr<I32Attr, "1">:$cStride,
      DefaultValuedAttr<I32Attr, "0">:$shift), advances);
  let assemblyFormat = "attr-dict";
}

def Systolic_ConfigLoadOp : Systolic_Command<"config_load"> {
  let summary = "Strides and scale of one of the three kinds of mvin";
  let description = [{
    Rows in memory are `stride` bytes apart, blocks of `dim` columns lie
    `block_stride` rows apart on chip. `narrow`: the accumulator receives inputs.

    ```mlir
    systolic.config_load 1 stride = 1536 block_stride = 128
    ```
  }];
  let arguments = !con((ins
      I32Attr:$id, I64Attr:$stride, I32Attr:$blockStride, UnitAttr:$narrow,
      DefaultValuedAttr<F32Attr, "1.0">:$scale,
      DefaultValuedAttr<I32Attr, "1">:$pixels), advances);
  let assemblyFormat = [{
    $id `stride` `=` $stride `block_stride` `=` $blockStride attr-dict
  }];
}

def Systolic_ConfigStoreOp : Systolic_Command<"config_store"> {
  let summary = "Stride, scale and activation of mvout";
  let description = [{
    ```mlir
    systolic.config_store stride = 1536 {relu}
    ```
  }];
  let arguments = !con((ins I32Attr:$stride, UnitAttr:$relu,
                        DefaultValuedAttr<F32Attr, "1.0">:$scale), advances);
  let assemblyFormat = "`stride` `=` $stride attr-dict";
}

def Systolic_ConfigStreamOp : Systolic_Command<"config_stream"> {
  let summary = "One level of an address stream";
  let description = [{
    Level 0 is innermost; setting it clears the others, and a count of 0 turns
    the stream off. Steps are in rows on chip, and in bytes for DMA.

    ```mlir
    systolic.config_stream a level = 0 count = 56 rows = 1
    systolic.config_stream a level = 1 count = 56 rows = 58
    ```
  }];
  let arguments = !con((ins
      Systolic_Stream:$stream, I32Attr:$level, I32Attr:$count, I32Attr:$rows,
      DefaultValuedAttr<I64Attr, "0">:$bytes), advances);
  let assemblyFormat = [{
    $stream `level` `=` $level `count` `=` $count `rows` `=` $rows attr-dict
  }];
}

def Systolic_ConfigColumnsOp : Systolic_Command<"config_columns"> {
  let summary = "At which column of its rows a mvin or the mvout begins";
  let description = [{
    `block_stride`, of the mvout alone, is 0 for the array's size.

    ```mlir
    systolic.config_columns mvin0 first = 21
    ```
  }];
  let arguments = !con((ins Systolic_Stream:$stream, I32Attr:$first,
                        DefaultValuedAttr<I32Attr, "0">:$blockStride), advances);
  let assemblyFormat = "$stream `first` `=` $first attr-dict";
}

def Systolic_ConfigVectorOp : Systolic_Command<"config_vector"> {
  let summary = "Type of the vector unit, and how it reads right operands";
  let description = [{
    ```mlir
    systolic.config_vector one_row
    systolic.config_vector each_row {integer}
    ```
  }];
  let arguments = !con((ins Systolic_Right:$right, UnitAttr:$integer), advances);
  let assemblyFormat = "$right attr-dict";
}

//===-- Memory ------------------------------------------------------------===//

def Systolic_MvinOp : Systolic_Command<"mvin"> {
  let summary = "Rows of memory to rows on chip";
  let description = [{
    With the strides, scale and stream of `id`. Without a memory: zeros.

    ```mlir
    systolic.mvin 0, %a[256] to scratchpad[0] 128 x 768 : memref<128x896xbf16>
    systolic.mvin 0 to scratchpad[0] 60 x 128
    ```
  }];
  let arguments = !con((ins
      I32Attr:$id, Optional<AnyMemRef>:$memory,
      DefaultValuedAttr<I64Attr, "0">:$offset,
      I32Attr:$place, I32Attr:$rows, I32Attr:$columns), advances);
  let assemblyFormat = [{
    $id (`,` $memory^ `[` $offset `]`)? `to` custom<Place>($place)
    custom<Sizes>($rows, $columns) attr-dict (`:` type($memory)^)?
  }];
}

def Systolic_MvoutOp : Systolic_Command<"mvout"> {
  let summary = "Rows on chip to rows of memory";
  let description = [{
    ```mlir
    systolic.mvout accumulator[0] 128 x 128 to %c[0] : memref<128x128xbf16>
    ```
  }];
  let arguments = !con((ins
      I32Attr:$place, I32Attr:$rows, I32Attr:$columns, AnyMemRef:$memory,
      I64Attr:$offset), advances);
  let assemblyFormat = [{
    custom<Place>($place) custom<Sizes>($rows, $columns) `to`
    $memory `[` $offset `]` attr-dict `:` type($memory)
  }];
}

def Systolic_TableOp : Systolic_Command<"table"> {
  let summary = "A table of the vector unit, from memory";
  let description = [{
    ```mlir
    systolic.table 0, %tables[0] : memref<3080xi8>
    ```
  }];
  let arguments = !con((ins I32Attr:$number, AnyMemRef:$memory,
                        I64Attr:$offset), advances);
  let assemblyFormat = [{
    $number `,` $memory `[` $offset `]` attr-dict `:` type($memory)
  }];
}

//===-- Arrays ------------------------------------------------------------===//

def Systolic_PreloadOp : Systolic_Command<"preload"> {
  let summary = "The stationary matrix, and where results go";
  let description = [{
    ```mlir
    systolic.preload scratchpad[0] 128 x 128 into accumulator[0] add 256 x 128
    ```
  }];
  let arguments = !con((ins
      I32Attr:$stationary, I32Attr:$rows, I32Attr:$columns, I32Attr:$result,
      I32Attr:$resultRows, I32Attr:$resultColumns,
      DefaultValuedAttr<I32Attr, "0">:$array), advances);
  let assemblyFormat = [{
    custom<Place>($stationary) custom<Sizes>($rows, $columns) `into`
    custom<Place>($result) custom<Sizes>($resultRows, $resultColumns) attr-dict
  }];
}

def Systolic_ComputeOp : Systolic_Command<"compute"> {
  let summary = "Rows of A go through the array";
  let description = [{
    With what was preloaded, or, `again`, with what the array held before.
    The second matrix is D, output-stationary B.

    ```mlir
    systolic.compute scratchpad[512] 256 x 128, none 0 x 0
    ```
  }];
  let arguments = !con((ins
      I32Attr:$a, I32Attr:$rows, I32Attr:$columns, I32Attr:$moving,
      I32Attr:$movingRows, I32Attr:$movingColumns, UnitAttr:$again,
      DefaultValuedAttr<I32Attr, "0">:$array), advances);
  let assemblyFormat = [{
    custom<Place>($a) custom<Sizes>($rows, $columns) `,`
    custom<Place>($moving) custom<Sizes>($movingRows, $movingColumns) attr-dict
  }];
}

//===-- The vector unit ---------------------------------------------------===//

def Systolic_VectorOp : Systolic_Command<"vector"> {
  let summary = "One operation on rows";
  let description = [{
    The right operand of `add` to `minimum` is a place; `fill` and those that
    end in `_immediate` take a number, `lookup` a table's.

    ```mlir
    systolic.vector add accumulator[0] 128 x 128 of accumulator[0], scratchpad[5]
    systolic.vector multiply_immediate accumulator[0] 128 x 128
      of accumulator[0] {immediate = 2.0 : f32}
    ```
  }];
  let arguments = !con((ins
      Systolic_Function:$function, I32Attr:$result, I32Attr:$rows,
      I32Attr:$columns, I32Attr:$left, OptionalAttr<I32Attr>:$right,
      OptionalAttr<AnyAttrOf<[F32Attr, I32Attr]>>:$immediate), advances);
  let assemblyFormat = [{
    $function custom<Place>($result) custom<Sizes>($rows, $columns)
    custom<Operands>($left, $right) attr-dict
  }];
  let extraClassDeclaration = [{
    /// Of two operands.
    bool isBinary();
    bool takesImmediate();
  }];
}

//===-- The issuer --------------------------------------------------------===//

def Systolic_SyncOp : Systolic_Command<"sync"> {
  let summary = "Some queues wait for what was issued to others";
  let description = [{
    Queues are `load`, `store`, `vector`, `execute0` to `execute3`; `execute`
    stands for those four and `all` for every one.

    ```mlir
    systolic.sync [load, store] before [execute]
    ```
  }];
  let arguments = !con((ins I32Attr:$from, I32Attr:$to), advances);
  let assemblyFormat = [{
    custom<Queues>($from) `before` custom<Queues>($to) attr-dict
  }];
}

def Systolic_RegionOp : Systolic_Op<"region"> {
  let summary = "What follows counts for this region";
  let description = [{
    With its name, its kind, the multiply-adds that the model asks for and, if
    it is a product, its dataflow, which is there to be read by people. Not in a
    loop.

    ```mlir
    systolic.region "conv1" contraction 118013952 output_stationary
    ```
  }];
  let arguments = (ins StrAttr:$name, Systolic_Kind:$kind,
                       I64Attr:$multiplyAdds,
                       OptionalAttr<Systolic_Dataflow>:$dataflow);
  let assemblyFormat = "$name $kind $multiplyAdds ($dataflow^)? attr-dict";
  let hasVerifier = 1;
}

def Systolic_LoopOp : Systolic_Op<"loop", [SingleBlock, NoTerminator]> {
  let summary = "The commands in it are issued again and again";
  let description = [{
    ```mlir
    systolic.loop 6 {
      systolic.preload scratchpad[0] 128 x 128 into accumulator[0] add 64 x 128
        {advance = array<i64: 0, 128, 0>}
      systolic.compute scratchpad[8192] 64 x 128, none 0 x 0
        {advance = array<i64: 0, 64, 0>}
    }
    ```
  }];
  let arguments = (ins I64Attr:$count);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$count $body attr-dict";
  let hasVerifier = 1;
}

#endif // ASHLAR_DIALECTS_SYSTOLIC_IR_SYSTOLICOPS_TD
