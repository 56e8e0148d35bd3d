// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the choices for a contraction depend on, so that those of equal form are
// searched once.
#ifndef ASHLAR_LIB_TARGETS_SYSTOLIC_CONTRACTFORM_H
#define ASHLAR_LIB_TARGETS_SYSTOLIC_CONTRACTFORM_H

#include "Contraction.h"

#include <string>

namespace ashlar::systolic {

/// All but where operands lie, and numbers of the epilogue.
std::string formOf(const Contraction &contraction);

/// A form of a contraction that was chosen for one, with the operands and the
/// numbers of another of equal form.
Contraction withPlacesOf(Contraction form, const Contraction &contraction);

} // namespace ashlar::systolic

#endif // ASHLAR_LIB_TARGETS_SYSTOLIC_CONTRACTFORM_H
