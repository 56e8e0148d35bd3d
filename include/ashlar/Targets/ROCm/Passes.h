// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_TARGETS_ROCM_PASSES_H
#define ASHLAR_TARGETS_ROCM_PASSES_H

#include "mlir/Pass/Pass.h"

namespace ashlar {
#define GEN_PASS_DECL
#include "ashlar/Targets/ROCm/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "ashlar/Targets/ROCm/Passes.h.inc"
} // namespace ashlar

#endif // ASHLAR_TARGETS_ROCM_PASSES_H
