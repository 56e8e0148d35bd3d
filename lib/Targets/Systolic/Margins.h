// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What lies around the results of a contraction whose reader wants it padded.
#ifndef ASHLAR_LIB_TARGETS_SYSTOLIC_MARGINS_H
#define ASHLAR_LIB_TARGETS_SYSTOLIC_MARGINS_H

#include "ChipLayout.h"

namespace ashlar::systolic {

/// One row on chip, at `place`, stored again and again until all are full.
std::vector<Transfer> marginStores(const ChipLayout &layout, uint32_t place);

/// The same of a value on chip: rows of its first plane.
std::vector<Box> keptMargins(const ChipLayout &layout);

} // namespace ashlar::systolic

#endif // ASHLAR_LIB_TARGETS_SYSTOLIC_MARGINS_H
