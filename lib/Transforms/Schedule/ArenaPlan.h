// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Places buffers with known lifetimes into one range of bytes.
#ifndef ASHLAR_LIB_TRANSFORMS_SCHEDULE_ARENAPLAN_H
#define ASHLAR_LIB_TRANSFORMS_SCHEDULE_ARENAPLAN_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace ashlar {

/// `bytes` are needed from time `lower` to time `upper` (exclusive).
struct ArenaRequest {
  int64_t lower, upper, bytes;
};

struct ArenaPlan {
  llvm::SmallVector<int64_t> offsets; ///< one per request, multiples of 64
  int64_t bytes = 0;
  /// The most that lives at one time: no plan needs less.
  int64_t lowerBound = 0;
};

/// The lowest plan that the memory planner finds in a fixed number of steps.
ArenaPlan planArena(llvm::ArrayRef<ArenaRequest> requests);

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_SCHEDULE_ARENAPLAN_H
