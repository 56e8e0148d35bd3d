// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_DRIVER_COMPILEFORSIZES_H
#define ASHLAR_LIB_DRIVER_COMPILEFORSIZES_H

#include "ashlar/Driver/Compile.h"

namespace ashlar {

/// Compiles one module for all sizes in the ranges of `options`. The model is
/// compiled for the largest sizes; how everything in it changes with them is
/// found by taking it through `fuse` at other sizes, too.
CompileResult compileForSizes(const CompileOptions &options,
                              const CompileHooks &hooks, llvm::raw_ostream &out,
                              llvm::raw_ostream &log);

} // namespace ashlar

#endif // ASHLAR_LIB_DRIVER_COMPILEFORSIZES_H
