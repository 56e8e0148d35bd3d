// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

def RemoveDoubleNegationsPass
    : Pass<"ashlar-remove-double-negations", "::mlir::func::FuncOp"> {
  let summary = "Replace -(-x) by x";
  let description = [{
    Before: any function. After: no `arith.negf` negates what another one
    negated. Nothing is refused.

    ```mlir
    %1 = arith.negf %0 : f32
    %2 = arith.negf %1 : f32    // before; after: %0
    ```
  }];
  let statistics = [Statistic<"numRemoved", "num-removed",
                              "Pairs of negations that are gone">];
}
