// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TARGETS_OPENCL_MATRIXSTEPS_H
#define ASHLAR_LIB_TARGETS_OPENCL_MATRIXSTEPS_H

#include "ashlar/Dialects/Tile/IR/TileOps.h"

namespace ashlar::opencl {

/// Calls of the function of cl_intel_subgroup_matrix_multiply_accumulate for
/// each fragment of a subgroup's part. Fails, with an error on the step, where
/// there is none for its types or its fragment.
mlir::LogicalResult writeMatrixStep(tile::ThreadStepOp op);

} // namespace ashlar::opencl

#endif // ASHLAR_LIB_TARGETS_OPENCL_MATRIXSTEPS_H
