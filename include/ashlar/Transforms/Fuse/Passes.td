// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_TRANSFORMS_FUSE_PASSES_TD
#define ASHLAR_TRANSFORMS_FUSE_PASSES_TD

include "mlir/Pass/PassBase.td"

def FuseElementwisePass
    : Pass<"ashlar-fuse-elementwise", "::mlir::func::FuncOp"> {
  let summary = "Merge chains of elementwise operations";
  let description = [{
    Before: linalg ops on tensors. After: an elementwise op whose only reader
    reads each of its elements once has become part of that reader. A producer
    is not merged into a contraction, which reads its operands many times.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def FormDispatchesPass
    : Pass<"ashlar-form-dispatches", "::mlir::func::FuncOp"> {
  let summary = "Put every op that moves or computes data into a dispatch";
  let description = [{
    Before: a function of linalg, tensor and scf ops on tensors. After: its
    body holds constants, views (reshapes and slices of contiguous data) and
    `exec.dispatch` ops only. With `fuse`, an elementwise op joins the
    contraction or reduction whose result it reads. Fills and empty tensors are
    copied into the dispatches that use them.

    Refuses what cannot be computed in a kernel: values at the function's top
    level that are neither tensors nor constants.
  }];
  let options = [Option<"fuse", "fuse", "bool", "true",
                        "Let epilogues join their contraction">];
  let dependentDialects = ["::ashlar::exec::ExecDialect"];
}

#endif // ASHLAR_TRANSFORMS_FUSE_PASSES_TD
