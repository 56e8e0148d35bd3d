// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TRANSFORMS_SIMT_REDUCTIONPLAN_H
#define ASHLAR_LIB_TRANSFORMS_SIMT_REDUCTIONPLAN_H

#include "Share.h"
#include "ThreadValues.h"

namespace ashlar::simt {

/// How threads come to the results of a reduction, from what their shares say:
/// what each combines by itself, which lanes have parts of the same results,
/// and where in memory goes what is left then.
class ReductionPlan {
public:
  /// What a thread has of one result.
  struct Part {
    llvm::SmallVector<int64_t> elements; ///< of its own, by number
    /// Which result, on each thread; `none`: it has nothing. Empty: unknown.
    std::vector<int64_t> results;
    /// Bits of a lane's number along which all have parts of the same.
    int64_t lanes = 0;
  };

  /// Writes where the thread's elements lie.
  ReductionPlan(tile::ReduceOp op, const Threads &threads,
                mlir::ImplicitLocOpBuilder &b);

  int64_t countResults();
  int64_t countTerms();
  /// For each element that a thread has of the result the part that is all of
  /// it already; nullopt: some are elsewhere.
  std::optional<llvm::SmallVector<int64_t>>
  findAtHand(const Share &to, mlir::ImplicitLocOpBuilder &b);

  llvm::SmallVector<llvm::SmallVector<mlir::Value>> points; ///< of elements
  llvm::SmallVector<mlir::Value> conditions; ///< under which they exist
  /// What an element that does not exist may be; null: nothing, and both sides
  /// of a combination may not change places.
  mlir::TypedAttr neutral;
  llvm::SmallVector<Part> parts;
  int64_t left = 1; ///< parts of each result, lanes of a group combined
  int64_t step = 1; ///< terms of a result between those

private:
  static constexpr int64_t none = -1;

  bool number(llvm::ArrayRef<mlir::Value> point, bool ofTerms,
              std::vector<int64_t> &all);
  bool locate(llvm::ArrayRef<mlir::Value> point, mlir::Value condition,
              std::vector<int64_t> &result, std::vector<int64_t> &term);
  bool locateAll();
  static bool merge(std::vector<int64_t> &x, const std::vector<int64_t> &y);
  bool formParts();
  void joinLanes(Part &part);
  bool layOut();
  void takeElements();

  tile::ReduceOp op;
  const Threads &threads;
  ThreadValues values;
  llvm::ArrayRef<int64_t> shape;
  llvm::SmallVector<std::vector<int64_t>> results, terms; ///< of each element
};

} // namespace ashlar::simt

#endif // ASHLAR_LIB_TRANSFORMS_SIMT_REDUCTIONPLAN_H
