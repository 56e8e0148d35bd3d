// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accumulators, for those that make and use them.
#ifndef ASHLAR_LIB_INTERPRET_ACCUMULATORS_H
#define ASHLAR_LIB_INTERPRET_ACCUMULATORS_H

#include "Machine.h"

namespace ashlar::interpret {

/// One of a `!tile.acc`, whose elements are zeros.
std::shared_ptr<Accumulator> newAccumulator(mlir::Type type);

/// Fails where its elements are not there: sums of a step are once it has been
/// waited for.
[[nodiscard]] Outcome mayUse(Machine &machine, mlir::Operation *op,
                             const Accumulator &acc);

} // namespace ashlar::interpret

#endif // ASHLAR_LIB_INTERPRET_ACCUMULATORS_H
