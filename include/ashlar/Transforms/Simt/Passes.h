// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_TRANSFORMS_SIMT_PASSES_H
#define ASHLAR_TRANSFORMS_SIMT_PASSES_H

#include "mlir/Pass/Pass.h"

namespace ashlar {
#define GEN_PASS_DECL
#include "ashlar/Transforms/Simt/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "ashlar/Transforms/Simt/Passes.h.inc"
} // namespace ashlar

#endif // ASHLAR_TRANSFORMS_SIMT_PASSES_H
