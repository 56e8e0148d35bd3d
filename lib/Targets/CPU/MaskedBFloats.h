// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TARGETS_CPU_MASKEDBFLOATS_H
#define ASHLAR_LIB_TARGETS_CPU_MASKEDBFLOATS_H

#include "llvm/IR/Module.h"

namespace ashlar::cpu {

/// Lets masked loads, stores and gathers of bfloat move 16-bit integers. Where
/// a machine has no such instruction, LLVM takes them apart, and puts elements
/// that are bfloat together through f32 and a call of compiler-rt.
void moveMaskedBFloatsAsIntegers(llvm::Module &module);

} // namespace ashlar::cpu

#endif // ASHLAR_LIB_TARGETS_CPU_MASKEDBFLOATS_H
