// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_DRIVER_CODEFLAGS_H
#define ASHLAR_LIB_DRIVER_CODEFLAGS_H

#include "ashlar/Driver/CompileOptions.h"
#include <string>
#include <vector>

namespace ashlar {

/// The flags that change the code, as a module keeps them. Files are of one
/// machine alone: of a tuning table that was used there is its digest, of
/// others only that they were.
std::vector<std::string> codeFlags(const CompileOptions &options,
                                   const std::vector<std::string> &targets,
                                   const std::string &tuningDigest);

} // namespace ashlar

#endif // ASHLAR_LIB_DRIVER_CODEFLAGS_H
