// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_ANALYSIS_STOREBOX_H
#define ASHLAR_ANALYSIS_STOREBOX_H

#include "llvm/ADT/SmallVector.h"
#include <algorithm>
#include <cstdint>
#include <optional>

/// What a group of lanes hands to an engine that takes results, of elements of
/// 16 bits: as many rows as a fragment has, and columns that a swizzle repeats
/// after.
namespace ashlar::store_box {

constexpr int64_t rows = 16, columns = 64, elementBytes = 2;
constexpr int64_t elements = rows * columns, bytes = elements * elementBytes;

/// Of a part whose last dim is columns, and whose rows are counted from the
/// innermost of its other dims on: how long a box is along each, if boxes of
/// consecutive rows and columns make it up.
inline std::optional<llvm::SmallVector<int64_t>>
sizesOf(llvm::ArrayRef<int64_t> part) {
  llvm::SmallVector<int64_t> sizes(part.size(), columns);
  if (part.empty() || part.back() % columns != 0)
    return std::nullopt;
  int64_t left = rows;
  for (size_t d = part.size() - 1; d-- != 0; left /= sizes[d]) {
    sizes[d] = std::min(left, part[d]);
    if (part[d] % sizes[d] != 0 || left % sizes[d] != 0)
      return std::nullopt;
  }
  return left == 1 ? std::optional(std::move(sizes)) : std::nullopt;
}

/// Of a group: while one is read, the next is written.
constexpr int64_t mostSlots = 2;

/// Boxes for each of so many groups of lanes in what is left of a workgroup's
/// memory; 0: there is no room.
inline int64_t slotsIn(int64_t left, int64_t groups) {
  return std::clamp<int64_t>(left / (groups * bytes), 0, mostSlots);
}

} // namespace ashlar::store_box

#endif // ASHLAR_ANALYSIS_STOREBOX_H
