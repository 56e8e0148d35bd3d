// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TARGETS_LLVM_RUNLINKER_H
#define ASHLAR_LIB_TARGETS_LLVM_RUNLINKER_H

#include "ashlar/Support/MemoryFile.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace ashlar {

/// Objects as one archive in memory, since processes may open few files only.
llvm::Expected<MemoryFile> makeArchive(llvm::ArrayRef<llvm::StringRef> objects);

/// What lld writes as a shared object for these arguments. Thread-safe. An
/// errno of io_error where the machine is at fault and not the input.
llvm::Expected<std::string> runLinker(std::vector<std::string> arguments);

} // namespace ashlar

#endif // ASHLAR_LIB_TARGETS_LLVM_RUNLINKER_H
