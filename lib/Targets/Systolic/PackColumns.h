// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TARGETS_SYSTOLIC_PACKCOLUMNS_H
#define ASHLAR_LIB_TARGETS_SYSTOLIC_PACKCOLUMNS_H

#include "Contraction.h"

#include <optional>

namespace ashlar::systolic {

/// A contraction with as many neighbouring results in one row of the
/// accumulator; none where they are not that many or the epilogue needs them
/// apart.
std::optional<Contraction> packColumns(const Contraction &contraction,
                                       const Machine &machine, int64_t results);

/// A depthwise contraction with as many neighbouring results in the lanes of
/// one row; none as above.
std::optional<Contraction> packLanes(const Contraction &contraction,
                                     int64_t results);

/// The few that keep array or lanes busier than results alone, best first.
std::vector<Contraction> packingsOf(const Contraction &contraction,
                                    const Machine &machine);

/// Cycles of array or lanes that the best of them saves.
int64_t savedByPacking(const Contraction &contraction, const Machine &machine);

} // namespace ashlar::systolic

#endif // ASHLAR_LIB_TARGETS_SYSTOLIC_PACKCOLUMNS_H
