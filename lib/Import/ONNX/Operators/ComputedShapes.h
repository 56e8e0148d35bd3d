// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operators that give a tensor another shape, where that shape or the tensor's
// own is known only when the model runs. Their results are as large as they
// can get, and their sizes depend on data.
#ifndef ASHLAR_LIB_IMPORT_ONNX_OPERATORS_COMPUTEDSHAPES_H
#define ASHLAR_LIB_IMPORT_ONNX_OPERATORS_COMPUTEDSHAPES_H

#include "../NodeImporter.h"

namespace ashlar::onnx_import {

/// Whether the sizes of operand 0 or the numbers of operand `shape` are.
bool isComputed(NodeImporter &node, unsigned shape);

mlir::LogicalResult importComputedExpand(NodeImporter &node);
mlir::LogicalResult importComputedTile(NodeImporter &node);
mlir::LogicalResult importComputedReshape(NodeImporter &node);
/// The dimensions before `axis` as one, and those from it on.
mlir::LogicalResult importComputedFlatten(NodeImporter &node, int64_t axis);
/// Parts along `axis` one after the other, whose sizes depend on data.
mlir::LogicalResult importComputedConcat(NodeImporter &node, int64_t axis);

} // namespace ashlar::onnx_import

#endif // ASHLAR_LIB_IMPORT_ONNX_OPERATORS_COMPUTEDSHAPES_H
