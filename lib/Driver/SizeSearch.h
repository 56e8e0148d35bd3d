// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What could be asked for instead of ranges that are refused.
#ifndef ASHLAR_LIB_DRIVER_SIZESEARCH_H
#define ASHLAR_LIB_DRIVER_SIZESEARCH_H

#include "ashlar/Driver/CompileOptions.h"
#include <functional>

namespace ashlar {

struct SizeTrials {
  /// Whether one module can be made for all sizes of these ranges.
  std::function<bool(const std::vector<SizeRange> &)> works;
  /// Whether the model can be compiled at one value of each symbol.
  std::function<bool(const std::vector<int64_t> &)> compiles;
  /// Numbers that sizes may be divided by, the least first.
  std::vector<int64_t> divisors = {};
  /// Whether a symbol's numbers in the model grow evenly from `step` to `step`
  /// below one value of each: which is soon found out.
  std::function<bool(const std::vector<int64_t> &, size_t symbol, int64_t step)>
      growsEvenly = {};
};

/// The largest ranges within `refused`, in the same order, that were found to
/// work: all sizes between two ends, which are bisected, or multiples of a
/// power of two or of a divisor, whichever are more, or much further apart. One
/// symbol is opened after the other, the rest fixed at one size. Empty where no
/// symbol can be open.
std::vector<SizeRange> findWorkingRanges(const std::vector<SizeRange> &refused,
                                         const SizeTrials &trials);

} // namespace ashlar

#endif // ASHLAR_LIB_DRIVER_SIZESEARCH_H
