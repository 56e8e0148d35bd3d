// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_TRANSFORMS_TILE_PASSES_TD
#define ASHLAR_TRANSFORMS_TILE_PASSES_TD

include "mlir/Pass/PassBase.td"

def OutlineKernelsPass : Pass<"ashlar-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "Turn each dispatch into a kernel function";
  let description = [{
    Before: a program's functions with `exec.dispatch`. After: every distinct
    body is a private function on memrefs (operands, then a destination per
    result) that carries `exec.results`, and each dispatch is an `exec.invoke`.
    Bodies that differ in nothing but locations share one kernel.
  }];
  let dependentDialects = ["::ashlar::exec::ExecDialect",
                           "::mlir::bufferization::BufferizationDialect"];
}

def TileKernelsPass : Pass<"ashlar-tile-kernels", "::mlir::func::FuncOp"> {
  let summary = "Cut each kernel's result into boxes for the workers";
  let description = [{
    Before: a kernel on tensors between its memrefs. After: its last op is
    computed box by box in one `scf.forall`, the ops before it inside, on the
    box that they are needed for. Ops without parallel loops are left whole.
  }];
  let options = [Option<"cacheBytes", "cache-bytes", "int64_t", "32768",
                        "A box's result fits in this many bytes">,
                 Option<"scoreBytes", "score-bytes", "int64_t", "131072",
                        "What a box passes from one contraction to the next "
                        "fits in this many bytes">,
                 Option<"openSizes", "open-sizes", "bool", "false",
                        "Each call chooses some sizes">,
                 Option<"scratchBytes", "scratch-bytes", "int64_t", "0",
                        "What a worker keeps for itself should fit in this "
                        "many bytes; 0: as much as is fast">];
  let dependentDialects = ["::mlir::scf::SCFDialect",
                           "::mlir::affine::AffineDialect"];
}

