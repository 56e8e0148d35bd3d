// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TARGETS_SYSTOLIC_PACKCOLUMNS_H
#define ASHLAR_LIB_TARGETS_SYSTOLIC_PACKCOLUMNS_H

#include "Problem.h"

#include <optional>

namespace ashlar::systolic {

/// A convolution with two neighbouring results in one row of the accumulator;
/// none if it is none of few columns.
std::optional<Problem> packColumns(const Problem &problem,
                                   const Machine &machine);

} // namespace ashlar::systolic

#endif // ASHLAR_LIB_TARGETS_SYSTOLIC_PACKCOLUMNS_H
