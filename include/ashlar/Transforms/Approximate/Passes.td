// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_TRANSFORMS_APPROXIMATE_PASSES_TD
#define ASHLAR_TRANSFORMS_APPROXIMATE_PASSES_TD

include "mlir/Pass/PassBase.td"

def ApproximateMathPass
    : Pass<"ashlar-approximate-math", "::mlir::func::FuncOp"> {
  let summary = "Compute exp, log, tanh, erf and the like by polynomials";
  let description = [{
    Before: a kernel's body. After: no `math.exp`, `math.exp2`, `math.expm1`,
    `math.log`, `math.log1p`, `math.tanh` or `math.erf` of f32, f16 or bf16, be
    it of a scalar or of a vector: each is a polynomial of a reduced argument,
    without a call, a branch or a table, so that vectors stay vectors. Halves
    are computed in f32 and rounded once. f64 is left for libm.

    With `library=false` there is no libm: `math.powf`, `math.sin` and all else
    that it would be called for, and `arith.remf`, are computed in f64 and
    rounded to f32 (and that to a half), `math.exp` and `math.log` of f64 in
    f64. No other function of f64 has a polynomial.

    docs/numerics.md states the largest error of each; NaN, infinities, both
    zeros and denormal arguments and results are as IEEE 754 and C have them.

    ```mlir
    %y = math.exp %x : vector<16xf32>                             // before

    %n = ... round(x / ln 2)                                      // after
    %r = ... x - n ln 2
    %y = ... 2^n (1 + r + r^2 P(r))
    ```
  }];
  let options = [Option<"fma", "fma", "bool", "true",
                        "Multiply and add with one rounding (math.fma), for "
                        "processors that do that in one instruction">,
                 Option<"library", "library", "bool", "true",
                        "Leave other functions for calls of libm; false: "
                        "compute those of up to 32 bits in f64">];
  let statistics = [Statistic<"numApproximated", "num-approximated",
                              "Functions replaced by polynomials">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
}

#endif // ASHLAR_TRANSFORMS_APPROXIMATE_PASSES_TD
