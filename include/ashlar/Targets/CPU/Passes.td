// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_TARGETS_CPU_PASSES_TD
#define ASHLAR_TARGETS_CPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def LowerMatricesPass
    : Pass<"ashlar-cpu-lower-matrices", "::mlir::func::FuncOp"> {
  let summary = "Put matrices into tile registers, or into vectors";
  let description = [{
    Before: `tile.matrix_*` ops. After: where the processor has tile registers
    for the types of all products, their instructions, with registers numbered
    and configured box by box; else vectors, one for each row. Where a box needs
    more registers than there are, a remark says so, and its rows are vectors.
  }];
  let options = [ListOption<"features", "features", "std::string",
                            "Instruction sets, LLVM's names">];
  let dependentDialects = ["::ashlar::tile::TileDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::vector::VectorDialect"];
}

def FlattenStridedGathersPass
    : Pass<"ashlar-cpu-flatten-strided-gathers", "::mlir::func::FuncOp"> {
  let summary = "Gather from lines of memory alone";
  let description = [{
    Before: `vector.gather` ops. After: one from a memref whose last dimension
    is not contiguous reads it as a line of memory: a gather's indices count
    elements of memory from where its offsets point, but it lowers only from a
    contiguous dimension.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
}

def LowerDotsPass : Pass<"ashlar-cpu-lower-dots", "::mlir::func::FuncOp"> {
  let summary = "Turn products of groups into the instruction for them";
  let description = [{
    Before: `tile.dot` ops. After: the processor's instruction where it has one
    for the types; else products and sums of single terms.
  }];
  let options = [ListOption<"features", "features", "std::string",
                            "Instruction sets, LLVM's names">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::vector::VectorDialect"];
}

def WidenHalvesPass : Pass<"ashlar-cpu-widen-halves", "::mlir::func::FuncOp"> {
  let summary = "Compute with floats of 16 bits in f32";
  let description = [{
    Before: ops of arith, math and vector that compute in f16 or bf16. After:
    each has `arith.extf` before it and `arith.truncf` behind it. Left to LLVM,
    that becomes a call of its own library where the machine has no instruction
    for the rounding, and of an instruction that takes denormals for zeros where
    it has one for bf16. Conversions of f16 that the processor lacks become
    operations on integers; those of bf16 upstream expands.
  }];
  let options = [Option<"convertsF16", "converts-f16", "bool", "true",
                        "The processor converts between f16 and f32">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::vector::VectorDialect"];
}

#endif // ASHLAR_TARGETS_CPU_PASSES_TD
