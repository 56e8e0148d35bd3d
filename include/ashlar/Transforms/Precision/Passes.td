// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_TRANSFORMS_PRECISION_PASSES_TD
#define ASHLAR_TRANSFORMS_PRECISION_PASSES_TD

include "mlir/Pass/PassBase.td"

def WidenAccumulatorsPass
    : Pass<"ashlar-widen-accumulators", "::mlir::func::FuncOp"> {
  let summary = "Add and multiply up in f64";
  let description = [{
    Before: a function on tensors. After: no linalg op accumulates f32. Where an
    op with a reduction adds up or multiplies up elements of f32, it does so in
    f64, and its result is rounded once; the products of a contraction are exact
    then. Terms that are computed otherwise keep their type, as does everything
    in ops without a reduction, since ONNX defines it in the type of its
    operands. For targets that others are checked by.

    ```mlir
    %y = linalg.generic ... ins(%x) outs(%z : tensor<4xf32>) { addf }  // before
    %w = linalg.generic ... ins(%z : tensor<4xf32>) { extf }           // after
    %s = linalg.generic ... ins(%x) outs(%w : tensor<4xf64>) { extf, addf }
    %y = linalg.generic ... ins(%s : tensor<4xf64>) { truncf }
    ```
  }];
  let statistics = [Statistic<"numWidened", "num-widened",
                              "Results that are accumulated in f64">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def FormIntegerContractionsPass
    : Pass<"ashlar-form-integer-contractions", "::mlir::func::FuncOp"> {
  let summary = "Multiply bytes where dequantized bytes were multiplied";
  let description = [{
    Before: generic linalg ops on tensors. After: a contraction of two operands
    that were dequantized, (x - zero) * scale, or whose zero points were
    subtracted, multiplies the bytes and adds them up in i32. Parameters are
    constants, or single numbers that each call computes.
    Behind it an elementwise op makes up for the zero points, by constants where
    weights are constant and by sums of the other operand where not, and scales
    the sums. Pads hold the zero point. Where the machine multiplies other signs
    faster, bytes get the other sign, weights while compiling and others where
    they are made; a few channels are filled up with zeros to the group that a
    unit of the machine takes.

    Floats of a byte (f8E4M3FN, f8E5M2 and their FNUZ forms) that were decoded
    and scaled are multiplied as they are, into f32, where the machine has a
    unit for the two types: operands have these types from here on, and the
    scales follow. Where it has none but matrix units for 16 bits, operands are
    decoded into these, which hold them exactly; otherwise nothing changes.

    Left alone, with a remark: zero points and scales that follow a summed dim,
    computed zero points of constant operands, two operands with a parameter for
    each element of a dim, one operand of bytes only, sums of floats of so many
    terms that 32 bits might overflow.

    ```mlir
    %x = linalg.generic ins(%q : i8) { extui, subi 3, sitofp, mulf 0.5 } // before
    %y = linalg.generic ins(%x, %w : f32, f32) { mulf, addf }
    %s = linalg.generic ins(%q, %v : i8, i8) { extui, extsi, muli, addi } // after
    %y = linalg.generic ins(%s, %c : i32, i32) { subi, sitofp, mulf 0.25 }
    ```
  }];
  let options = [Option<"machineName", "machine", "std::string", "",
                        "TARGET:PRESET or a machine file (*.json); otherwise a "
                        "small made-up machine">];
  let statistics = [Statistic<"numFormed", "num-formed",
                              "Contractions that multiply bytes now">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def DecodeFloat8Pass : Pass<"ashlar-decode-float8"> {
  let summary = "Turn floats of a byte into f32 by integer arithmetic";
  let description = [{
    Before: `arith.extf` of f8E4M3FN, f8E5M2 and their FNUZ forms, as models
    that hold such numbers are imported: their elements are bytes, whose code is
    read by `arith.bitcast`. After: no `arith.extf` of a byte's code is left,
    nor, with `everywhere`, of any value of these types; what has it takes the
    bits apart. Exact in whichever type it was extended to. Scalars and vectors.

    Without `everywhere`, what reads operands of these types stays: contractions
    of ashlar-form-integer-contractions, for which the machine has a unit.

    ```mlir
    %f = arith.bitcast %x : i8 to f8E5M2 // before
    %y = arith.extf %f : f8E5M2 to f32
    ```
  }];
  let options = [Option<"everywhere", "everywhere", "bool", "false",
                        "Also what is no byte before it is extended">];
  let statistics = [Statistic<"numDecoded", "num-decoded",
                              "Extensions that are integer arithmetic now">];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def LowerPrecisionPass
    : Pass<"ashlar-lower-precision", "::mlir::ModuleOp"> {
  let summary = "Give values and products fewer bits where rules allow it";
  let description = [{
    Before: a program of generic linalg ops on tensors of f32. After:
    contractions multiply operands of the low type and sum them up in f32,
    constant weights are `#tile.rounded`, and a value has the low type where
    whoever computes it and whoever reads it agrees. Bodies compute in f32:
    `arith.extf` stands where they read, `arith.truncf` where they store. Both
    carry `contract`, so that the pair goes when fusion brings them together.
    The signature keeps its types. Which ops agree to what is one table of named
    rules (SensitiveOps.cpp); a plan may overrule them node by node.

    Warns of weights that would be infinite in f16; their node stays f32. For
    tools, the pass can instead leave the types alone and give the program an
    input that says where to round, or outputs that say what f16 cannot hold.

    ```mlir
    %s = linalg.generic ... ins(%x, %w : tensor<4x8xf32>, tensor<8x16xf32>)
        { mulf, addf }                                             // before
    %w = arith.constant #tile.rounded<...> : tensor<8x16xbf16>     // after
    %s = linalg.generic ... ins(%x, %w : tensor<4x8xbf16>, tensor<8x16xbf16>)
        outs(%z : tensor<4x16xf32>) { extf, extf, mulf, addf }
    ```
  }];
  let options = [Option<"machineName", "machine", "std::string", "",
                        "TARGET:PRESET or a machine file (*.json); otherwise a "
                        "small made-up machine">,
                 Option<"type", "type", "std::string", "",
                        "The low type: bf16 or f16">];
  let statistics = [Statistic<"numLow", "num-low", "Values of the low type">,
                    Statistic<"numConversions", "num-conversions",
                              "Operands that are converted for contractions">];
  let dependentDialects = ["::ashlar::tile::TileDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif // ASHLAR_TRANSFORMS_PRECISION_PASSES_TD
