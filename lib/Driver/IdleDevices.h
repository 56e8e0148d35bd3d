// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Devices of a program that have nothing to do.
#ifndef ASHLAR_LIB_DRIVER_IDLEDEVICES_H
#define ASHLAR_LIB_DRIVER_IDLEDEVICES_H

#include "ashlar/Driver/CompileOptions.h"
#include "ashlar/Emit/ModulePieces.h"
#include "mlir/IR/BuiltinOps.h"
#include <vector>

namespace ashlar {

/// A piece of what was compiled: its programs and the binary of each.
struct CompiledPiece {
  mlir::ModuleOp module;
  std::vector<ProgramBinary> &binaries;
};

/// Takes of each program the last devices off on which no kernel was placed in
/// any piece, so that it runs where they are missing. Those that the options do
/// not name beside a host stay: who names a device alone asks for it. A remark
/// says which went.
void dropIdleDevices(const CompileOptions &options,
                     llvm::ArrayRef<CompiledPiece> pieces);

} // namespace ashlar

#endif // ASHLAR_LIB_DRIVER_IDLEDEVICES_H
