// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TARGETS_CUDA_PTXWRITER_H
#define ASHLAR_LIB_TARGETS_CUDA_PTXWRITER_H

#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace ashlar::cuda {

/// Writes instructions that neither LLVM nor upstream's ops have, or not with
/// what keeps their order: as text.
class PtxWriter {
public:
  explicit PtxWriter(mlir::Operation *op) : b(op->getLoc(), op) {}

  /// `isOrdered`: with all other such, and with accesses of memory.
  llvm::SmallVector<mlir::Value> write(llvm::StringRef text,
                                       llvm::StringRef constraints,
                                       mlir::ValueRange operands,
                                       llvm::ArrayRef<mlir::Type> results,
                                       bool isOrdered);
  /// Constraints of f32 or i32 that are results where they are operands.
  static std::string inPlace(mlir::ValueRange values);
  mlir::Value index(int64_t value);
  mlir::Value word(int64_t value); ///< of 32 bits
  mlir::Value toWord(mlir::Value index);
  mlir::Value toLong(mlir::Value index);
  /// That of the kernel with this number.
  mlir::Value tensorMap(int64_t number);
  /// Of an element of memory that a block shares, in the window of such memory.
  mlir::Value sharedAddress(mlir::Value memory, mlir::Value place);
  /// Of an element of memory that the device has.
  mlir::Value globalAddress(mlir::Value memory, mlir::ValueRange indices);

  mlir::ImplicitLocOpBuilder b;
};

/// What stands for a tensor map of the kernel in the functions of its body.
std::string tensorMapName(int64_t number);

/// Two numbers of 16 bits in a register, the first one below.
mlir::Value packPair(PtxWriter &w, mlir::Value low, mlir::Value high);
/// Makes such pairs of what loops carry whose steps hold an operand.
void carryPairs(mlir::Operation *kernel);
/// Rounds numbers to 16 bits two at a time. Of conversions of one sum of
/// `wgmma` ptxas 13.0 says that they read it while steps go on (C7514).
void roundPairs(mlir::Operation *kernel);

/// A step of `mma.sync`, of a warp, or of `wgmma`, of four.
void writeWarpStep(tile::ThreadStepOp op);
void writeWarpgroupStep(tile::ThreadStepOp op);

/// The wait for steps of `wgmma`.
void writeSettle(tile::ThreadSettleOp op);

/// Functions that the GPU has instructions for.
void writeFunctions(mlir::Operation *kernel);

/// What a lane reads of another: any number of up to 64 bits; null: it is none,
/// or lanes are not told by bits that differ.
mlir::Value writeShuffle(mlir::gpu::ShuffleOp op);

} // namespace ashlar::cuda

#endif // ASHLAR_LIB_TARGETS_CUDA_PTXWRITER_H
