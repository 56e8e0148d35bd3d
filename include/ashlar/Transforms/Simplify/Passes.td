// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_TRANSFORMS_SIMPLIFY_PASSES_TD
#define ASHLAR_TRANSFORMS_SIMPLIFY_PASSES_TD

include "mlir/Pass/PassBase.td"

def FoldConstantsPass : Pass<"ashlar-fold-constants", "::mlir::func::FuncOp"> {
  let summary = "Evaluate small constant expressions";
  let description = [{
    Before: a function on tensors. After: every tensor of at most
    `maximum-elements` elements that depends on constants only is one constant,
    as is every tensor without elements; no op loops over nothing.
    A result of more elements than all its operands together, or of more than
    twice their bytes, is left alone, so that a broadcast never becomes bytes in
    the file and quantized weights stay what they are. So is what says
    `ashlar.sized`, with all that hangs on it: its elements are those of a
    caller's sizes.

    ```mlir
    %1 = linalg.generic ... ins(%c0, %c1) { arith.addi }   // before
    %1 = arith.constant dense<[3, 4]> : tensor<2xi64>      // after
    ```
  }];
  let options = [Option<"maximumElements", "maximum-elements", "int64_t",
                        "4096", "Larger results are left to the compile of "
                        "the program's constants">];
  let statistics = [Statistic<"numFolded", "num-folded",
                              "Tensors replaced by constants">];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def FoldChannelScalesPass
    : Pass<"ashlar-fold-channel-scales", "::mlir::func::FuncOp"> {
  let summary = "Move factors per output channel into the weights";
  let description = [{
    Before: a contraction with constant f32 weights whose result is multiplied
    by a constant vector along dim 1, as a batch normalization does. After: the
    weights are multiplied instead, and the product is gone. Left alone are
    results that others read too, and weights that are one value everywhere,
    which would grow.

    ```mlir
    %y = linalg.generic ... ins(%x, %w) { mulf, addf }           // before
    %z = linalg.generic ... ins(%y, %scale, %shift) { mulf, addf }
    %y = linalg.generic ... ins(%x, %w.scaled) { mulf, addf }    // after
    %z = linalg.generic ... ins(%y, %shift) { addf }
    ```
  }];
  let statistics = [Statistic<"numFolded", "num-folded", "Products removed">];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def RandomizeWeightsPass : Pass<"ashlar-randomize-weights", "::mlir::ModuleOp"> {
  let summary = "Let a seed stand for large weights";
  let description = [{
    Before: a module whose large constants are resources. After: those of f32,
    f16 or bf16 of `least-bytes` or more are numbers of a seed, with their mean
    zero and the deviation that they had, so that what runs stays in range. A
    module holds the seed in their place.

    ```mlir
    %w = arith.constant dense_resource<w> : tensor<768x3072xf32>  // before
    %w = arith.constant #tile.random<7, 0, 5.3e-07 : f32>         // after
      : tensor<768x3072xf32>
    ```
  }];
  let options = [Option<"seed", "seed", "uint64_t", "0",
                        "What the numbers follow from">,
                 Option<"leastBytes", "least-bytes", "int64_t", "16384",
                        "Smaller constants stay what they are">];
  let statistics = [Statistic<"numRandom", "num-random",
                              "Constants that a seed stands for">];
  let dependentDialects = ["::ashlar::tile::TileDialect"];
}

def FormStatesPass : Pass<"ashlar-form-states", "::mlir::func::FuncOp"> {
  let summary = "Give an input and the output that it becomes one place";
  let description = [{
    Before: an entry with arguments that say `ashlar.state`: a result, and the
    largest shape that the state has at any size. After: both are of that shape
    (`exec.state`, `exec.state_shape`); ops read the part that is there, and
    what is new is put behind it. Or loops that replace elements of the argument,
    which scatters are, replace them in the place itself; moves of dims before
    and behind such loops (PyTorch writes them) go into the loops' indices.
    Refused are results that are neither, and elements that are replaced where
    others read the argument, with what was found.

    ```mlir
    %all = tensor.concat dim(0) %past, %new                        // before
    return %all

    %old = tensor.extract_slice %past[0] [5] [1]                   // after
    %changed = tensor.insert_slice %new into %past[5] [1] [1]
    %all = tensor.extract_slice %changed[0] [6] [1]
    return %changed
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif // ASHLAR_TRANSFORMS_SIMPLIFY_PASSES_TD
