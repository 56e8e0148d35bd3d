// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums of two operands on a machine without a vector unit: an mvin widens one
// operand into the accumulator, a second mvin adds the other to it, and the
// mvout activates, scales and narrows what is there. The array does nothing.
#ifndef ASHLAR_LIB_TARGETS_SYSTOLIC_WRITESUMS_H
#define ASHLAR_LIB_TARGETS_SYSTOLIC_WRITESUMS_H

#include "Contraction.h"
#include "ashlar/Support/Refusal.h"

namespace ashlar::systolic {

/// Refused where a contraction that is a sum needs more than these commands.
Refusal whyNoSum(const Contraction &sum, const Machine &machine);

/// Appends the commands of one that is not refused, in a region of its own.
/// Returns what the machine has no command for; empty: nothing came up.
std::string writeSum(const Contraction &sum, const Machine &machine,
                     const std::string &name, StreamBuilder &builder);

} // namespace ashlar::systolic

#endif // ASHLAR_LIB_TARGETS_SYSTOLIC_WRITESUMS_H
