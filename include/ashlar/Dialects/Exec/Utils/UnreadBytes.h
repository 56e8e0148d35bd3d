// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bytes of a kernel's operands that no call reads: of a table of which it takes
// some rows, the others.
#ifndef ASHLAR_DIALECTS_EXEC_UTILS_UNREADBYTES_H
#define ASHLAR_DIALECTS_EXEC_UTILS_UNREADBYTES_H

#include "ashlar/Dialects/Exec/IR/ExecOps.h"

namespace ashlar::exec {

/// On a kernel, where there are any.
inline constexpr llvm::StringLiteral unreadBytesAttrName =
    "ashlar.unread_bytes";

inline int64_t unreadBytes(KernelOp kernel) {
  auto bytes = kernel->getAttrOfType<mlir::IntegerAttr>(unreadBytesAttrName);
  return bytes ? bytes.getInt() : 0;
}

} // namespace ashlar::exec

#endif // ASHLAR_DIALECTS_EXEC_UTILS_UNREADBYTES_H