def BufferizeKernelsPass
    : Pass<"ashlar-bufferize-kernels", "::mlir::func::FuncOp"> {
  let summary = "Bufferize a kernel between its operands";
  let description = [{
    Before: a kernel on tensors between its memrefs. After: everything is on
    memrefs; results are computed in place where the analysis allows.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def ExpandWinogradPass
    : Pass<"ashlar-expand-winograd", "::mlir::func::FuncOp"> {
  let summary = "Write the three parts of a Winograd convolution";
  let description = [{
    Before: `tile.winograd` on memrefs. After: an `scf.forall` over boxes of
    rows; in each, loops that transform the input's boxes into scratch, a
    `tile.contract` with one batch per place, loops that transform the results
    and run the epilogue.
  }];
  let options = [Option<"vectorBytes", "vector-bytes", "int64_t", "32",
                        "Width of a vector register">];
  let dependentDialects = ["::ashlar::tile::TileDialect",
                           "::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def ExpandContractsPass
    : Pass<"ashlar-expand-contracts", "::mlir::func::FuncOp"> {
  let summary = "Write the loops of a contraction's strategy";
  let description = [{
    Before: `tile.contract` on memrefs with a strategy. After: an `scf.forall`
    over the boxes of workers, loops over accumulator boxes, and in them
    `tile.init`, `tile.step` per chunk of the sums, `tile.drain` with the
    epilogue. Where the strategy packs, `tile.copy` brings a box of b near
    first. What is left over at the end of a dim has a box of its own size.
    Refuses contractions without a strategy.
  }];
  let dependentDialects = ["::ashlar::tile::TileDialect",
                           "::mlir::affine::AffineDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def TileToLoopsPass : Pass<"ashlar-tile-to-loops", "::mlir::func::FuncOp"> {
  let summary = "Say what tile ops mean in plain loops";
  let description = [{
    Before: `tile.contract` on memrefs, or `tile.init`, `tile.step`, `tile.add`
    and `tile.drain` among loops. After: loops over single elements; every
    accumulator is a buffer of its own that is written once. Slow and simple:
    tests compare other lowerings with it. A strategy changes nothing.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def VectorizeStepsPass
    : Pass<"ashlar-vectorize-steps", "::mlir::func::FuncOp"> {
  let summary = "Turn accumulators into vector registers";
  let description = [{
    Before: `tile.init`, `tile.step`, `tile.add`, `tile.drain` among loops.
    After: every accumulator is a vector per row and register, a step loops over
    its terms with multiply-adds, a drain runs the epilogue on vectors. Lanes
    beyond the end of a row are masked.
  }];
  let options = [Option<"vectorBytes", "vector-bytes", "int64_t", "32",
                        "Width of a vector register">];
  let dependentDialects = ["::mlir::vector::VectorDialect",
                           "::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def FormMatricesPass
    : Pass<"ashlar-form-matrices", "::mlir::func::FuncOp"> {
  let summary = "Turn accumulators into registers of a matrix unit";
  let description = [{
    Before: accumulators in registers of a matrix unit, among loops. After: a
    `tile.matrix` for each part of one that such a register holds, a step loops
    over its terms with `tile.matrix_multiply`, a drain goes through memory on
    the stack to vectors. Other accumulators are left alone.
  }];
  let options = [Option<"vectorBytes", "vector-bytes", "int64_t", "32",
                        "Width of a vector register">];
  let dependentDialects = ["::mlir::vector::VectorDialect",
                           "::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def ExpandCopiesPass
    : Pass<"ashlar-expand-copies", "::mlir::func::FuncOp"> {
  let summary = "Let the worker itself copy what is brought near";
  let description = [{
    Before: `tile.copy` into rings. After: each is a structured copy into memory
    of its own, done where it was begun, for machines without copy engines and
    as the meaning of the ops. Rings, waits and releases are gone.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect"];
}

def SplitRolesPass : Pass<"ashlar-split-roles", "::mlir::func::FuncOp"> {
  let summary = "Let copies of a loop run ahead of what reads them";
  let description = [{
    Before: loops with `tile.copy` into rings of two slots and more, written as
    if nothing overlapped. After: their bodies are two roles, "bring", with the
    copies and what only they need, and "compute", with the rest; what both need
    stays before them. Loops whose copies depend on what the loop computes stay
    as they are. For machines with engines, or groups of threads, of their own
    for copies.
  }];
  let dependentDialects = ["::ashlar::tile::TileDialect"];
}

def InlineRolesPass : Pass<"ashlar-inline-roles", "::mlir::func::FuncOp"> {
  let summary = "Do roles one after the other";
  let description = [{
    Before: `tile.role` ops. After: their bodies in their places: what they mean,
    and what a machine with one engine does.
  }];
}

def ShareCopiesPass : Pass<"ashlar-share-copies", "::mlir::func::FuncOp"> {
  let summary = "Cut kernels that only move data into boxes";
  let description = [{
    Before: a bufferized kernel. After: if all it does is copy operands into
    parts of its result, or fill that and copy one operand into its middle, it
    is an `scf.forall` over rows; what lies around the middle is filled by the
    first box. Other kernels are left alone.
  }];
  let options = [Option<"boxBytes", "box-bytes", "int64_t", "32768",
                        "Bytes of the result that a box is worth">];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def FormGroupsPass : Pass<"ashlar-form-groups", "::mlir::func::FuncOp"> {
  let summary = "Turn the boxes of a kernel into a range of groups";
  let description = [{
    Before: a bufferized kernel with at most one `scf.forall` at its top. After:
    it takes scratch memory and a range of groups, computes those, and carries
    `exec.groups` and `exec.scratch_bytes`. Allocations are gone: small ones are
    on the stack, larger ones in the scratch. A kernel with other work beside
    its boxes has one group.
  }];
  let dependentDialects = ["::ashlar::exec::ExecDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::affine::AffineDialect"];
}

def GeneralizeKernelsPass
    : Pass<"ashlar-generalize-kernels", "::mlir::func::FuncOp"> {
  let summary = "Turn named linalg ops and copies into generics";
  let description = [{
    Before: a bufferized kernel. After: its structured ops are all
    `linalg.generic` on memrefs, copies too, which upstream would otherwise
    lower to calls of a library.

    ```mlir
    memref.copy %x, %y : memref<4xf32> to memref<4xf32>            // before
    linalg.generic ... ins(%x) outs(%y) { linalg.yield %in : f32 } // after
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def VectorizeGenericsPass
    : Pass<"ashlar-vectorize-generics", "::mlir::func::FuncOp"> {
  let summary = "Expand linalg ops on memrefs into loops over vectors";
  let description = [{
    Before: a kernel with linalg ops on memrefs. After: those whose bodies are
    elementwise are loops with vectors along one dim, register tiles along
    others, and masked edges; the rest is left for scalar loops.
  }];
  let options = [Option<"vectorBytes", "vector-bytes", "int64_t", "32",
                        "Width of a vector register">,
                 Option<"registers", "registers", "int64_t", "16",
                        "Vector registers of a core">];
  let dependentDialects = ["::mlir::vector::VectorDialect",
                           "::mlir::affine::AffineDialect",
                           "::mlir::scf::SCFDialect"];
}

#endif // ASHLAR_TRANSFORMS_TILE_PASSES_TD
