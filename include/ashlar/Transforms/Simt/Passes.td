// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the tile program to threads that compute one part together, on any
// machine that has such.
#ifndef ASHLAR_TRANSFORMS_SIMT_PASSES_TD
#define ASHLAR_TRANSFORMS_SIMT_PASSES_TD

include "mlir/Pass/PassBase.td"

def DistributeLanesPass : Pass<"ashlar-distribute-lanes", "::mlir::ModuleOp"> {
  let summary = "Give each thread of a workgroup its share of a part";
  let description = [{
    Before: kernels marked `tile.threads`, whose accumulators say which group of
    lanes has which part (`!tile.acc<.., groups = [..]>`), and rings. After, in
    such kernels: what one thread does. An accumulator is the values that the
    thread has of it: lane l of a group has elements l, l + `lanes`, and so on,
    of the group's part, counted row by row; where no groups are named, all
    threads have it together, of a row with `piece-bytes` so many bytes side by
    side. A ring is memory of the workgroup, a copy is done by all threads side
    by side, and a wait is a barrier; so is a release where the ring has one
    slot, since with two of them the next wait stands between the last read and
    the next write. What `tile.map` needs of other threads goes through memory
    of the workgroup, as do allocations, and a barrier stands behind what a
    later op reads. `tile.reduce` combines what a thread has of a result by
    itself, then, with `shuffles`, what the lanes of a group have, and passes
    what is left of each group through memory of the workgroup, always in the
    same order. The kernel's `block` says how many threads a workgroup has.
    Concurrent roles are branches: the first threads compute, and one of those
    behind them copies; a ring between them has two words for each slot, which
    count who has filled it and who is done with it, and barriers inside of a
    role are those of its threads. The kernel's `tensor_maps` say what such
    copies read. Copies that workgroups of a cluster share (`tile.cluster`) fill
    the slots of all of them, a share each, and a slot is free once it is in all
    of them; the kernel's `cluster` says how many there are. In such kernels a
    `tile.drain` that names the engine `stores` gives its results to it, where
    they are of 16 bits in whole blocks of 64 columns and `memory` is left: each
    group of lanes stores 16 rows of a block, which may be of several dims, into
    memory of the workgroup, and one lane tells the engine of it.
    Kernels without the mark stay as they are.
  }];
  let options = [Option<"lanes", "lanes", "int64_t", "16",
                        "Threads that issue one step together">,
                 Option<"groups", "groups", "int64_t", "8",
                        "Groups of a kernel that names none">,
                 Option<"shuffles", "shuffles", "bool", "false",
                        "Whether lanes of a group read each other's values">,
                 Option<"pieceBytes", "piece-bytes", "int64_t", "0",
                        "Bytes of a row that a thread has side by side, where "
                        "no groups are named; 0: one element">,
                 Option<"copyWords", "copy-words", "bool", "false",
                        "Whether threads copy 4 bytes each that end later, to "
                        "neighbouring places">,
                 Option<"stores", "stores", "std::string", "",
                        "The engine of boxes that results may leave by">,
                 Option<"memory", "memory", "int64_t", "0",
                        "Bytes of a workgroup's memory that they may pass "
                        "through, besides what operands take">,
                 ListOption<"scopes", "scopes", "std::string",
                            "NAME=THREADS, of those that roles are done by">];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::gpu::GPUDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def FormClustersPass : Pass<"ashlar-form-clusters", "::mlir::func::FuncOp"> {
  let summary = "Number the workgroups of clusters in one loop";
  let description = [{
    Before: kernels whose parts are cut once more for the workgroups of a
    cluster, an scf.forall in an scf.forall. After: one loop over all of them,
    those of a cluster beside each other; `tile.cluster` says how many they are
    where they share copies (`tile.copy .. {multicast}`). Where their number is
    not known, one workgroup goes through all of them.

    ```mlir
    scf.forall (%m, %n) = (0, 0) to (1024, 512) step (256, 128) {     // before
      scf.forall (%i) = (%m) to (%m + 256) step (128) { .. } }
    scf.forall (%m, %n, %rank) = (0, 0, 0) to (1024, 512, 2) step (256, 128, 1) {
      %i = %m + %rank * 128 .. } {tile.cluster = 2}                   // after
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::scf::SCFDialect"];
}

def PackWorkgroupMemoryPass
    : Pass<"ashlar-pack-workgroup-memory", "::mlir::func::FuncOp"> {
  let summary = "Let a workgroup's buffers share one range of bytes";
  let description = [{
    Before: a kernel that allocates several buffers in the memory of a
    workgroup. After: one, and views of it; buffers that are never in use at the
    same time may lie in the same place, and a barrier stands where such a one
    comes into use, for others may still read what lies there. Refuses a kernel
    whose buffers take more than `bytes` that way.
  }];
  let options = [Option<"bytes", "bytes", "int64_t", "0",
                        "That a workgroup has; 0: any number">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::gpu::GPUDialect",
                           "::mlir::memref::MemRefDialect"];
}

def KeepRingsPass : Pass<"ashlar-keep-rings", "::mlir::func::FuncOp"> {
  let summary = "Let roles go on from part to part";
  let description = [{
    Before: a kernel whose parts are numbered (`ashlar-form-groups`), and whose
    roles begin and end with each of them: they begin to count what their rings
    have, and meet at the end. After: that stands around the loop over parts.
    Who copies is in the next part while others still compute and store this
    one. A kernel that takes tensor maps goes through its parts in steps of as
    many workgroups as there are (`gpu.grid_dim`): what it is given are the
    number of its workgroup and that of all parts, in place of a range.
  }];
  let dependentDialects = ["::mlir::gpu::GPUDialect"];
}

def SpreadPartsPass : Pass<"ashlar-spread-parts", "::mlir::ModuleOp"> {
  let summary = "Give each thread a part of a kernel of one thread's parts";
  let description = [{
    Before: kernels whose parts are numbered (`ashlar-form-groups`) and whose
    parts are one thread's work each: they have no `block`. After: where there
    are several parts, their number is known, and none needs scratch memory,
    a workgroup has up to `threads` threads, and each thread a part; threads
    beside each other have parts beside each other. The kernel's `grid` counts
    workgroups then. Other kernels stay as they are.

    ```mlir
    scf.for %part = %begin to %end step %c1 { ... }      // before, 1000 parts
    scf.for %group = %begin to %end step %c1 {           // after, 4 groups
      %part = %group * 256 + %thread
      scf.if %part < 1000 { ... } }
    ```
  }];
  let options = [Option<"threads", "threads", "int64_t", "256",
                        "Of a workgroup, at most">];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::gpu::GPUDialect",
                           "::mlir::scf::SCFDialect"];
}

def ShareVariablesPass
    : Pass<"ashlar-share-variables", "::mlir::ModuleOp"> {
  let summary = "Make variables of the memory of a workgroup";
  let description = [{
    Before: kernels that allocate in a memory of its own space, that of a
    workgroup. After: variables of the module in that space, which is what
    devices have for it; allocations elsewhere stay.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

#endif // ASHLAR_TRANSFORMS_SIMT_PASSES_TD
