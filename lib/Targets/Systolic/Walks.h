// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ranges of numbers written with digits, and where they lie in memory and on
// chip. The rows of an operand are counted over several dims of a contraction;
// a range of them is a few boxes, each of which a DMA command can walk.
#ifndef ASHLAR_LIB_TARGETS_SYSTOLIC_WALKS_H
#define ASHLAR_LIB_TARGETS_SYSTOLIC_WALKS_H

#include "systolic/StreamBuilder.h"

namespace ashlar::systolic {

/// One digit: how many values it has, and how far apart they lie.
struct Digit {
  int64_t size;
  int64_t bytes; ///< in memory; for runs, elements
  int64_t rows;  ///< on chip
};

/// Part of a range: the first number in it, where that lies, and levels of
/// rows from there, innermost first.
struct Box {
  int64_t first;
  int64_t bytes, rows;
  std::vector<Level> levels;

  int64_t count() const;
};

/// [begin, end) of the numbers with these digits, outermost first.
std::vector<Box> boxesOf(std::vector<Digit> digits, int64_t begin, int64_t end);

/// Levels without those of one row, and with those joined that continue each
/// other.
std::vector<Level> joinLevels(const std::vector<Level> &levels);

/// Numbers whose elements follow each other.
struct Run {
  int64_t first, length;
  int64_t offset; ///< of the first one's element
};

/// [begin, end) as runs; `bytes` of the digits are elements.
std::vector<Run> runsOf(const std::vector<Digit> &digits, int64_t begin,
                        int64_t end);

} // namespace ashlar::systolic

#endif // ASHLAR_LIB_TARGETS_SYSTOLIC_WALKS_H
