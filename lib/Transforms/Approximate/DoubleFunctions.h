// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions for machines without a C library. Arguments are values of f32 in
// f64, in the builder's shape, and results are good for one rounding to f32;
// exp and log take all of f64 and are good in it. Each has the sign, the zeros,
// the infinities and the NaNs of C's function of that name.
//
// Polynomials are Taylor's: so short in f64, where f32 is asked for, that
// coefficients of others would save a term or two.
#ifndef ASHLAR_LIB_TRANSFORMS_APPROXIMATE_DOUBLEFUNCTIONS_H
#define ASHLAR_LIB_TRANSFORMS_APPROXIMATE_DOUBLEFUNCTIONS_H

#include "FloatBuilder.h"

namespace ashlar {

mlir::Value buildExp64(DoubleBuilder &f, mlir::Value x);
mlir::Value buildLog64(DoubleBuilder &f, mlir::Value x);

mlir::Value buildPow(DoubleBuilder &f, mlir::Value x, mlir::Value y);
mlir::Value buildLog2(DoubleBuilder &f, mlir::Value x);
mlir::Value buildLog10(DoubleBuilder &f, mlir::Value x);

mlir::Value buildSin(DoubleBuilder &f, mlir::Value x);
mlir::Value buildCos(DoubleBuilder &f, mlir::Value x);
mlir::Value buildTan(DoubleBuilder &f, mlir::Value x);

mlir::Value buildAsin(DoubleBuilder &f, mlir::Value x);
mlir::Value buildAcos(DoubleBuilder &f, mlir::Value x);
mlir::Value buildAtan(DoubleBuilder &f, mlir::Value x);
mlir::Value buildAtan2(DoubleBuilder &f, mlir::Value y, mlir::Value x);

mlir::Value buildSinh(DoubleBuilder &f, mlir::Value x);
mlir::Value buildCosh(DoubleBuilder &f, mlir::Value x);
mlir::Value buildAsinh(DoubleBuilder &f, mlir::Value x);
mlir::Value buildAcosh(DoubleBuilder &f, mlir::Value x);
mlir::Value buildAtanh(DoubleBuilder &f, mlir::Value x);

mlir::Value buildFmod(DoubleBuilder &f, mlir::Value x, mlir::Value y);

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_APPROXIMATE_DOUBLEFUNCTIONS_H
