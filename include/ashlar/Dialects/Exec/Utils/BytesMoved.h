// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel moves where that is not all of its buffers.
#ifndef ASHLAR_DIALECTS_EXEC_UTILS_BYTESMOVED_H
#define ASHLAR_DIALECTS_EXEC_UTILS_BYTESMOVED_H

#include "llvm/ADT/StringRef.h"

namespace ashlar::exec {

/// On an op that reads a small part of its largest operand.
constexpr llvm::StringLiteral readsPartAttrName = "exec.reads_part";
/// On a kernel with such ops: the bytes that it moves.
constexpr llvm::StringLiteral bytesMovedAttrName = "exec.bytes_moved";

} // namespace ashlar::exec

#endif // ASHLAR_DIALECTS_EXEC_UTILS_BYTESMOVED_H
