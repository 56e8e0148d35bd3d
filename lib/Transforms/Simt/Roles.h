// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TRANSFORMS_SIMT_ROLES_H
#define ASHLAR_LIB_TRANSFORMS_SIMT_ROLES_H

#include "Threads.h"
#include "llvm/ADT/StringMap.h"

namespace ashlar::simt {

/// Makes branches of concurrent roles. `scopes`: threads of each. Gives how
/// many threads a workgroup has, those that copy included; emits an error where
/// roles are none that threads do.
llvm::FailureOr<int64_t> shareRoles(mlir::Operation *kernel,
                                    const Threads &threads,
                                    const llvm::StringMap<int64_t> &scopes);

/// A barrier of all threads that come here: those of a role, or the workgroup.
mlir::Operation *meet(mlir::OpBuilder &b, mlir::Location at);
/// Barriers of the workgroup inside of roles become those of their threads.
void meetInRoles(mlir::Operation *kernel);

} // namespace ashlar::simt

#endif // ASHLAR_LIB_TRANSFORMS_SIMT_ROLES_H
