// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels as one SPIR-V module. Each is a core's: a work-item computes a range
// of groups with vectors of 16, the form that drivers for processors run
// fastest. Threads that share an accumulator will be another.
#ifndef ASHLAR_LIB_TARGETS_OPENCL_OPENCLTARGET_H
#define ASHLAR_LIB_TARGETS_OPENCL_OPENCLTARGET_H

#include "ashlar/Targets/Target.h"

namespace ashlar::opencl {

class OpenCLTarget : public Target {
public:
  explicit OpenCLTarget(MachineModel machine) : Target(std::move(machine)) {}

  void buildKernelPipeline(mlir::OpPassManager &program,
                           const KernelOptions &options) const override;
  mlir::FailureOr<ProgramBinary> emit(mlir::ModuleOp program,
                                      const EmitOptions &options) override;
};

} // namespace ashlar::opencl

#endif // ASHLAR_LIB_TARGETS_OPENCL_OPENCLTARGET_H
