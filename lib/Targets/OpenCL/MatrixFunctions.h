// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intel's functions of matrices, by their names.
#ifndef ASHLAR_LIB_TARGETS_OPENCL_MATRIXFUNCTIONS_H
#define ASHLAR_LIB_TARGETS_OPENCL_MATRIXFUNCTIONS_H

#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include <string>

namespace ashlar::opencl {

/// Of the terms of a row, or of a column, of one step.
constexpr int64_t bitsOfTerms = 256;
int64_t termsOfStep(mlir::Type element);

/// That which computes a step, as OpenCL's functions are called; empty: there
/// is none for its operands and fragment.
std::string matrixFunctionOf(tile::ThreadStepOp op);

} // namespace ashlar::opencl

#endif // ASHLAR_LIB_TARGETS_OPENCL_MATRIXFUNCTIONS_H
