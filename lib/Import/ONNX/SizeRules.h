// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One rule for each kind of operator that takes tensors whose sizes depend on
// data: the sizes of its result 0, operands made ready for it. A rule fails
// where it has said why not. What is wrong with the node itself is left for its
// operator to say. inferSizes in RunTimeSizes.h chooses the rule.
#ifndef ASHLAR_LIB_IMPORT_ONNX_SIZERULES_H
#define ASHLAR_LIB_IMPORT_ONNX_SIZERULES_H

#include "RunTimeSizes.h"

namespace ashlar::onnx_import {

using Sizes = llvm::SmallVectorImpl<mlir::Value>;

/// Whether an operator makes each element of its result from those at its
/// place, broadcast as NumPy does.
bool mapsElements(llvm::StringRef op);

/// The axis that an attribute names, or none where the operator will say what
/// is wrong with it.
llvm::SmallVector<int64_t> axisOf(NodeImporter &node, int64_t otherwise);

mlir::LogicalResult alongAxis(NodeImporter &node, Sizes &sizes);
mlir::LogicalResult broadcastSizes(NodeImporter &node, Sizes &sizes);
mlir::LogicalResult compressSizes(NodeImporter &node, Sizes &sizes);
mlir::LogicalResult cumulativeSizes(NodeImporter &node, Sizes &sizes);
mlir::LogicalResult gatherElementsSizes(NodeImporter &node, Sizes &sizes);
mlir::LogicalResult gatherNDSizes(NodeImporter &node, Sizes &sizes);
mlir::LogicalResult gatherSizes(NodeImporter &node, Sizes &sizes);
mlir::LogicalResult gemmSizes(NodeImporter &node, Sizes &sizes);
mlir::LogicalResult matMulSizes(NodeImporter &node, Sizes &sizes);
mlir::LogicalResult nonZeroSizes(NodeImporter &node, Sizes &sizes);
mlir::LogicalResult permuteSizes(NodeImporter &node, Sizes &sizes);
mlir::LogicalResult reduceSizes(NodeImporter &node, Sizes &sizes);
mlir::LogicalResult scatterSizes(NodeImporter &node, Sizes &sizes);
mlir::LogicalResult squeezeSizes(NodeImporter &node, Sizes &sizes);
mlir::LogicalResult topKSizes(NodeImporter &node, Sizes &sizes);

} // namespace ashlar::onnx_import

#endif // ASHLAR_LIB_IMPORT_ONNX_SIZERULES_H
