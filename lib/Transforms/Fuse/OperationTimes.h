// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an operation on tensors takes on a machine, by its model alone, to
// compare devices.
#ifndef ASHLAR_LIB_TRANSFORMS_FUSE_OPERATIONTIMES_H
#define ASHLAR_LIB_TRANSFORMS_FUSE_OPERATIONTIMES_H

#include "ashlar/Machine/MachineModel.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/ArrayRef.h"

namespace ashlar {

/// Of all workers of the machine, with the launch, in nanoseconds. Ops that
/// are given together pass tensors on without memory. A contraction takes what
/// its cheapest strategy does; anything else the longer of its bytes, from the
/// nearest memory that holds them, and its operations in full vectors. Sizes
/// are known; `openSizes`: they are the largest of ranges.
double nanosecondsOf(llvm::ArrayRef<mlir::Operation *> ops,
                     const MachineModel &machine, bool openSizes);

/// Bytes that it reads and writes, without constants.
int64_t bytesMoved(mlir::Operation *op);

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_FUSE_OPERATIONTIMES_H
