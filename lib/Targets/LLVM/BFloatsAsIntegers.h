// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TARGETS_LLVM_BFLOATSASINTEGERS_H
#define ASHLAR_LIB_TARGETS_LLVM_BFLOATSASINTEGERS_H

#include "llvm/IR/Module.h"

namespace ashlar {

/// Lets integers of 16 bits stand for bfloats. Nothing computes with them any
/// more, they are only moved; but where a machine has no instruction for a
/// move, a masked one or a selection by lanes, LLVM takes vectors apart and
/// puts elements that are bfloat together through f32 and a call of
/// compiler-rt.
void moveBFloatsAsIntegers(llvm::Module &module);

} // namespace ashlar

#endif // ASHLAR_LIB_TARGETS_LLVM_BFLOATSASINTEGERS_H
