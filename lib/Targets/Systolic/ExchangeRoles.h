// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TARGETS_SYSTOLIC_EXCHANGEROLES_H
#define ASHLAR_LIB_TARGETS_SYSTOLIC_EXCHANGEROLES_H

#include "Contraction.h"

#include <optional>

namespace ashlar::systolic {

/// The contraction with A and B in each other's place: inputs stay in the
/// array, weights go by, and a row of results is a column of the model's. None
/// where the epilogue cannot be computed that way round.
std::optional<Contraction> exchangeRoles(const Contraction &contraction);

} // namespace ashlar::systolic

#endif // ASHLAR_LIB_TARGETS_SYSTOLIC_EXCHANGEROLES_H
