// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels as one SPIR-V module. Each is a core's: a work-item computes a range
// of groups with vectors of 16, the form that drivers for processors run
// fastest; or one of threads that share accumulators, the form of GPUs. The
// target level-zero is made of the same.
#ifndef ASHLAR_LIB_TARGETS_OPENCL_OPENCLTARGET_H
#define ASHLAR_LIB_TARGETS_OPENCL_OPENCLTARGET_H

#include "ashlar/Targets/Target.h"

namespace ashlar::cpu {
struct LoweredKernels;
}

namespace ashlar::opencl {

/// Code for drivers without SPIR-V: ASHLAR_OPENCL_SPIR_FORMAT of the runtime's
/// opencl_abi.h.
constexpr char spirFormat[] = "spir64";

/// Part of the names of the functions that matrix units are called by.
constexpr char matrixFunctions[] = "_matrix_mad_";

class OpenCLTarget : public Target {
public:
  explicit OpenCLTarget(MachineModel machine) : Target(std::move(machine)) {}

  Capabilities capabilities() const override;
  /// It computes every op.
  std::string whyNot(mlir::Operation *) const override { return ""; }
  void buildKernelPipeline(mlir::OpPassManager &program,
                           const KernelOptions &options) const override;
  mlir::FailureOr<ProgramBinary> emit(mlir::ModuleOp program,
                                      const EmitOptions &options) override;

protected:
  /// What is done with a program's SPIR-V for one kind of device. Emits a
  /// diagnostic where it fails.
  virtual mlir::LogicalResult finish(mlir::ModuleOp program,
                                     const cpu::LoweredKernels &kernels,
                                     const EmitOptions &options,
                                     ProgramBinary &binary) const;
};

/// Why there is no SPIR-V for a machine; empty: there is. `format` says how
/// kernels are called.
std::string checkMachine(const MachineModel &machine, llvm::StringRef format);

} // namespace ashlar::opencl

#endif // ASHLAR_LIB_TARGETS_OPENCL_OPENCLTARGET_H
