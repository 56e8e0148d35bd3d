// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In which order should operations run, that the least memory is alive at the
// worst moment? Knows nothing of IR: operations read and write buffers.
//
// A state of the search is the set of operations that have run; what is alive
// follows from it. States are visited by the peak on the way to them, lowest
// first, so the first one that holds all operations ends a best order. Two
// things keep the states few. An operation that leaves no more alive than
// there was, and does not raise the peak meanwhile, can always go first: any
// order with it later is as good with it now. And no order goes below what its
// neediest operation takes, or what is alive in the end. Where the states are
// too many nevertheless, a search goes on with the best of each number of
// operations.
#ifndef ASHLAR_LIB_TRANSFORMS_SCHEDULE_OPERATIONORDER_H
#define ASHLAR_LIB_TRANSFORMS_SCHEDULE_OPERATIONORDER_H

#include <cstdint>
#include <optional>
#include <vector>

namespace ashlar {

struct OrderProblem {
  struct Buffer {
    int64_t bytes = 0;
    /// Alive after the last operation.
    bool isKept = false;
  };
  struct Operation {
    std::vector<int> reads, writes; ///< buffers; each at most once
    /// Of those read, the ones whose place the first result may take if nobody
    /// reads them any more.
    std::vector<int> takesOver;
  };
  /// Buffers that no operation writes are alive from the start.
  std::vector<Buffer> buffers;
  std::vector<Operation>
      operations; ///< each after those whose results it reads
};

struct OperationOrder {
  std::vector<int> order;   ///< numbers of operations
  int64_t peak = 0;         ///< bytes alive at the worst moment
  int64_t originalPeak = 0; ///< of the order given
  bool isExact = false;     ///< no order has a lower peak
  int64_t work = 0;         ///< states looked at times operations
};

/// The peak of one order.
int64_t peakOf(const OrderProblem &problem, const std::vector<int> &order);

/// Bytes alive during each operation of `order`.
std::vector<int64_t> loadsOf(const OrderProblem &problem,
                             const std::vector<int> &order);

/// A buffer that is let go and computed again later.
struct Rematerialization {
  int writer;               ///< the operation to repeat, of one result
  int before;               ///< the operation that wants it first
  std::vector<int> readers; ///< those that read the second one
};

/// The repetition of one of `repeatable` operations that brings `order` nearest
/// to a peak of `target`; none where none brings it nearer.
std::optional<Rematerialization>
chooseRematerialization(const OrderProblem &problem,
                        const std::vector<int> &order,
                        const std::vector<bool> &repeatable, int64_t target);

/// The order given, if none with a lower peak is found. `mostWork` limits the
/// states looked at times the number of operations.
OperationOrder orderForLowestPeak(const OrderProblem &problem,
                                  int64_t mostWork = 30'000'000);

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_SCHEDULE_OPERATIONORDER_H
