// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions over some axes and what uses their results beside the tensor that
// was reduced: the vocabulary of softmax and of the normalizations.
#ifndef ASHLAR_LIB_IMPORT_ONNX_REDUCTIONBUILDER_H
#define ASHLAR_LIB_IMPORT_ONNX_REDUCTIONBUILDER_H

#include "ScalarBuilder.h"

namespace ashlar::onnx_import {

/// All axes of a rank, and those not in `axes`.
llvm::SmallVector<int64_t> allAxes(int64_t rank, int64_t from = 0);
llvm::SmallVector<int64_t> otherAxes(int64_t rank,
                                     llvm::ArrayRef<int64_t> axes);

// Reductions of floats, in computeType of their element; the axes disappear.
using FloatMap =
    llvm::function_ref<mlir::Value(FloatScalars &, mlir::Value element)>;
/// sum of map(element), or of the elements themselves.
mlir::Value sumOver(mlir::ImplicitLocOpBuilder &b, mlir::Value input,
                    llvm::ArrayRef<int64_t> axes, FloatMap map = nullptr);
mlir::Value maxOver(mlir::ImplicitLocOpBuilder &b, mlir::Value input,
                    llvm::ArrayRef<int64_t> axes);
/// What a softmax over the axes rounds its exponentials and their sum to: of
/// few terms the input's own type, as ONNX's reference does. Of more that would
/// lose more than it is worth (in bf16, 256 + 1 is 256).
mlir::Type stepType(mlir::Value input, llvm::ArrayRef<int64_t> axes);
/// sum in `stepType`: bf16 is rounded after each addition.
mlir::Value roundedSumOver(mlir::ImplicitLocOpBuilder &b, mlir::Value input,
                           llvm::ArrayRef<int64_t> axes);
/// NaN where there is nothing to average.
mlir::Value meanOver(mlir::ImplicitLocOpBuilder &b, mlir::Value input,
                     llvm::ArrayRef<int64_t> axes, FloatMap map = nullptr);

/// A tensor read beside another one: its dimensions are the axes `dims` of the
/// other; a size of one broadcasts.
struct Aligned {
  mlir::Value value;
  llvm::SmallVector<int64_t> dims;
};

/// One result element from each element of `input` and what is aligned with
/// it. Computes in `compute`, into which all elements are widened.
mlir::Value alignedElementwise(mlir::ImplicitLocOpBuilder &b, mlir::Value input,
                               llvm::ArrayRef<Aligned> others,
                               mlir::Type compute, mlir::Type result,
                               FloatBody body);

/// The mean over `axes` and the mean square distance to it, in two passes.
struct Moments {
  Aligned mean, variance;
};
Moments momentsOver(mlir::ImplicitLocOpBuilder &b, mlir::Value input,
                    llvm::ArrayRef<int64_t> axes);

/// exp(x - max) / sum of them over `axes`, or its logarithm. Of 16-bit floats
/// each step is rounded, as ONNX's reference rounds it.
mlir::Value softmax(mlir::ImplicitLocOpBuilder &b, mlir::Value input,
                    llvm::ArrayRef<int64_t> axes, bool logarithm);

/// Where along `axis` the largest (or smallest) element stands: the first of
/// several, or the last. The axis disappears.
mlir::Value argExtreme(mlir::ImplicitLocOpBuilder &b, mlir::Value input,
                       ElementType type, int64_t axis, bool isMax,
                       bool selectLast);

} // namespace ashlar::onnx_import

#endif // ASHLAR_LIB_IMPORT_ONNX_REDUCTIONBUILDER_H
