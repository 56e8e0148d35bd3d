// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TRANSFORMS_SIMT_SHARE_H
#define ASHLAR_LIB_TRANSFORMS_SIMT_SHARE_H

#include "Threads.h"

namespace ashlar::simt {

/// Which elements of an accumulator a thread has: lane l of a group those at l,
/// l + lanes and so on of the group's part, counted row by row; or those that a
/// unit's fragment says. Where no groups are named, all threads are one, and l
/// and the others may be the numbers of pieces of a row instead.
class Share {
public:
  Share(tile::AccType type, const Threads &threads);

  /// Elements of a thread, those that do not exist included.
  int64_t count() const;
  /// Of a thread's elements so many each lie side by side, where one does.
  int64_t together() const { return piece; }
  /// Where element i lies in the accumulator.
  llvm::SmallVector<mlir::Value> point(mlir::ImplicitLocOpBuilder &b,
                                       int64_t i) const;
  /// Whether the thread has an element i; null: all threads do.
  mlir::Value exists(mlir::ImplicitLocOpBuilder &b, int64_t i) const;
  /// The point where it exists, elsewhere the first: to be read without harm.
  llvm::SmallVector<mlir::Value> safePoint(mlir::ImplicitLocOpBuilder &b,
                                           int64_t i) const;

  /// Whether elements i and i + 1, i even, are neighbours along the last dim,
  /// at a multiple of two, and both exist or neither.
  bool hasPairs() const {
    return fragment && fragment.getRegisters().size() >= 2 &&
           fragment.getRegisters()[0] == 0 && fragment.getRegisters()[1] == 1;
  }
  /// Which value of the accumulator of rows alone is of the row of element i;
  /// of a fragment.
  int64_t rowAlone(int64_t i) const;
  /// The thread's number in its group.
  mlir::Value laneNumber(mlir::ImplicitLocOpBuilder &b) const;
  /// Of the group's part.
  llvm::SmallVector<mlir::Value> begin(mlir::ImplicitLocOpBuilder &b) const;

private:
  int64_t lanes() const;
  int64_t elements() const;
  int64_t groupCount() const;
  llvm::SmallVector<mlir::Value> inFragments(mlir::ImplicitLocOpBuilder &b,
                                             int64_t i) const;
  /// The point of an element of a piece, if its first is at `place`.
  llvm::SmallVector<mlir::Value> inPiece(mlir::ImplicitLocOpBuilder &b,
                                         llvm::SmallVector<mlir::Value> place,
                                         int64_t i) const;

  llvm::SmallVector<int64_t> shape, part;
  int64_t piece = 1; ///< elements of a row that are one thread's
  const Threads &threads;
  tile::FragmentAttr fragment; ///< null: there is none
};

} // namespace ashlar::simt

#endif // ASHLAR_LIB_TRANSFORMS_SIMT_SHARE_H
