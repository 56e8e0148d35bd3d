// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Resizes an axis by tables: which elements make each, with what weights.
#ifndef ASHLAR_LIB_IMPORT_ONNX_OPERATORS_AXISTABLES_H
#define ASHLAR_LIB_IMPORT_ONNX_OPERATORS_AXISTABLES_H

#include "../NodeImporter.h"
#include "AxisSampling.h"

namespace ashlar::onnx_import {

/// One column for each tap, of an entry for each element of the resized axis.
struct AxisTables {
  int64_t axis, size;
  llvm::SmallVector<mlir::Value> places;  ///< i64
  llvm::SmallVector<mlir::Value> weights; ///< none where each is one
  mlir::Value constants;                  ///< added, or null
};

/// The tables as constants; weights of type `weight`, where there is one.
AxisTables makeTables(mlir::ImplicitLocOpBuilder &b,
                      const AxisSampling &sampling, mlir::Type weight = {});

/// Each element is the one at its places along all axes of the tables.
mlir::Value gatherNearest(mlir::ImplicitLocOpBuilder &b, mlir::Value value,
                          llvm::ArrayRef<AxisTables> tables);

/// The weighted sum along one axis of a tensor of floats.
mlir::Value interpolate(mlir::ImplicitLocOpBuilder &b, mlir::Value value,
                        const AxisTables &tables);

} // namespace ashlar::onnx_import

#endif // ASHLAR_LIB_IMPORT_ONNX_OPERATORS_AXISTABLES_H
