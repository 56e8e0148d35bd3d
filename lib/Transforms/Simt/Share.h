// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TRANSFORMS_SIMT_SHARE_H
#define ASHLAR_LIB_TRANSFORMS_SIMT_SHARE_H

#include "Threads.h"

namespace ashlar::simt {

/// Which elements of an accumulator a thread has: lane l of a group those at l,
/// l + lanes and so on of the group's part, counted row by row. Where no groups
/// are named, all threads are one.
class Share {
public:
  Share(tile::AccType type, const Threads &threads);

  /// Elements of a thread, those that do not exist included.
  int64_t count() const;
  /// Where element i lies in the accumulator.
  llvm::SmallVector<mlir::Value> point(mlir::ImplicitLocOpBuilder &b,
                                       int64_t i) const;
  /// Whether the thread has an element i; null: all threads do.
  mlir::Value exists(mlir::ImplicitLocOpBuilder &b, int64_t i) const;
  /// The point where it exists, elsewhere the first: to be read without harm.
  llvm::SmallVector<mlir::Value> safePoint(mlir::ImplicitLocOpBuilder &b,
                                           int64_t i) const;

private:
  int64_t lanes() const;
  int64_t elements() const;
  int64_t groupCount() const;
  mlir::Value laneNumber(mlir::ImplicitLocOpBuilder &b) const;
  /// Of the group's part.
  llvm::SmallVector<mlir::Value> begin(mlir::ImplicitLocOpBuilder &b) const;

  llvm::SmallVector<int64_t> shape, part;
  const Threads &threads;
};

} // namespace ashlar::simt

#endif // ASHLAR_LIB_TRANSFORMS_SIMT_SHARE_H
