// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_IMPORT_ONNX_MATRIXRULES_H
#define ASHLAR_LIB_IMPORT_ONNX_MATRIXRULES_H

#include "NodeImporter.h"

namespace ashlar::onnx_import {

/// The product of two operands as NumPy's matmul has it: `batch` sizes, then
/// `m` where the first is no vector, then `n` where the second is none.
struct MatrixProduct {
  llvm::SmallVector<int64_t> batch;
  int64_t m, k, n; ///< 1 for what a vector lacks
  llvm::SmallVector<int64_t> shape;
};

/// Operands `lhs` and `rhs` must have a product of a size that memory can
/// address.
mlir::FailureOr<MatrixProduct> expectMatrixProduct(NodeImporter &node,
                                                   unsigned lhs, unsigned rhs);
/// The same where the operands have these shapes when they are multiplied.
mlir::FailureOr<MatrixProduct>
expectMatrixProduct(NodeImporter &node, unsigned lhs, unsigned rhs,
                    llvm::ArrayRef<int64_t> lhsShape,
                    llvm::ArrayRef<int64_t> rhsShape);

} // namespace ashlar::onnx_import

#endif // ASHLAR_LIB_IMPORT_ONNX_MATRIXRULES_H
