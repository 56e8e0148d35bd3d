// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_IMPORT_ONNX_OPERATORS_COMPUTEDRESIZE_H
#define ASHLAR_LIB_IMPORT_ONNX_OPERATORS_COMPUTEDRESIZE_H

#include "../NodeImporter.h"
#include "AxisSampling.h"

namespace ashlar::onnx_import {

/// Whether a Resize (opset 10 if `isOld`) of these axes is known only when the
/// model runs: by its scales or sizes, or by those of what it resizes.
bool isResizeComputed(NodeImporter &node, llvm::ArrayRef<int64_t> axes,
                      bool isOld);
/// The tables are made when the model runs, as large as they can get.
mlir::LogicalResult importComputedResize(NodeImporter &node,
                                         const SamplingRules &rules,
                                         llvm::ArrayRef<int64_t> axes,
                                         bool isOld);

} // namespace ashlar::onnx_import

#endif // ASHLAR_LIB_IMPORT_ONNX_OPERATORS_COMPUTEDRESIZE_H
