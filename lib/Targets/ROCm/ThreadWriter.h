// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TARGETS_ROCM_THREADWRITER_H
#define ASHLAR_LIB_TARGETS_ROCM_THREADWRITER_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace ashlar::rocm {

/// What a chip has, by LLVM's name of it. CDNA's waves are of 64 lanes, RDNA's
/// of 32.
struct Chip {
  enum Kind { CDNA2, CDNA3, RDNA3, RDNA4 } kind;
  explicit Chip(llvm::StringRef processor)
      : kind(processor.starts_with("gfx12")   ? RDNA4
             : processor.starts_with("gfx1")  ? RDNA3
             : processor.starts_with("gfx94") ? CDNA3
                                              : CDNA2) {}
  bool isRDNA() const { return kind >= RDNA3; }
};

/// What a lane reads of another: any number of up to 64 bits; null: it is none,
/// or lanes are not told by bits that differ.
mlir::Value writeShuffle(mlir::gpu::ShuffleOp op, Chip chip);

/// A word that the same lane of the row of 16 beside has; RDNA alone.
mlir::Value readOtherRow(mlir::ImplicitLocOpBuilder &b, mlir::Value word);

/// Loads of 16 bytes into registers, and stores of them to the LDS behind the
/// steps that stand between a copy and the wait for it: a thread's loads are
/// under way while it multiplies, as far as it has registers for them. Words
/// go to the LDS by themselves.
void writeCopies(mlir::Operation *kernel, Chip chip);

/// Functions that the GPU has instructions for.
void writeFunctions(mlir::Operation *kernel);

} // namespace ashlar::rocm

#endif // ASHLAR_LIB_TARGETS_ROCM_THREADWRITER_H
