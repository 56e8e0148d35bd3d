// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Floats of a byte or less, which few machines compute with: what their codes
// mean, by integer arithmetic.
#ifndef ASHLAR_ANALYSIS_SMALLFLOATS_H
#define ASHLAR_ANALYSIS_SMALLFLOATS_H

#include "mlir/IR/Builders.h"
#include <optional>

namespace ashlar {

/// A float of a sign, then `exponent` bits, then `mantissa` bits.
struct SmallFloat {
  int exponent, mantissa, bias;
  int infinity; ///< code without sign; -1: none
  int nan;      ///< the code of NaN; -1: none
  bool signedZero;
  int largest; ///< code of the largest value
};

/// Of f8E4M3FN, f8E5M2, f8E4M3FNUZ and f8E5M2FNUZ; nothing: another type.
std::optional<SmallFloat> smallFloatOf(mlir::Type type);
/// Whether it is one of these.
inline bool isFloat8(mlir::Type type) { return smallFloatOf(type).has_value(); }

/// The f32 that a code in an i8 means, or a vector of such.
mlir::Value decodeSmallFloat(mlir::OpBuilder &b, mlir::Location loc,
                             mlir::Value code, const SmallFloat &format);

} // namespace ashlar

#endif // ASHLAR_ANALYSIS_SMALLFLOATS_H
