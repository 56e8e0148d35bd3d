// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_DRIVER_HASHMODEL_H
#define ASHLAR_LIB_DRIVER_HASHMODEL_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace ashlar {

/// SHA-256 of the files' bytes, one after another, in hexadecimal digits: what
/// `cat FILES | sha256sum` gives.
llvm::Expected<std::string> hashFiles(llvm::ArrayRef<std::string> paths);

} // namespace ashlar

#endif // ASHLAR_LIB_DRIVER_HASHMODEL_H
