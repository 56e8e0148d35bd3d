// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the windows of convolutions and pools lie. Along one axis, element k
// of window o is element o * stride + k * dilation - low of the input, where
// what lies outside is padding.
#ifndef ASHLAR_LIB_IMPORT_ONNX_OPERATORS_WINDOWGEOMETRY_H
#define ASHLAR_LIB_IMPORT_ONNX_OPERATORS_WINDOWGEOMETRY_H

#include "../NodeImporter.h"

namespace ashlar::onnx_import {

struct WindowGeometry {
  llvm::SmallVector<int64_t> kernel, strides, dilations;
  /// The padding that the model asks for.
  llvm::SmallVector<int64_t> low, high;
  /// The padding that the windows reach into: less than `high` where the last
  /// window ends early, more where ceil_mode lets one end late.
  llvm::SmallVector<int64_t> reach;
  llvm::SmallVector<int64_t> output;

  unsigned rank() const { return kernel.size(); }
  /// What one window spans.
  int64_t extent(unsigned i) const {
    return (kernel[i] - 1) * dilations[i] + 1;
  }
  /// The input with the padding that the windows read.
  mlir::Value pad(mlir::ImplicitLocOpBuilder &b, mlir::Value input,
                  mlir::Value scalar) const;
};

/// Reads kernel_shape, strides, dilations, pads, auto_pad and ceil_mode for an
/// input whose sizes are `input`. `weights` are the kernel's sizes where an
/// operand gives them.
mlir::FailureOr<WindowGeometry>
readWindowGeometry(NodeImporter &node, llvm::ArrayRef<int64_t> input,
                   std::optional<llvm::ArrayRef<int64_t>> weights);
/// The same but pads and output, which a transposed convolution reads its own
/// way.
mlir::FailureOr<WindowGeometry>
readWindowSizes(NodeImporter &node, unsigned rank,
                std::optional<llvm::ArrayRef<int64_t>> weights);
/// The attribute `name`: one number for each of `count`, at least `minimum`,
/// or `otherwise` everywhere when absent.
mlir::FailureOr<llvm::SmallVector<int64_t>>
readSizes(NodeImporter &node, llvm::StringRef name, unsigned count,
          int64_t minimum, int64_t otherwise);

} // namespace ashlar::onnx_import

#endif // ASHLAR_LIB_IMPORT_ONNX_OPERATORS_WINDOWGEOMETRY_H
