// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What combines the values of a row, once all blocks of it have got their
// epilogue: instructions of the vector unit.
#ifndef ASHLAR_LIB_TARGETS_SYSTOLIC_WRITEROWS_H
#define ASHLAR_LIB_TARGETS_SYSTOLIC_WRITEROWS_H

#include "WriteEpilogue.h"

#include <functional>

namespace ashlar::systolic {

class RowsWriter {
public:
  /// Takes rows at the beginning of `areas` in both memories.
  RowsWriter(const ChipLayout &layout, StreamWriter &writer,
             const Areas &areas);

  bool isEmpty() const { return !rows.exist(); }
  /// With what is taken.
  const Areas &areas() const { return taken; }
  /// Rows that stand for all: the scale and the shift of a norm.
  std::vector<Transfer> constantLoads() const;
  /// Works in place on all blocks of some rows, in the order of columns. Calls
  /// `done` as soon as one has its results.
  void write(const std::vector<const ResultBlock *> &blocks,
             const std::function<void(size_t)> &done);

  /// Whether a block's result is written where it stays on chip, not in place.
  bool keeps(const ResultBlock &block) const;

private:
  void placeOperands();
  void placeResults();
  VectorOperand operandOf(int value,
                          const std::vector<const ResultBlock *> &blocks,
                          size_t block) const;
  void writeValue(int value, const std::vector<const ResultBlock *> &blocks,
                  size_t block);

  const ChipLayout &layout;
  const Contraction &contraction;
  const Rows &rows;
  StreamWriter &writer;
  Areas taken;
  int64_t mostRows = 0;
  /// By value: how many reductions lie before it. All blocks get one phase
  /// before the first gets the next.
  std::vector<int> phases;
  int lastPhase = 0;
  /// By value: its first row, and how far that of the next block is behind.
  struct Place {
    bool isInBlock = false;
    uint32_t address = 0;
    int64_t blockStep = 0;
  };
  std::vector<Place> places;
};

} // namespace ashlar::systolic

#endif // ASHLAR_LIB_TARGETS_SYSTOLIC_WRITEROWS_H
