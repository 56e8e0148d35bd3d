// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_DIALECTS_SYSTOLIC_IR_SYSTOLICDIALECT_TD
#define ASHLAR_DIALECTS_SYSTOLIC_IR_SYSTOLICDIALECT_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/EnumAttr.td"

def Systolic_Dialect : Dialect {
  let name = "systolic";
  let summary = "The instruction set of the systolic machines";
  let description = [{
    A function of these ops is a stream: each op is one command of
    docs/systolic.md, which says what it does and costs, and runtime's
    systolic_isa.h, which says how it is written down. Ops stand in the order of
    issue. Memory is the function's arguments, each with an offset in bytes; a
    place on chip is a row of one of two memories:

    - `scratchpad[64]`, of inputs;
    - `accumulator[64]`, of sums; with `add` what is written there is added,
      with `wide` what is read goes out at 32 bits;
    - `none`: no matrix.

    `128 x 64` are rows and columns. In a `systolic.loop`, a command's `advance`
    says what each iteration adds to its two registers, in triples: which loop,
    0 for the innermost, then the summands. For `mvin` and `mvout` the first
    register is the byte in memory and the second the row on chip; for `preload`
    and `compute` they are the rows of their first and second matrix; for
    `vector` the row of the result, and the left operand's row plus 2^32 times
    the right one's.

    ```mlir
    func.func @copy(%x: memref<256x128xbf16>, %y: memref<256x128xbf16>) {
      systolic.region "copy" other 0
      systolic.config_load 0 stride = 256 block_stride = 128
      systolic.config_store stride = 256
      systolic.loop 2 {
        systolic.mvin 0, %x[0] to scratchpad[0] 128 x 128
          {advance = array<i64: 0, 32768, 128>} : memref<256x128xbf16>
      }
      systolic.sync [load] before [store]
      systolic.mvout scratchpad[0] 256 x 128 to %y[0] : memref<256x128xbf16>
      return
    }
    ```
  }];
  let cppNamespace = "::ashlar::systolicir";
}

class Systolic_Op<string mnemonic, list<Trait> traits = []>
    : Op<Systolic_Dialect, mnemonic, traits>;

// Keywords stand in the order of the numbers in systolic_isa.h.
class Systolic_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::ashlar::systolicir";
}
class Systolic_Case<string name, int value>
    : I32EnumAttrCase<name, value>;

def Systolic_Stream : Systolic_Enum<"Stream", "a sequence of rows", [
  Systolic_Case<"a", 0>, Systolic_Case<"c", 1>, Systolic_Case<"left", 2>,
  Systolic_Case<"right", 3>, Systolic_Case<"result", 4>,
  Systolic_Case<"mvin0", 5>, Systolic_Case<"mvin1", 6>,
  Systolic_Case<"mvin2", 7>, Systolic_Case<"mvout", 8>]>;

def Systolic_Right : Systolic_Enum<"Right", "how a right operand is read", [
  Systolic_Case<"each_row", 0>, Systolic_Case<"one_row", 1>,
  Systolic_Case<"one_column", 2>]>;

def Systolic_Kind : Systolic_Enum<"Kind", "what a region counts as", [
  Systolic_Case<"other", 0>, Systolic_Case<"contraction", 1>,
  Systolic_Case<"depthwise", 2>]>;

def Systolic_Dataflow : Systolic_Enum<"Dataflow", "what stays in the array", [
  Systolic_Case<"weight_stationary", 1>, Systolic_Case<"input_stationary", 2>,
  Systolic_Case<"output_stationary", 3>]>;

def Systolic_Function : Systolic_Enum<"Function", "what a vector op does", [
  Systolic_Case<"copy", 80>, Systolic_Case<"add", 81>,
  Systolic_Case<"subtract", 82>, Systolic_Case<"multiply", 83>,
  Systolic_Case<"maximum", 84>, Systolic_Case<"minimum", 85>,
  Systolic_Case<"fill", 86>, Systolic_Case<"add_immediate", 87>,
  Systolic_Case<"multiply_immediate", 88>,
  Systolic_Case<"maximum_immediate", 89>,
  Systolic_Case<"minimum_immediate", 90>, Systolic_Case<"exp", 91>,
  Systolic_Case<"reciprocal", 92>, Systolic_Case<"reciprocal_root", 93>,
  Systolic_Case<"lookup", 94>, Systolic_Case<"to_float", 95>,
  Systolic_Case<"to_integer", 96>, Systolic_Case<"row_maximum", 97>,
  Systolic_Case<"row_sum", 98>]>;

#endif // ASHLAR_DIALECTS_SYSTOLIC_IR_SYSTOLICDIALECT_TD
