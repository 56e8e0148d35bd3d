// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_EMIT_EMITOBJECT_H
#define ASHLAR_EMIT_EMITOBJECT_H

#include "ashlar/Targets/Target.h"
#include "mlir/IR/BuiltinOps.h"

namespace ashlar {

/// The header that goes with an object file: model.h beside model.o.
std::string objectHeaderPath(llvm::StringRef object);

/// Writes `program`, which has passed the stage `schedule`, as one object file
/// without the runtime: the function PREFIX_main, the kernels of `target` and
/// of its companions, and the weights; and the header that declares it. For a
/// bare core, or for a machine with an operating system. Emits a
/// diagnostic, at the op, where an object cannot hold something or a file
/// cannot be written; no file is left behind then.
mlir::LogicalResult emitObject(mlir::ModuleOp program, Target &target,
                               EmitOptions options, bool isBare,
                               llvm::StringRef path, llvm::StringRef prefix);

} // namespace ashlar

#endif // ASHLAR_EMIT_EMITOBJECT_H
