// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels as PTX, which NVIDIA's driver compiles for the GPU that it finds.
#ifndef ASHLAR_LIB_TARGETS_CUDA_CUDATARGET_H
#define ASHLAR_LIB_TARGETS_CUDA_CUDATARGET_H

#include "KnownKernels.h"
#include "ashlar/Targets/Target.h"

namespace ashlar::cuda {

class CUDATarget : public Target {
public:
  explicit CUDATarget(MachineModel machine) : Target(std::move(machine)) {}

  Capabilities capabilities() const override;
  /// Functions that PTX only approximates, or does not have, are the
  /// processor's.
  std::string whyNot(mlir::Operation *op) const override;
  void buildKernelPipeline(mlir::OpPassManager &program,
                           const KernelOptions &options) const override;
  mlir::FailureOr<ProgramBinary> emit(mlir::ModuleOp program,
                                      const EmitOptions &options) override;

private:
  KnownKernels known; ///< of earlier tries of a program
};

} // namespace ashlar::cuda

#endif // ASHLAR_LIB_TARGETS_CUDA_CUDATARGET_H
