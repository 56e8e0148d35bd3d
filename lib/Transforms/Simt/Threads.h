// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TRANSFORMS_SIMT_THREADS_H
#define ASHLAR_LIB_TRANSFORMS_SIMT_THREADS_H

#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace ashlar::simt {

/// The address space of memory that a workgroup's threads share, as LLVM's
/// targets number it.
constexpr int64_t workgroupSpace = 3;

/// On what only the first part of a kernel that follows others needs, or only
/// the last: "begin" and "end". What stands between them goes on from part to
/// part by itself.
constexpr llvm::StringLiteral onceAttrName = "tile.once";

/// On steps that go on behind what follows them.
constexpr llvm::StringLiteral asynchronousAttrName = "tile.asynchronous";

/// Who computes a kernel together.
struct Threads {
  int64_t lanes;      ///< of one group
  int64_t count;      ///< of all groups
  mlir::Value number; ///< of this one, from 0 on
  /// Whether lanes of a group can read each other's values.
  bool shuffles = false;
  /// Elements side by side that a thread should have, a power of two.
  int64_t piece = 1;
  /// Whether they copy 4 bytes each that end later, to neighbouring places.
  bool copyWords = false;
};

/// Turns rings, copies, waits and releases into memory of the workgroup, loops
/// over all threads and barriers. Emits an error where a copy is none of
/// theirs.
/// Rings between roles are joined by barriers of their slots; `maps` are the
/// kernel's tensor maps, to which those of their copies are added.
mlir::LogicalResult shareRings(mlir::Operation *kernel, const Threads &threads,
                               llvm::SmallVectorImpl<mlir::Attribute> &maps);

class BoxStores;

/// Turns accumulators into the values that a thread has of them, some of which
/// leave as `stores` says.
mlir::LogicalResult distributeAccumulators(mlir::Operation *kernel,
                                           const Threads &threads,
                                           const BoxStores &stores);

} // namespace ashlar::simt

#endif // ASHLAR_LIB_TRANSFORMS_SIMT_THREADS_H
