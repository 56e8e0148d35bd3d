// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TRANSFORMS_SIMT_ROWDRAIN_H
#define ASHLAR_LIB_TRANSFORMS_SIMT_ROWDRAIN_H

#include "Share.h"
#include "ThreadWriter.h"

namespace ashlar::simt {

/// A drain of 16-bit elements whose fragments give each of four lanes two
/// neighbours of a row: the four exchange what they have of as many fragments
/// side by side, after which each has 16 bytes of one, and stores them as one.
class RowDrain {
public:
  RowDrain(tile::DrainOp op, const Share &share, const Threads &threads);

  /// Whether the drain is such, and rows in memory begin and end where 16 bytes
  /// do.
  bool isTaken();

  /// What is stored of value i of the accumulator, whose place is known.
  using ValueAt = llvm::function_ref<mlir::Value(
      int64_t i, llvm::ArrayRef<mlir::Value> point)>;
  void write(ThreadWriter &w, ValueAt valueAt);
  /// Two neighbours as a word, zeros where the thread has none.
  mlir::Value wordAt(ThreadWriter &w, int64_t i, ValueAt valueAt);

private:
  mlir::Value conditionAt(ThreadWriter &w, int64_t i,
                          llvm::ArrayRef<mlir::Value> point);
  /// Of words of fragments 0 to 3 of each lane: those of lanes 0 to 3 of the
  /// fragment that has this lane's number among the four.
  void exchange(ThreadWriter &w, llvm::MutableArrayRef<mlir::Value> words);
  void store(ThreadWriter &w, int64_t i, llvm::ArrayRef<mlir::Value> words);

  tile::DrainOp op;
  const Share &share;
  const Threads &threads;
  tile::AccType type;
  mlir::AffineMap map; ///< of what is stored
};

} // namespace ashlar::simt

#endif // ASHLAR_LIB_TRANSFORMS_SIMT_ROWDRAIN_H
