// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TARGETS_CPU_LOWERKERNELS_H
#define ASHLAR_LIB_TARGETS_CPU_LOWERKERNELS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

namespace ashlar::cpu {

struct LoweringOptions {
  bool approximate = true;   ///< functions as polynomials, not calls of libm
  bool library = true;       ///< libm is there for other functions
  bool fma = true;           ///< the machine has fused multiply-add
  bool convertsF16 = true;   ///< it has instructions from f16 to f32 and back
  bool convertsBf16 = false; ///< the back end rounds to bf16 by itself
  std::vector<std::string> features; ///< its instructions, LLVM's names
};

/// Kernels in the LLVM dialect, a module each, so that all of them are compiled
/// side by side.
struct LoweredKernels {
  mlir::OwningOpRef<mlir::ModuleOp> all;
  struct Kernel {
    mlir::ModuleOp module;
    std::string symbol;
    std::string nodes; ///< of the model, for errors
    /// Values are rounded to whole numbers, as quantized ones are. Then the
    /// last bit of a product decides: it is rounded before anything is added to
    /// it, as in the definition.
    bool roundsToIntegers;
    int64_t threads; ///< of a workgroup
    int64_t cluster; ///< workgroups that reach each other's memory
    int64_t maps;    ///< of tensors, that it is given behind all else
  };
  std::vector<Kernel> kernels;
};

/// Lowers copies of the kernels of `program` that are the device's; behind
/// `passes` on each of their modules.
mlir::FailureOr<LoweredKernels>
lowerKernels(mlir::ModuleOp program, unsigned device,
             const LoweringOptions &options,
             llvm::function_ref<void(mlir::OpPassManager &)> passes = nullptr);

/// From loops over vectors and memrefs to the LLVM dialect; runs on a module
/// of one kernel.
void buildLoweringPipeline(mlir::OpPassManager &pm,
                           const LoweringOptions &options);

} // namespace ashlar::cpu

#endif // ASHLAR_LIB_TARGETS_CPU_LOWERKERNELS_H
