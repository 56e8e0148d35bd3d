// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_ANALYSIS_STOREBOX_H
#define ASHLAR_ANALYSIS_STOREBOX_H

#include <algorithm>
#include <cstdint>

/// What a group of lanes hands to an engine that takes results, of elements of
/// 16 bits: as many rows as a fragment has, and columns that a swizzle repeats
/// after.
namespace ashlar::store_box {

constexpr int64_t rows = 16, columns = 64, elementBytes = 2;
constexpr int64_t elements = rows * columns, bytes = elements * elementBytes;
/// Of a group: while one is read, the next is written.
constexpr int64_t mostSlots = 2;

/// Boxes for each of so many groups of lanes in what is left of a workgroup's
/// memory; 0: there is no room.
inline int64_t slotsIn(int64_t left, int64_t groups) {
  return std::clamp<int64_t>(left / (groups * bytes), 0, mostSlots);
}

} // namespace ashlar::store_box

#endif // ASHLAR_ANALYSIS_STOREBOX_H
