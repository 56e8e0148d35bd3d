// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TARGETS_CUDA_STEPWRITER_H
#define ASHLAR_LIB_TARGETS_CUDA_STEPWRITER_H

#include "PtxWriter.h"

namespace ashlar::cuda {

/// How PTX spells the types of a step; nothing: no instruction has them.
struct StepTypes {
  std::string left, right, sums;
  bool isWhole; ///< numbers
  /// Operands whose rows or columns lie side by side are read across.
  bool readsAcross;
  int64_t terms; ///< of one instruction: 32 bytes of them
};
std::optional<StepTypes> typesOf(tile::ThreadStepOp op);

/// What steps of warps and of warpgroups have in common.
class StepWriter {
public:
  explicit StepWriter(tile::ThreadStepOp op);

protected:
  /// With `terms` at the first of each instruction's.
  void forEachTerm(llvm::function_ref<void()> visit);
  /// Whether terms of an operand lie side by side; else rows, or columns, do.
  bool hasTermsInside(mlir::AffineMap map);
  /// The present terms, of 16 bits, of the rows of fragment `copy` of an a that
  /// threads hold: sums' fragments are, two side by side, operands' (PTX ISA,
  /// "Matrix fragments for mma.m16n8k16", "Register fragments for wgmma").
  llvm::SmallVector<mlir::Value> held(int64_t copy);
  /// The address of an operand's element at a point of all dims, or so many
  /// steps behind it.
  mlir::Value addressOf(mlir::TypedValue<tile::SlotType> slot,
                        mlir::AffineMap map, mlir::ValueRange offsets,
                        mlir::ValueRange point,
                        llvm::ArrayRef<int64_t> steps = {});

  tile::ThreadStepOp op;
  PtxWriter w;
  llvm::SmallVector<int64_t> part, terms;
  int64_t rows, columns; ///< of the group's part
  StepTypes types;
};

} // namespace ashlar::cuda

#endif // ASHLAR_LIB_TARGETS_CUDA_STEPWRITER_H
