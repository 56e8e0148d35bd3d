// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the operators that convolve share.
#ifndef ASHLAR_LIB_IMPORT_ONNX_OPERATORS_CONVOLUTION_H
#define ASHLAR_LIB_IMPORT_ONNX_OPERATORS_CONVOLUTION_H

#include "WindowGeometry.h"

namespace ashlar::onnx_import {

struct ConvolutionShape {
  int64_t groups = 1;
  WindowGeometry window;
  llvm::SmallVector<int64_t> padded, result;
};

/// Reads and checks the attributes and the sizes of operand 0 (N x C x ...)
/// and operand `weight` (M x C / group x kernel).
mlir::FailureOr<ConvolutionShape> readConvolution(NodeImporter &node,
                                                  unsigned weight);
/// Convolves an input that has its padding already. The result has the shape
/// that the operator says, or for a pointwise convolution N x M x positions,
/// which makes it a matrix product.
mlir::Value convolve(mlir::ImplicitLocOpBuilder &b, mlir::Value padded,
                     mlir::Value weight, const ConvolutionShape &shape,
                     mlir::Type accumulator, bool inputUnsigned = false,
                     bool weightUnsigned = false);
/// Adds a bias per channel (null: none) and rounds to `element`.
mlir::Value addBias(mlir::ImplicitLocOpBuilder &b, mlir::Value result,
                    mlir::Value bias, mlir::Type element);
/// Sums of 16-bit floats are made in f32.
mlir::Type accumulatorOf(mlir::Type element);
/// A vector over channels, shaped to broadcast over N x C x spatial.
mlir::Value channelwise(mlir::ImplicitLocOpBuilder &b, mlir::Value vector,
                        int64_t spatialRank);

} // namespace ashlar::onnx_import

#endif // ASHLAR_LIB_IMPORT_ONNX_OPERATORS_CONVOLUTION_H
