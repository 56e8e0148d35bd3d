// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The vocabulary in which operators are written: a few functions that make
// linalg and tensor ops on statically shaped tensors.
#ifndef ASHLAR_LIB_IMPORT_ONNX_TENSORBUILDER_H
#define ASHLAR_LIB_IMPORT_ONNX_TENSORBUILDER_H

#include "NodeImporter.h"
#include "SmallTypes.h"
#include "mlir/IR/AffineMap.h"

namespace ashlar::onnx_import {

/// Makes the scalar result of one element from scalars.
using ScalarBody = llvm::function_ref<mlir::Value(
    mlir::OpBuilder &, mlir::Location, mlir::ValueRange)>;

// Constants.
mlir::Value scalarConstant(mlir::OpBuilder &b, mlir::Location loc,
                           mlir::Type type, double value);
mlir::Value scalarIntConstant(mlir::OpBuilder &b, mlir::Location loc,
                              mlir::Type type, int64_t value);
/// A resource where it is large, as weights are.
mlir::Value constantOf(mlir::ImplicitLocOpBuilder &b,
                       mlir::DenseElementsAttr value);
mlir::Value constantTensor(mlir::ImplicitLocOpBuilder &b,
                           llvm::ArrayRef<int64_t> values,
                           llvm::ArrayRef<int64_t> shape);
/// A table of f64.
mlir::Value constantTable(mlir::ImplicitLocOpBuilder &b,
                          llvm::ArrayRef<double> values,
                          llvm::ArrayRef<int64_t> shape);
/// A tensor of one value everywhere. `value` has the element type.
mlir::Value splat(mlir::ImplicitLocOpBuilder &b, llvm::ArrayRef<int64_t> shape,
                  mlir::TypedAttr value);
mlir::Value fill(mlir::ImplicitLocOpBuilder &b, llvm::ArrayRef<int64_t> shape,
                 mlir::Value scalar);
/// Zero, the lowest or the highest value of a type (infinities for floats).
mlir::TypedAttr zeroOf(mlir::Type type);
mlir::TypedAttr lowestOf(mlir::Type type, bool isUnsigned);
mlir::TypedAttr highestOf(mlir::Type type, bool isUnsigned);

// Shapes.
/// NumPy's multidirectional broadcasting; fails where sizes disagree.
llvm::FailureOr<llvm::SmallVector<int64_t>>
broadcastShapes(llvm::ArrayRef<llvm::ArrayRef<int64_t>> shapes);
mlir::Value reshape(mlir::ImplicitLocOpBuilder &b, mlir::Value value,
                    llvm::ArrayRef<int64_t> shape);
mlir::Value transpose(mlir::ImplicitLocOpBuilder &b, mlir::Value value,
                      llvm::ArrayRef<int64_t> permutation);
mlir::Value broadcastTo(mlir::ImplicitLocOpBuilder &b, mlir::Value value,
                        llvm::ArrayRef<int64_t> shape);
mlir::Value slice(mlir::ImplicitLocOpBuilder &b, mlir::Value value,
                  llvm::ArrayRef<int64_t> offsets,
                  llvm::ArrayRef<int64_t> sizes,
                  llvm::ArrayRef<int64_t> strides);
mlir::Value pad(mlir::ImplicitLocOpBuilder &b, mlir::Value value,
                llvm::ArrayRef<int64_t> low, llvm::ArrayRef<int64_t> high,
                mlir::Value scalar);
/// Like pad, but a negative amount takes elements away.
mlir::Value padOrCrop(mlir::ImplicitLocOpBuilder &b, mlir::Value value,
                      llvm::ArrayRef<int64_t> low, llvm::ArrayRef<int64_t> high,
                      mlir::Value scalar);
mlir::Value concat(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange values,
                   int64_t axis);

// Computation.
/// One result element from one element of each input; inputs broadcast as
/// NumPy does (their shapes must be compatible).
mlir::Value elementwise(mlir::ImplicitLocOpBuilder &b, mlir::Type resultElement,
                        mlir::ValueRange inputs, ScalarBody body);
/// Folds the axes of `input` into `initial` by `body(element, accumulator)`.
/// The reduced axes are kept with size 1 if `keepDims`.
mlir::Value reduce(mlir::ImplicitLocOpBuilder &b, mlir::Value input,
                   llvm::ArrayRef<int64_t> axes, bool keepDims,
                   mlir::TypedAttr initial, ScalarBody body);
/// Element [i...] of the result is body(i...) with i of index type; the body
/// may read other tensors with tensor.extract.
mlir::Value generate(mlir::ImplicitLocOpBuilder &b,
                     llvm::ArrayRef<int64_t> shape, mlir::Type element,
                     ScalarBody body);
/// Element i of the result is made by `body` from one element of each input,
/// the one at maps[j](i). The body may use linalg.index and tensor.extract.
mlir::Value parallel(mlir::ImplicitLocOpBuilder &b,
                     llvm::ArrayRef<int64_t> shape, mlir::Type element,
                     mlir::ValueRange inputs,
                     llvm::ArrayRef<mlir::AffineMap> maps, ScalarBody body);
/// sum over the reduced dims of lhs * rhs, added to `initial` (a tensor of the
/// result's shape whose element type is the accumulator). maps: lhs, rhs,
/// result. Operands are extended to the accumulator type as `lhsUnsigned` and
/// `rhsUnsigned` say.
mlir::Value contract(mlir::ImplicitLocOpBuilder &b, mlir::Value lhs,
                     mlir::Value rhs, mlir::Value initial,
                     llvm::ArrayRef<mlir::AffineMap> maps,
                     bool lhsUnsigned = false, bool rhsUnsigned = false);
/// NumPy's matmul of tensors of rank >= 1, batch dims broadcast, accumulated
/// in `accumulator`, which is the result's element type.
mlir::Value matmul(mlir::ImplicitLocOpBuilder &b, mlir::Value lhs,
                   mlir::Value rhs, mlir::Type accumulator,
                   bool lhsUnsigned = false, bool rhsUnsigned = false);

/// ONNX's Cast between any two types for one scalar. Floats to integers
/// truncate; NaN and out-of-range values give the nearest bound, NaN zero. What
/// is beyond a type of less than a byte wraps.
mlir::Value castScalar(mlir::OpBuilder &b, mlir::Location loc,
                       mlir::Value scalar, ElementType from, ElementType to,
                       CastRules rules = {});
mlir::Value castTensor(mlir::ImplicitLocOpBuilder &b, mlir::Value value,
                       ElementType from, ElementType to, CastRules rules = {});

} // namespace ashlar::onnx_import

#endif // ASHLAR_LIB_IMPORT_ONNX_TENSORBUILDER_H
