// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Streams for the systolic machines: each kernel is one contraction, or several
// in succession.
#ifndef ASHLAR_LIB_TARGETS_SYSTOLIC_SYSTOLICTARGET_H
#define ASHLAR_LIB_TARGETS_SYSTOLIC_SYSTOLICTARGET_H

#include "ashlar/Targets/Target.h"

namespace ashlar::systolic {

class SystolicTarget : public Target {
public:
  explicit SystolicTarget(MachineModel machine) : Target(std::move(machine)) {}

  Capabilities capabilities() const override;
  /// Nothing: contractions become streams when kernels are joined, in `emit`.
  void buildKernelPipeline(mlir::OpPassManager &,
                           const KernelOptions &) const override {}
  std::string whyNot(mlir::Operation *contract) const override;
  std::optional<double> nanoseconds(mlir::Operation *contract) const override;
  mlir::FailureOr<ProgramBinary> emit(mlir::ModuleOp program,
                                      const EmitOptions &options) override;
  std::string whyNoObject(bool isBare) const override;
  mlir::LogicalResult addToObject(mlir::ModuleOp program,
                                  const EmitOptions &options,
                                  llvm::Module &object) override;
};

} // namespace ashlar::systolic

#endif // ASHLAR_LIB_TARGETS_SYSTOLIC_SYSTOLICTARGET_H
