// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_IMPORT_ONNX_OPERATORS_COMPUTEDSLICES_H
#define ASHLAR_LIB_IMPORT_ONNX_OPERATORS_COMPUTEDSLICES_H

#include "../NodeImporter.h"

namespace ashlar::onnx_import {

/// Slice with starts (operand 1) or ends (operand 2) that are known when the
/// model runs: the result is as large as the axis allows, and its sizes depend
/// on data.
mlir::LogicalResult importComputedSlice(NodeImporter &node);

/// Split along `axis`, where its size or those of the parts are computed.
mlir::LogicalResult importComputedSplit(NodeImporter &node, int64_t axis);

} // namespace ashlar::onnx_import

#endif // ASHLAR_LIB_IMPORT_ONNX_OPERATORS_COMPUTEDSLICES_H
