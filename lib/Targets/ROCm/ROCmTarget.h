// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels as a code object of AMD's GPUs, which the driver loads as it is.
#ifndef ASHLAR_LIB_TARGETS_ROCM_ROCMTARGET_H
#define ASHLAR_LIB_TARGETS_ROCM_ROCMTARGET_H

#include "ashlar/Targets/Target.h"

namespace ashlar::rocm {

class ROCmTarget : public Target {
public:
  explicit ROCmTarget(MachineModel machine) : Target(std::move(machine)) {}

  Capabilities capabilities() const override;
  /// Functions that instructions only approximate, or do not have, are the
  /// processor's.
  std::string whyNot(mlir::Operation *op) const override;
  void buildKernelPipeline(mlir::OpPassManager &program,
                           const KernelOptions &options) const override;
  mlir::FailureOr<ProgramBinary> emit(mlir::ModuleOp program,
                                      const EmitOptions &options) override;
};

} // namespace ashlar::rocm

#endif // ASHLAR_LIB_TARGETS_ROCM_ROCMTARGET_H
