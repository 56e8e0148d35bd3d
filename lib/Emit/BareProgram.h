// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program as one C function that needs no runtime: its commands become calls
// and copies, its constants read-only data, its arenas the caller's memory.
#ifndef ASHLAR_LIB_EMIT_BAREPROGRAM_H
#define ASHLAR_LIB_EMIT_BAREPROGRAM_H

#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Machine/MachineModel.h"
#include "mlir/IR/BuiltinOps.h"

namespace llvm {
class Module;
}

namespace ashlar {

/// The only entry. Emits a diagnostic, at the op, where it holds what such a
/// function does not: control flow, or sizes that are known at run time alone.
mlir::FailureOr<exec::ProgramOp> findBareEntry(mlir::ModuleOp program);

/// Adds the function `name` to `object`, which holds the kernels as functions
/// of the type in kernel_abi.h. Returns the bytes of scratch that it needs.
uint64_t addBareMain(exec::ProgramOp entry, llvm::Module &object,
                     llvm::StringRef name);

/// The text of the C header, of an object for a bare core or for a machine with
/// an operating system. Its names begin with `prefix`.
std::string printBareHeader(exec::ProgramOp entry, uint64_t scratchBytes,
                            const MachineModel &machine, bool isBare,
                            llvm::StringRef prefix);

} // namespace ashlar

#endif // ASHLAR_LIB_EMIT_BAREPROGRAM_H
