// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_DRIVER_PASSES_TD
#define ASHLAR_DRIVER_PASSES_TD

include "mlir/Pass/PassBase.td"

def RunStagePass : Pass<"ashlar-run-stage", "::mlir::ModuleOp"> {
  let summary = "Run a whole stage as ashlar-compile does";
  let description = [{
    Before: what the stage before leaves, or IR written by hand in that form.
    After: what docs/stages.md says of the stage. From `precision` on it runs on
    each program that the module holds, or on the module as the one program.
    The target is the one asked for, or else the one that the program names; a
    program that names none is made for a generic machine of vectors of 32
    bytes, on which nothing is emitted.

    Refused is what the stage refuses, a target that there is not, and `emit` of
    IR without programs. Every `--ashlar-STAGE-pipeline` is this pass.

    ```mlir
    // ashlar-opt --ashlar-run-stage="stage=place target=reference"
    module { func.func @main ... }                                  // before
    module { module @program_0 attributes {exec.target =            // after
             #exec.target<"reference", "host">} { func.func @main ... } }
    ```
  }];
  let options = [
    Option<"stage", "stage", "std::string", "",
           "import, simplify, place, precision, fuse, tile, schedule or emit">,
    Option<"target", "target", "std::string", "",
           "As ashlar-compile's --target; more than one for place only">,
    Option<"machine", "machine", "std::string", "",
           "A machine model (JSON) in place of a preset">,
    Option<"precision", "precision", "std::string", "\"f32\"",
           "Of the stage precision: f32, bf16 or f16">,
    Option<"fuse", "fuse", "std::string", "\"all\"",
           "Of the stages fuse and schedule: none, basic or all">,
    Option<"output", "output", "std::string", "",
           "Of the stage emit: the .ash file to write">];
}

def LowerDeviceKernelsPass
    : Pass<"ashlar-lower-device-kernels", "::mlir::ModuleOp"> {
  let summary = "Run the pipeline of each device on its own kernels";
  let description = [{
    Before: a program whose kernels have bodies on memrefs and strategies, for
    several devices. After: each kernel as the pipeline of its device leaves it;
    those of a device that lowers none of its own as the first device's does.
    Kernels of one device are lowered in a module of their own, which stands in
    the program for as long.

    ```mlir
    exec.kernel @near calls @near_body : ..                         // before
    exec.kernel @far calls @far_body : .. device 1
    exec.kernel @near calls @near_body : .. grid [#exec.size<1>]    // after
    exec.kernel @far calls @far_body : .. device 1 grid [#exec.size<4>] block [128]
    ```
  }];
  let options = [Option<"devices", "target", "std::string", "",
                        "The devices of the program, the first in front, as "
                        "ashlar-compile's --target has them">];
}

#endif // ASHLAR_DRIVER_PASSES_TD
