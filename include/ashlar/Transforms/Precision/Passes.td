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

#endif // ASHLAR_TRANSFORMS_PRECISION_PASSES_TD
