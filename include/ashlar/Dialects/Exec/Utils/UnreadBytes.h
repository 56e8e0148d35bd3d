// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bytes of a kernel's operands that no call reads: of a table of which it takes
// some rows, the others.
#ifndef ASHLAR_DIALECTS_EXEC_UTILS_UNREADBYTES_H
#define ASHLAR_DIALECTS_EXEC_UTILS_UNREADBYTES_H

#include "ashlar/Dialects/Exec/IR/ExecOps.h"

namespace ashlar::exec {

/// On an op that reads a part of its operands alone (unit): elements that its
/// maps do not come to are others'.
inline constexpr llvm::StringLiteral readsPartAttrName = "exec.reads_part";
/// On a kernel, where there are any.
inline constexpr llvm::StringLiteral unreadBytesAttrName =
    "ashlar.unread_bytes";

inline int64_t unreadBytes(KernelOp kernel) {
  auto bytes = kernel->getAttrOfType<mlir::IntegerAttr>(unreadBytesAttrName);
  return bytes ? bytes.getInt() : 0;
}

} // namespace ashlar::exec

#endif // ASHLAR_DIALECTS_EXEC_UTILS_UNREADBYTES_H
