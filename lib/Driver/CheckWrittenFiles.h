// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_DRIVER_CHECKWRITTENFILES_H
#define ASHLAR_LIB_DRIVER_CHECKWRITTENFILES_H

#include "ashlar/Driver/CompileOptions.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

namespace ashlar {

/// Whether what `options` ask to write takes the place of none of `read`, files
/// that are `what` ("the model itself"), and the remarks not that of the
/// module; says on `log` which does.
bool checkWrittenFiles(const CompileOptions &options,
                       llvm::ArrayRef<std::string> read, llvm::StringRef what,
                       llvm::raw_ostream &log);

} // namespace ashlar

#endif // ASHLAR_LIB_DRIVER_CHECKWRITTENFILES_H
