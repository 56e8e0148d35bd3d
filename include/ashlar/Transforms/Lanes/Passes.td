// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_TRANSFORMS_LANES_PASSES_TD
#define ASHLAR_TRANSFORMS_LANES_PASSES_TD

include "mlir/Pass/PassBase.td"

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

def FormGroupsPass : Pass<"ashlar-form-groups", "::mlir::ModuleOp"> {
  let summary = "Turn the boxes of a kernel into a range of groups";
  let description = [{
    Before: bufferized kernels with at most one `scf.forall` at the top of each
    body. After: every body takes scratch memory and a range of groups and
    computes those; its `exec.kernel` has a grid and the scratch's bytes.
    Allocations are gone: small ones are on the stack, larger ones in the
    scratch. A kernel with other work beside its boxes has one group.
  }];
  let dependentDialects = ["::ashlar::exec::ExecDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::affine::AffineDialect"];
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

#endif // ASHLAR_TRANSFORMS_LANES_PASSES_TD
