// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_INTERPRET_PASSES_TD
#define ASHLAR_INTERPRET_PASSES_TD

include "mlir/Pass/PassBase.td"

def InterpretKernelsPass
    : Pass<"ashlar-interpret-kernels", "::mlir::ModuleOp"> {
  let summary = "Run kernels op by op, under many schedules";
  let description = [{
    Before and after: the same IR. Each function of memrefs with known sizes
    and strides, of a program each body of a kernel, is run on random numbers, once for each schedule: copies and steps that were
    begun end at a random later time, roles go on in random order, workers come
    in random order, rings have their true slots. What a copy or a step still
    reads or writes, and nobody has waited for, is nobody else's: a read before
    its wait, a write to what is still read, a slot used after its release, or
    taken while somebody still reads it, an access outside of memory and roles
    that wait for each other are errors.

    What comes out must be what the reference gives: the function that
    `reference = @f` names; with `through`, the function itself, whose clone is
    run behind that pipeline; else the first schedule. A `tile.contract` is
    summed in f64 in plain loops, whatever its strategy says.

    A remark says of each function what was run and how far off it was, or why
    it was left out.

    ```sh
    ashlar-opt kernels.mlir \
      --ashlar-interpret-kernels="through=ashlar-expand-contracts schedules=8"
    ```
  }];
  let options = [
    Option<"through", "through", "std::string", "",
           "Passes on functions, whose result is compared with what is given">,
    Option<"schedules", "schedules", "unsigned", "4",
           "How many random orders of what may happen">,
    Option<"seed", "seed", "uint64_t", "1",
           "Of numbers and orders: the first of the schedules">,
    Option<"tolerance", "tolerance", "double", "1e-5",
           "How far off floats may be, relative to the largest of a buffer">,
    Option<"most", "most", "uint64_t", "4000000",
           "Functions of more products and points are left out">];
}

#endif // ASHLAR_INTERPRET_PASSES_TD
