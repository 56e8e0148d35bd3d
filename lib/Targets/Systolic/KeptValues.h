// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which values between contractions in succession stay on chip: they are copied
// from the accumulator to the scratchpad, where the next contractions read
// them.
#ifndef ASHLAR_LIB_TARGETS_SYSTOLIC_KEPTVALUES_H
#define ASHLAR_LIB_TARGETS_SYSTOLIC_KEPTVALUES_H

#include "Contraction.h"

#include <memory>
#include <optional>

namespace ashlar::systolic {

struct KeptValues {
  std::vector<std::unique_ptr<KeptValue>> values;
  int64_t rows = 0;       ///< of the scratchpad, from its first on
  int64_t savedBytes = 0; ///< that would have passed the port
};

/// Notes in `contractions`, which come one after the other, what stays on chip
/// in no more than `mostRows` rows. `inner`: a binding that nobody else reads.
KeptValues keepValues(std::vector<Contraction> &contractions,
                      const Machine &machine, std::optional<uint32_t> inner,
                      int64_t mostRows);

} // namespace ashlar::systolic

#endif // ASHLAR_LIB_TARGETS_SYSTOLIC_KEPTVALUES_H
