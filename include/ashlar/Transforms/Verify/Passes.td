// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_TRANSFORMS_VERIFY_PASSES_TD
#define ASHLAR_TRANSFORMS_VERIFY_PASSES_TD

include "mlir/Pass/PassBase.td"

def VerifyStagePass : Pass<"ashlar-verify-stage", "::mlir::ModuleOp"> {
  let summary = "Check the one sentence that holds after a stage";
  let description = [{
    Before and after: the same IR. It is the last pass of every pipeline, so
    that a fault is found by the stage that made it. From `precision` on the
    module is one program, or holds programs, of which each is checked.

    | stage       | what is refused                                            |
    |-------------|------------------------------------------------------------|
    | `import`    | other than public functions of linalg, tensor, arith, math |
    |             | and scf ops on tensors; an op without the model's own name |
    |             | as its location; a weight inside an attribute; an argument |
    |             | or result without a name                                   |
    | `simplify`  | the same, but for the names of constants; dynamic shapes   |
    | `place`     | a function outside a program; a program without a target   |
    | `precision` | tensors of other elements than integers and floats         |
    | `fuse`      | data moved or computed outside of an `exec.dispatch`       |
    | `tile`      | the same outside of an `exec.invoke`; kernels with tensors,|
    |             | linalg ops, allocations or without groups and scratch      |
    | `schedule`  | public functions; bindings outside their storage; bytes    |
    |             | read that are not those of one earlier write, whole; an    |
    |             | output that is not written; commands between two barriers  |
    |             | that touch the same bytes                                  |
  }];
  let options = [Option<"stage", "stage", "std::string", "",
                        "The stage whose sentence is checked">];
}

#endif // ASHLAR_TRANSFORMS_VERIFY_PASSES_TD
