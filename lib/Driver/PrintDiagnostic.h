// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_DRIVER_PRINTDIAGNOSTIC_H
#define ASHLAR_LIB_DRIVER_PRINTDIAGNOSTIC_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/raw_ostream.h"

namespace ashlar {

/// One line per diagnostic: severity, the node's name, the message,
/// where control characters of names are spelled out.
void printDiagnostic(mlir::Diagnostic &diagnostic, llvm::raw_ostream &log);

} // namespace ashlar

#endif // ASHLAR_LIB_DRIVER_PRINTDIAGNOSTIC_H
