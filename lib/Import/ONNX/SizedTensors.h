// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors of sizes that depend on data, and those sizes, as other tensors.
#ifndef ASHLAR_LIB_IMPORT_ONNX_SIZEDTENSORS_H
#define ASHLAR_LIB_IMPORT_ONNX_SIZEDTENSORS_H

#include "NodeImporter.h"

namespace ashlar::onnx_import {

/// The elements that are used, one after the other from the start, in a tensor
/// as large as before.
mlir::Value makeDense(mlir::ImplicitLocOpBuilder &b,
                      const ImportedValue &tensor);

/// A shape as a tensor: what is known, and what depends on data.
mlir::Value shapeAsTensor(mlir::ImplicitLocOpBuilder &b,
                          llvm::ArrayRef<int64_t> shape,
                          llvm::ArrayRef<mlir::Value> sizes);

/// A shape into which several values fit, and the axes whose size is that of
/// the one that is there when the model runs.
struct CommonShape {
  llvm::SmallVector<int64_t> bounds, sized;

  bool operator==(const CommonShape &other) const {
    return bounds == other.bounds && sized == other.sized;
  }
};
/// The shape of a value alone.
CommonShape ownShape(const ImportedValue &value);
/// For two values of one rank.
CommonShape join(const CommonShape &x, const CommonShape &y);
/// A value in a shape that it fits into, then its size along each axis that is
/// sized. What is beyond the bounds is cut off.
void appendAs(mlir::ImplicitLocOpBuilder &b, const ImportedValue &value,
              const CommonShape &shape,
              llvm::SmallVectorImpl<mlir::Value> &values);
/// The types of what appendAs appends.
void appendTypes(mlir::ImplicitLocOpBuilder &b, const CommonShape &shape,
                 mlir::Type element, llvm::SmallVectorImpl<mlir::Type> &types);
/// The value of which appendAs made `values`, which are taken from the front.
ImportedValue takeAs(const CommonShape &shape, ElementType type,
                     llvm::ArrayRef<mlir::Value> &values);

/// A size as a tensor that nothing else reads.
mlir::Value copyOfSize(mlir::ImplicitLocOpBuilder &b, mlir::Value size);

} // namespace ashlar::onnx_import

#endif // ASHLAR_LIB_IMPORT_ONNX_SIZEDTENSORS_H
