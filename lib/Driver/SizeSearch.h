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
};

/// The largest ranges within `refused`, in the same order, that were found to
/// work: all sizes between two ends, which are bisected, or multiples of a
/// power of two, whichever are more. One symbol is opened after the other, the
/// rest fixed at one size. Empty where no symbol can be open.
std::vector<SizeRange> findWorkingRanges(const std::vector<SizeRange> &refused,
                                         const SizeTrials &trials);

} // namespace ashlar

#endif // ASHLAR_LIB_DRIVER_SIZESEARCH_H
