// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where no one form serves all sizes of some ranges: parts of them that have
// one each.
#ifndef ASHLAR_LIB_DRIVER_SIZEPIECES_H
#define ASHLAR_LIB_DRIVER_SIZEPIECES_H

#include "ashlar/Driver/CompileOptions.h"
#include <functional>
#include <optional>

namespace ashlar {

/// Where ranges fall into two: the sizes of one symbol below `first`, and those
/// from there on.
struct SizeCut {
  size_t symbol;
  int64_t first;
};

/// What came of trying one form for all sizes of some ranges.
struct SizeTrial {
  enum Outcome {
    Works,
    Differs, ///< the sizes are of several forms
    Fails    ///< no form helps
  };
  Outcome outcome;
  std::optional<SizeCut> cut = {}; ///< of what differs, if that is known
};

/// Zero is a part of its own: kernels have something to do.
std::optional<SizeCut> cutAtZero(const std::vector<SizeRange> &ranges);

/// How many sizes there are, of all symbols together; at most `most`.
int64_t countSizes(const std::vector<SizeRange> &ranges, int64_t most);

/// "N=2..8,W=1".
std::string spellRanges(const std::vector<SizeRange> &ranges);

/// Calls `tries` for parts of `whole`, of which it is known what came of it,
/// until those that work hold all sizes; they do not overlap, and the first of
/// them holds the largest sizes. Parts that differ in an unknown way are cut in
/// halves. False: one part fails, or there would be more than `most`; so there
/// are fewer than twice as many tries.
bool cutIntoPieces(
    const std::vector<SizeRange> &whole, const SizeTrial &known, unsigned most,
    const std::function<SizeTrial(const std::vector<SizeRange> &)> &tries);

} // namespace ashlar

#endif // ASHLAR_LIB_DRIVER_SIZEPIECES_H
