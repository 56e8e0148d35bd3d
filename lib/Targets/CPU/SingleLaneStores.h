// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TARGETS_CPU_SINGLELANESTORES_H
#define ASHLAR_LIB_TARGETS_CPU_SINGLELANESTORES_H

#include "llvm/IR/Module.h"

namespace ashlar::cpu {

/// Stores the one lane that a constant mask selects as a scalar. For AVX-512,
/// LLVM 22 makes a masked store of a vector that was truncated a truncating
/// store, and one of those that stores one lane a scalar store of the wide
/// element (combineMaskedStore): four bytes, where one of <16 x i8> was asked
/// for. What is a truncation then need not be one here: conversions of floats
/// and comparisons become some. Run it when no pass is left that might turn a
/// mask into a constant.
void storeSingleLanesAsScalars(llvm::Module &module);

} // namespace ashlar::cpu

#endif // ASHLAR_LIB_TARGETS_CPU_SINGLELANESTORES_H
