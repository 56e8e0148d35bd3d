// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The approximations. `x` is f32 in the builder's shape. Each has the sign,
// the zeros, the infinities and the NaNs of C's function of that name; how
// large its error is stands in docs/numerics.md and is measured by
// scripts/check/functions.py. Coefficients come from scripts/minimax.py.
#ifndef ASHLAR_LIB_TRANSFORMS_APPROXIMATE_FUNCTIONS_H
#define ASHLAR_LIB_TRANSFORMS_APPROXIMATE_FUNCTIONS_H

#include "FloatBuilder.h"

namespace ashlar {

mlir::Value buildExp(FloatBuilder &f, mlir::Value x);
mlir::Value buildExp2(FloatBuilder &f, mlir::Value x);
mlir::Value buildExpM1(FloatBuilder &f, mlir::Value x);
mlir::Value buildLog(FloatBuilder &f, mlir::Value x);
mlir::Value buildLog1p(FloatBuilder &f, mlir::Value x);
mlir::Value buildTanh(FloatBuilder &f, mlir::Value x);
mlir::Value buildErf(FloatBuilder &f, mlir::Value x);

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_APPROXIMATE_FUNCTIONS_H
