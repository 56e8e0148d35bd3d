// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Floats of 16 bits are computed with in f32 and rounded after each operation.
// Left to LLVM, that becomes a call of its own library where the machine has no
// instruction for the rounding, and of an instruction that takes denormals for
// zeros where it has one for bf16.
#ifndef ASHLAR_LIB_TARGETS_CPU_WIDENHALVES_H
#define ASHLAR_LIB_TARGETS_CPU_WIDENHALVES_H

#include "mlir/Pass/Pass.h"
#include <memory>

namespace ashlar::cpu {

/// Puts extf before and truncf behind each operation of arith, math and vector
/// that computes in f16 or bf16. Without `convertsF16` these conversions of
/// f16 become operations on integers; those of bf16 upstream expands.
std::unique_ptr<mlir::Pass> createWidenHalvesPass(bool convertsF16);

} // namespace ashlar::cpu

#endif // ASHLAR_LIB_TARGETS_CPU_WIDENHALVES_H
