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
                            "further devices">,
                 ListOption<"standsIn", "stands-in", "unsigned",
                            "Numbers of programs, from 0 on, whose first "
                            "device nobody asked for (exec.stands_in)">];
  let dependentDialects = ["::ashlar::exec::ExecDialect"];
}

#endif // ASHLAR_TRANSFORMS_PLACE_PASSES_TD
