// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_ANALYSIS_DIVISORS_H
#define ASHLAR_ANALYSIS_DIVISORS_H

#include "mlir/IR/OpDefinition.h"

namespace ashlar {

/// The largest power of two, up to 4096, that is known to divide an index: of
/// loops' counters, affine maps and sums and products of such.
int64_t knownDivisor(mlir::OpFoldResult index);

/// The same of how many elements the first of a memref lies behind the one that
/// an argument of the function, or an allocation, begins with.
int64_t knownDivisorOfOffset(mlir::Value memory);

/// Whether rows of a memref, its last dim, lie in one piece each and begin at
/// multiples of so many elements.
bool beginsRowsAt(mlir::Value memory, int64_t elements);

/// The same of how long they are.
bool endsRowsAt(mlir::Value memory, int64_t elements);

} // namespace ashlar

#endif // ASHLAR_ANALYSIS_DIVISORS_H
