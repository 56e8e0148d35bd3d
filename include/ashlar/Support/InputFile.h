// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files that the user names, as the compiler reads them.
#ifndef ASHLAR_SUPPORT_INPUTFILE_H
#define ASHLAR_SUPPORT_INPUTFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>

namespace ashlar {

/// The bytes of a regular file, mapped where that pays; `isText`: a NUL follows
/// them. The error says why there is none, without the file's name. Nothing is
/// waited for: pipes, devices and folders are errors.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
readInputFile(llvm::StringRef path, bool isText);

} // namespace ashlar

#endif // ASHLAR_SUPPORT_INPUTFILE_H
