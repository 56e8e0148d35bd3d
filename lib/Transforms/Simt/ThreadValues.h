// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TRANSFORMS_SIMT_THREADVALUES_H
#define ASHLAR_LIB_TRANSFORMS_SIMT_THREADVALUES_H

#include "Threads.h"
#include "llvm/ADT/DenseMap.h"
#include <vector>

namespace ashlar::simt {

/// What values that depend on nothing but a thread's number are, thread by
/// thread: what a Share writes for one thread, known of all of them.
class ThreadValues {
public:
  explicit ThreadValues(const Threads &threads) : threads(threads) {}

  /// One of each thread, until the next call; null: it depends on something
  /// else.
  const std::vector<int64_t> *of(mlir::Value value);

private:
  bool evaluate(mlir::Operation *op, mlir::Value value,
                std::vector<int64_t> &all);

  const Threads &threads;
  llvm::DenseMap<mlir::Value, std::vector<int64_t>> known;
};

} // namespace ashlar::simt

#endif // ASHLAR_LIB_TRANSFORMS_SIMT_THREADVALUES_H
