// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// When a kernel's own memory is in use.
#ifndef ASHLAR_TRANSFORMS_TILE_MEMORYUSES_H
#define ASHLAR_TRANSFORMS_TILE_MEMORYUSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/DenseMap.h"

namespace ashlar {

/// Bytes of an allocation at its largest, with all sizes that callers choose;
/// none: no number bounds them.
std::optional<int64_t> largestBytes(mlir::memref::AllocOp op);

/// Gives allocations whose sizes are values so many bytes, of which they become
/// views.
void boundAllocations(mlir::func::FuncOp function);

/// An allocation of a known size, in use from time `lower` to time `upper`
/// (exclusive).
struct MemoryUse {
  mlir::memref::AllocOp op;
  int64_t bytes, lower, upper;
};

/// The allocations of a function in its order. An op has a time of its own;
/// what is used anywhere in a loop that does not allocate it is in use for as
/// long as the loop lasts.
class MemoryUses {
public:
  explicit MemoryUses(mlir::func::FuncOp function);

  llvm::ArrayRef<MemoryUse> all() const { return uses; }
  /// Bytes that are in use at an op, each allocation rounded up to `alignment`.
  int64_t bytesAt(mlir::Operation *op, int64_t alignment) const;

private:
  int64_t lastUse(mlir::memref::AllocOp op) const;

  /// When an op begins and when its regions end.
  llvm::DenseMap<mlir::Operation *, std::pair<int64_t, int64_t>> times;
  llvm::SmallVector<MemoryUse> uses;
};

} // namespace ashlar

#endif // ASHLAR_TRANSFORMS_TILE_MEMORYUSES_H
