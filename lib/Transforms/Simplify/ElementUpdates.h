// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tensor of which single elements are replaced, at places that are known when
// the model runs: what a scatter is after import.
#ifndef ASHLAR_LIB_TRANSFORMS_SIMPLIFY_ELEMENTUPDATES_H
#define ASHLAR_LIB_TRANSFORMS_SIMPLIFY_ELEMENTUPDATES_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace ashlar {

/// A nest of loops that carries one tensor and changes elements of it. The
/// tensor is `before`, with its dims moved: dim i of what is carried is dim
/// order[i] of `before`; what comes out is moved back.
///
///   %0 = linalg.transpose ins(%before) permutation = [2, 0, 1]
///   %1 = scf.for ... iter_args(%c = %0) { ... tensor.insert %x into %c[...] }
///   %after = linalg.transpose ins(%1) permutation = [1, 2, 0]
struct ElementUpdates {
  mlir::scf::ForOp loop;
  llvm::SmallVector<int64_t> order;
  /// What is carried, on its way through the loops.
  llvm::SmallVector<mlir::Value> carried;
  /// tensor.extract and tensor.insert of it.
  llvm::SmallVector<mlir::Operation *> accesses;
};

/// How `after` comes out of `before`; nothing: otherwise. That both may have
/// one place is for the caller to find, since others may read `before`.
std::optional<ElementUpdates> matchElementUpdates(mlir::Value after,
                                                  mlir::Value before);

/// Lets the loops change `place` itself, its dims in their own order, whose
/// leading part is what they changed before. Returns what they make of it.
mlir::Value updateInPlace(const ElementUpdates &updates, mlir::Value place);

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_SIMPLIFY_ELEMENTUPDATES_H
