// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The devices of a program beside its host, from `schedule` on.
#ifndef ASHLAR_LIB_DRIVER_COMPANIONS_H
#define ASHLAR_LIB_DRIVER_COMPANIONS_H

#include "ashlar/Targets/Target.h"

namespace ashlar {

/// Whose kernels in succession may be one, for the stage `schedule`.
struct JoiningDevices {
  llvm::SmallVector<int64_t> devices; ///< by their numbers
  int64_t chipBytes = 0; ///< the most that one of them has to keep values in
};
JoiningDevices joiningDevices(const Target &target);

/// The end of the stage `tile`: the host's pipeline for all kernels, or each
/// device's for its own where a companion lowers them. `target` outlives it.
void buildKernelPipelines(mlir::OpPassManager &program, const Target &target,
                          const KernelOptions &options = {});

/// The binary of a program, with those of further devices in it.
mlir::FailureOr<ProgramBinary>
emitDevices(Target &target, mlir::ModuleOp program, EmitOptions options);

/// Further devices have as much memory as their machines say; where that is too
/// little, `log` says so.
bool fitDevices(mlir::ModuleOp module, llvm::ArrayRef<ProgramBinary> binaries,
                llvm::raw_ostream &log);

} // namespace ashlar

#endif // ASHLAR_LIB_DRIVER_COMPANIONS_H
