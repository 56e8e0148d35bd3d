// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What f16 cannot hold: constants, which are known while compiling, and values,
// which are known where inputs are.
#ifndef ASHLAR_LIB_TRANSFORMS_PRECISION_HALFRANGE_H
#define ASHLAR_LIB_TRANSFORMS_PRECISION_HALFRANGE_H

#include "PrecisionGraph.h"

namespace ashlar {

inline constexpr double largestHalf = 65504;
/// Rounds up to infinity.
inline constexpr double firstInfiniteHalf = 65520;

/// Whether a finite number is infinite in f16.
bool exceedsHalf(const llvm::APFloat &value);

/// The largest finite |element| of a constant of floats, behind reshapes or
/// not; zero of what is none.
double largestConstant(mlir::Value value);

/// Nodes of f16 that multiply or pick from constants which f16 cannot hold
/// become f32; a warning names each with its largest constant.
void keepHalvesInRange(const PrecisionGraph &graph,
                       PrecisionDecisions &decisions);

/// Adds two outputs to `function` and a site to `decisions` for each place that
/// would be rounded to f16: the largest finite |value| there, f32, and how many
/// finite values f16 cannot hold, i32; one element a site. Places in the bodies
/// of control flow are not among them; their nodes are `unobserved`.
void observeRanges(const PrecisionGraph &graph, mlir::func::FuncOp function,
                   PrecisionDecisions &decisions);

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_PRECISION_HALFRANGE_H
