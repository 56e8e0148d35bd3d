// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of OpenCL's GPU form, called with addresses, and machine code of
// them where Intel's compiler is.
#ifndef ASHLAR_LIB_TARGETS_LEVELZERO_LEVELZEROTARGET_H
#define ASHLAR_LIB_TARGETS_LEVELZERO_LEVELZEROTARGET_H

#include "../OpenCL/OpenCLTarget.h"

namespace ashlar::levelzero {

class LevelZeroTarget : public opencl::OpenCLTarget {
public:
  using OpenCLTarget::OpenCLTarget;

protected:
  /// Machine code for the model's GPU in front of the SPIR-V, and what each
  /// kernel takes; else a remark says that there is none. A kernel is hot if it
  /// multiplies matrices by a unit of its own: registers that it keeps in
  /// memory are a warning, or an error if the options are strict.
  mlir::LogicalResult finish(mlir::ModuleOp program,
                             const cpu::LoweredKernels &kernels,
                             const EmitOptions &options,
                             ProgramBinary &binary) const override;
};

} // namespace ashlar::levelzero

#endif // ASHLAR_LIB_TARGETS_LEVELZERO_LEVELZEROTARGET_H
