// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_SUPPORT_NOTEAT_H
#define ASHLAR_SUPPORT_NOTEAT_H

#include "mlir/IR/Diagnostics.h"

namespace ashlar {

/// An error with a note at the other place that it speaks of:
/// `return noteAt(op.emitError("..."), other.getLoc(), "the other is here");`
inline mlir::InFlightDiagnostic noteAt(mlir::InFlightDiagnostic &&error,
                                       mlir::Location place,
                                       const llvm::Twine &note) {
  error.attachNote(place) << note;
  return std::move(error);
}

} // namespace ashlar

#endif // ASHLAR_SUPPORT_NOTEAT_H
