// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_TRANSFORMS_PLACE_PASSES_TD
#define ASHLAR_TRANSFORMS_PLACE_PASSES_TD

include "mlir/Pass/PassBase.td"

def CloneProgramsPass : Pass<"ashlar-clone-programs", "::mlir::ModuleOp"> {
  let summary = "Give each target a program of its own";
  let description = [{
    Before: a module with functions. After: a module that holds one module per
    target, named `program_N` and marked with `exec.target` (and
    `exec.companions`, where a program has several devices), each with its own
    copy of the functions. Constants are shared: they are attributes.

    ```mlir
    module { func.func @main ... }                                  // before
    module { module @program_0 attributes {exec.target = #exec.target<"cpu",
             "host">} { func.func @main ... } }                     // after
    ```
  }];
  let options = [ListOption<"targets", "targets", "std::string",
                            "Targets in order, each NAME:PRESET, with + for "
                            "further devices">];
  let dependentDialects = ["::ashlar::exec::ExecDialect"];
}

def AddBiasesToSumsPass
    : Pass<"ashlar-add-biases-to-sums", "::mlir::func::FuncOp"> {
  let summary = "Add biases to integer sums before these are scaled";
  let description = [{
    Before: `tile.contract` ops that scale a sum of bytes and then add a
    constant. After: the constant is an integer in the unit of the sums, added
    before they are scaled, which is what a device without a vector unit can do.
    Left alone is what is not equal to the bit: scales that are no power of two,
    constants that are no multiples of them, and sums whose weights may add up
    to more than f32 holds exactly.

    ```mlir
    sitofp(sum) * 0.125 + 2.5           // before
    sitofp(sum + 20) * 0.125            // after
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def PlaceContractsPass : Pass<"ashlar-place-contracts", "::mlir::func::FuncOp"> {
  let summary = "Give contractions to further devices that can compute them";
  let description = [{
    Before: `tile.contract` ops without a strategy. After: those that a
    companion of the program can compute have its number as their `device`. A
    remark says why each of the others stays on the host. From the command line
    there are no companions.
  }];
}

def AbsorbRowsPass : Pass<"ashlar-absorb-rows", "::mlir::func::FuncOp"> {
  let summary = "Let contractions of further devices end in a softmax or a norm";
  let description = [{
    Before: `exec.dispatch` ops. After: where a softmax, a layer norm or another
    chain with sums or maxima along rows is all that reads a contraction of a
    companion, and that companion says it can, the chain is part of the
    contraction's body: `tile.row_sum`, `tile.row_maximum`. If a result is read
    both as it is and rounded, the contraction stores both. A remark says why
    other chains stay on the host. From the command line there are no
    companions.

    ```mlir
    %s = exec.dispatch(...) {device = 1} { tile.contract ... yield %sum }
    %y = exec.dispatch(%s) { softmax }                               // before
    %y = exec.dispatch(...) {device = 1} { tile.contract ...
      %m = tile.row_maximum %sum over [2] : f32 ... }                 // after
    ```
  }];
  let dependentDialects = ["::ashlar::exec::ExecDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

def InsertTransfersPass
    : Pass<"ashlar-insert-transfers", "::mlir::func::FuncOp"> {
  let summary = "Copy tensors to the devices that read them";
  let description = [{
    Before: `exec.dispatch` ops of several devices that read each other's
    results. After: whatever a dispatch reads is a constant or in its own
    device's memory, by `exec.transfer` ops; whatever the function returns is in
    the host's. A remark for each tells its bytes.
  }];
  let dependentDialects = ["::ashlar::exec::ExecDialect"];
}

#endif // ASHLAR_TRANSFORMS_PLACE_PASSES_TD
