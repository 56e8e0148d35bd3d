// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_TRANSFORMS_TILE_PASSES_TD
#define ASHLAR_TRANSFORMS_TILE_PASSES_TD

include "mlir/Pass/PassBase.td"

def OutlineKernelsPass : Pass<"ashlar-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "Turn each dispatch into a kernel with a body of its own";
  let description = [{
    Before: a program's functions with `exec.dispatch`. After: every distinct
    body is an `exec.kernel` with a private function on memrefs (operands, then
    a destination per result), and each dispatch is an `exec.invoke`. Bodies
    that differ in nothing but locations share one kernel.
  }];
  let dependentDialects = ["::ashlar::exec::ExecDialect",
                           "::mlir::bufferization::BufferizationDialect"];
}

def ExpandAttentionPass
    : Pass<"ashlar-expand-attention", "::mlir::func::FuncOp"> {
  let summary = "Write the levels of an attention";
  let description = [{
    Before: `tile.attention` on tensors. After: an `scf.forall` over the boxes
    of its grid. In it, without a loop over keys, the two products as
    `tile.contract` and the softmax between them as linalg ops on whole rows of
    scores; with a loop, the same for a tile of keys at a time, by which the
    largest score so far, the sum of exponentials and the weighted sums grow
    (online softmax). Where sizes are values, tiles are as large at the ends as
    elsewhere, operands end there, keys beyond have no weight, and the loop goes
    over keys that some row of the part sees. One whose groups hold scores and
    sums stays as it is.
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::affine::AffineDialect"];
}

def ExpandHeldAttentionPass
    : Pass<"ashlar-expand-held-attention", "::mlir::func::FuncOp"> {
  let summary = "Write an attention whose groups hold scores and sums";
  let description = [{
    Before: `tile.attention` on memrefs, with a group behind its loop over keys.
    After: an `scf.forall` over its grid; in it rings of queries, keys and
    values, and a loop over tiles of keys that carries, in accumulators, the
    weighted sums and of each row the largest score and the sum of exponentials.
    Weights are the second product's a as they are. Tiles that reach beyond the
    last row or key have zeros there, and no weight.
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect",
                           "::mlir::affine::AffineDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::math::MathDialect"];
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
                 Option<"scratchBytes", "scratch-bytes", "int64_t", "0",
                        "What a worker keeps for itself should fit in this "
                        "many bytes; 0: as much as is fast">,
                 Option<"boxes", "boxes", "int64_t", "0",
                        "So many of them are wanted, of a kernel without a "
                        "product, where there is work enough; 0: any number">];
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

def TileGenericsPass : Pass<"ashlar-tile-generics", "::mlir::func::FuncOp"> {
  let summary = "Write structured ops as operations on accumulators";
  let description = [{
    Before: `linalg.generic` on memrefs. After: loops over tiles of at most
    `elements` points, the innermost dims whole as far as they fit, and in them
    one `tile.map` for each result and a `tile.drain`. Of a reduction each
    element of an accumulator takes its share of the terms, then `tile.reduce`
    combines those of a result. The ends of dims that no tile divides, and of
    those of any size, are masked. For machines whose threads share an
    accumulator; on others the same ops become vectors
    (`ashlar-vectorize-generics`). What has no such form stays, and a remark
    says why.
  }];
  let options = [Option<"elements", "elements", "int64_t", "4096",
                        "What one accumulator holds at most">,
                 Option<"whole", "whole", "bool", "false",
                        "Only in kernels of which nothing else would stay; in "
                        "others, contractions that threads would share lose "
                        "their strategies">,
                 Option<"memory", "memory", "int64_t", "0",
                        "With `whole`: bytes that threads share, at most; 0: "
                        "any number">];
  let dependentDialects = ["::ashlar::tile::TileDialect",
                           "::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def TileToLoopsPass : Pass<"ashlar-tile-to-loops", "::mlir::func::FuncOp"> {
  let summary = "Say what tile ops mean in plain loops";
  let description = [{
    Before: `tile.contract` on memrefs, or `tile.init`, `load`, `step`, `add`,
    `map`, `reduce` and `drain` among loops. After: loops over single elements;
    every accumulator is a buffer of its own. Slow and simple:
    tests compare other lowerings with it. A strategy changes nothing.
  }];
  let options = [Option<"unplanned", "unplanned", "bool", "false",
                        "Only contractions without a strategy">];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def SplitRolesPass : Pass<"ashlar-split-roles", "::mlir::func::FuncOp"> {
  let summary = "Let copies of a loop run ahead of what reads them";
  let description = [{
    Before: loops with `tile.copy` into rings of two slots and more, written as
    if nothing overlapped. After: their bodies are two roles, "producer", with the
    copies and what only they need, and "consumer", with the rest; what both need
    stays before them. Of loops inside each other the innermost is split; loops
    whose copies depend on what the loop computes stay as they are. For machines
    with engines, or groups of threads, of their own for copies.
  }];
  let dependentDialects = ["::ashlar::tile::TileDialect"];
}

def HoistRolesPass : Pass<"ashlar-hoist-roles", "::mlir::func::FuncOp"> {
  let summary = "Give copies loops of their own, beside what reads them";
  let description = [{
    Before: a worker's program with `tile.copy` into rings of two slots and more,
    written as if nothing overlapped. After: two concurrent roles, "producer",
    with these copies and the loops around them, and "consumer", with the rest,
    which takes their slots by `tile.take` in the same order. Where a copy reads
    what the kernel itself makes, or its place depends on such, all stays as it
    is, and a remark says why. For machines whose groups of threads can be
    told apart, such as warp groups beside a copy engine. Roles have the teams
    that the contraction's strategy gave the function (`tile.teams`).

    With `engines`, only functions with teams change, and only where all copies
    are by these engines, which are told of a tensor once and of a box of it at
    each copy, and nothing else takes memory beside the rings. In all others
    such copies become `otherwise`'s.
  }];
  let options = [ListOption<"engines", "engines", "std::string",
                            "Engines that roles alone wait for; none: any">,
                 Option<"otherwise", "otherwise", "std::string",
                        "\"lanes\"", "Who copies where roles do not">];
  let dependentDialects = ["::ashlar::exec::ExecDialect",
                           "::ashlar::tile::TileDialect",
                           "::mlir::scf::SCFDialect"];
}

def PipelineCopiesPass
    : Pass<"ashlar-pipeline-copies", "::mlir::func::FuncOp"> {
  let summary = "Begin the copies of later iterations before computing";
  let description = [{
    Before: loops that go round a known number of times, with `tile.copy` into
    rings of two slots and more, written as if nothing overlapped. After:
    upstream's pipelining of them: the copies of as many iterations as the rings
    have slots but one stand in front of the loop, each iteration begins those of
    a later one before it waits for its own, and the last compute alone. For
    machines whose groups of threads copy and compute in turns. What cannot run
    ahead stays, and a remark says why. With `engines`, which threads themselves
    are, copies of others stay, and an iteration waits before it begins copies,
    since a slot is written at once. Steps go on behind that, as
    `ashlar-schedule-steps` lets them, for as many iterations as accumulators'
    fragments say; they keep their slots, so as many fewer copies run ahead.
  }];
  let options = [ListOption<"engines", "engines", "std::string",
                            "Engines whose copies run ahead; none: all">];
  let dependentDialects = ["::ashlar::tile::TileDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

def ScheduleStepsPass : Pass<"ashlar-schedule-steps", "::mlir::func::FuncOp"> {
  let summary = "Let steps go on while later ones begin";
  let description = [{
    Before: loops with `tile.step`, done when it ends, whose sums the loop
    carries and nothing else in it uses. After: each step has a token; it is
    waited for, and the slots that it read are released, `in-flight` iterations
    later (upstream's pipelining), the last behind the loop. For machines whose
    units go on by themselves; after `ashlar-hoist-roles` or
    `ashlar-pipeline-copies`. Where a ring has too few slots for that, or a step
    reads memory that the loop may change, all stays, and a remark says why.
  }];
  let options = [Option<"inFlight", "in-flight", "int64_t", "1",
                        "Iterations whose steps may be going on; 0: as many as "
                        "accumulators' fragments say, in roles">];
  let dependentDialects = ["::ashlar::tile::TileDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
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
                        "Bytes of the result that a box is worth">,
                 Option<"many", "many", "bool", "false",
                        "Cut the longest dim, for as many boxes as there may "
                        "be, not the outermost">];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def ShareLoopsPass : Pass<"ashlar-share-loops", "::mlir::func::FuncOp"> {
  let summary = "Share loops whose iterations touch elements of their own";
  let description = [{
    Before: a bufferized kernel of loops over single elements, such as those of
    a scatter, which go through memory of the kernel's own that is copied to the
    result at last. After: they read and write the result itself. Where all of
    the result that one of them loads or stores lies, along one dim, at the
    present iteration, and what else is written is copied to all of it, the
    kernel is an `scf.forall` over boxes of that dim: the loop has the box's
    iterations, copies are those of the box. The order within a box stays, and
    so do all values. Other kernels, and those of less work, are left alone.

    ```mlir
    memref.copy %x, %y                                        // before
    scf.for %i = %c0 to %c4 step %c1 {
      scf.for %j = %c0 to %c64 step %c1 {
        ... memref.store %u, %y[%at, %j] } }
    scf.forall (%first) = (0) to (64) step (16) {             // after
      memref.copy %x[.., %first], %y[.., %first]  // views of 16 columns
      scf.for %i = %c0 to %c4 step %c1 {
        scf.for %j = %first to %first + 16 step %c1 {
          ... memref.store %u, %y[%at, %j] } } }
    ```
  }];
  let options = [Option<"boxes", "boxes", "int64_t", "16",
                        "How many there may be">,
                 Option<"work", "work", "int64_t", "16384",
                        "Innermost iterations that a box is worth">];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
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

#endif // ASHLAR_TRANSFORMS_TILE_PASSES_TD
