// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Host code: kernels through LLVM into one position-independent ELF image.
#ifndef ASHLAR_TARGETS_CPU_CPUTARGET_H
#define ASHLAR_TARGETS_CPU_CPUTARGET_H

#include "ashlar/Targets/Target.h"

namespace ashlar::cpu {

class CPUTarget : public Target {
public:
  explicit CPUTarget(MachineModel machine) : Target(std::move(machine)) {}

  void buildKernelPipeline(mlir::OpPassManager &program,
                           const KernelOptions &options) const override;
  mlir::FailureOr<ProgramBinary> emit(mlir::ModuleOp program,
                                      const EmitOptions &options) override;

  std::string whyNoModule() const override;
  std::string whyNoObject(bool isBare) const override;
  mlir::LogicalResult addToObject(mlir::ModuleOp program,
                                  const EmitOptions &options,
                                  llvm::Module &object) override;
  mlir::FailureOr<std::string> writeObject(mlir::ModuleOp program,
                                           const EmitOptions &options,
                                           llvm::Module &object) override;

protected:
  /// Whether products and sums may become one rounding.
  virtual bool contractsFloats() const { return true; }
  virtual bool optimizes() const { return true; }

private:
  /// Kernels in the LLVM dialect, a module each.
  struct Lowered;
  mlir::LogicalResult lower(mlir::ModuleOp program, const EmitOptions &options,
                            Lowered &lowered) const;
};

} // namespace ashlar::cpu

#endif // ASHLAR_TARGETS_CPU_CPUTARGET_H
