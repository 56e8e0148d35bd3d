// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Places in the arena for sizes that a caller has chosen: fast, and about as
// good as the compiler's plan for them would be.

#ifndef ASHLAR_RUNTIME_LIB_ARENAPLACEMENT_H
#define ASHLAR_RUNTIME_LIB_ARENAPLACEMENT_H

#include "OwnMemory.h"

#include <cstdint>

namespace ashlar::runtime {

/// A value in the arena, for the sizes of one call.
struct ArenaValue {
  uint64_t size = 0;            // a multiple of 64
  uint64_t planned = 0;         // offset in the plan for the largest sizes
  uint32_t first = 0, last = 0; // commands, inclusive
  uint64_t offset = 0;          // what these functions set
};

/// Leaves each value where the compiler's plan has it; false if two that live
/// at the same time would overlap there.
bool takePlan(Vector<ArenaValue> &values);

/// Sets the offset of each value, so that none overlaps another one that lives
/// at the same time; returns the end of the highest. Quadratic in their number:
/// tens of microseconds for a hundred. The lower of two plans: in the order of
/// the compiler's plan, each on top of what lives beside it, which keeps the
/// plan where all sizes shrink alike; and the largest first, each in the lowest
/// gap.
uint64_t placeInArena(Vector<ArenaValue> &values);

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_ARENAPLACEMENT_H
