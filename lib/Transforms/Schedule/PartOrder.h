// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In which order the kernels of a joined kernel are computed: some of them one
// part of the batch after the other, each through all of them, where what lies
// between them fits on chip so and does not for the whole batch.
#ifndef ASHLAR_LIB_TRANSFORMS_SCHEDULE_PARTORDER_H
#define ASHLAR_LIB_TRANSFORMS_SCHEDULE_PARTORDER_H

#include "ashlar/Dialects/Exec/IR/ExecOps.h"

namespace ashlar {

/// The ops of a kernel of one group, whatever loop over groups is around them.
mlir::Block *workOf(mlir::func::FuncOp body);

/// A kernel of one contraction whose outermost dim is a batch of images.
struct Batch {
  int64_t images = 0; ///< 0: it is none
  /// By argument: whether an image of it is what an image of the result needs.
  llvm::SmallVector<bool> isSliced;
};

Batch batchOf(mlir::func::FuncOp body);

/// Whether a kernel's contraction has weights of its own for each channel.
bool isDepthwise(mlir::func::FuncOp body);

struct Instance {
  size_t member;
  int64_t part = 0, parts = 1; ///< of the batch
};

/// Every member once, or once for each part of the batch. `chipBytes`: what a
/// device's program places data in; 0: nothing is gained.
llvm::SmallVector<Instance> orderByPart(llvm::ArrayRef<exec::InvokeOp> members,
                                        llvm::ArrayRef<Batch> batches,
                                        int64_t chipBytes);

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_SCHEDULE_PARTORDER_H
