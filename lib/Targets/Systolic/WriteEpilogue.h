// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What happens to sums before they leave: instructions of the vector unit.
#ifndef ASHLAR_LIB_TARGETS_SYSTOLIC_WRITEEPILOGUE_H
#define ASHLAR_LIB_TARGETS_SYSTOLIC_WRITEEPILOGUE_H

#include "Steps.h"

namespace ashlar::systolic {

/// An operand that reaches over rows lies in rows of its own: one for each
/// block of columns, or one element, of each batch or for all of them.
int64_t rowsOfConstant(const ChipLayout &layout, const EpilogueValue &value);
std::vector<Transfer> loadsOfConstant(const ChipLayout &layout,
                                      const EpilogueValue &value,
                                      uint32_t place);
/// Which of them a block reads.
int64_t rowOfConstant(const ChipLayout &layout, const EpilogueValue &value,
                      const ResultBlock &block);

/// How an instruction of that reach reads its right operand.
uint32_t rightMode(Reach reach, Reach right);

/// How rows of a box follow each other in a value on chip; none: directly.
std::vector<Level> rowsOfKept(const Box &box);

class EpilogueWriter {
public:
  /// Takes rows at the beginning of `areas` in both memories.
  EpilogueWriter(const ChipLayout &layout, StreamWriter &writer,
                 const Areas &areas);

  bool isEmpty() const;
  /// With what is taken.
  const Areas &areas() const { return taken; }
  /// Rows that stand for all: biases.
  std::vector<Transfer> constantLoads() const;
  void loadConstants();
  /// Works on the block in place, and copies it to where it stays on chip
  /// unless rows are to be combined first.
  void write(const ResultBlock &block);
  void keep(const ResultBlock &block);
  /// What is around a result that stays on chip.
  void writeMargins();

  static constexpr unsigned mvin = 2; ///< that it loads by

private:
  void assignBuffers();
  const Access *keptOperand(int value) const;
  VectorOperand operandOf(int value, const ResultBlock &block, int64_t piece,
                          int64_t first, int64_t rows) const;
  void writeRows(const ResultBlock &block, int64_t first, int64_t rows);
  void writeValue(int value, const ResultBlock &block, int64_t piece,
                  int64_t first, int64_t rows);

  const ChipLayout &layout;
  const Contraction &contraction;
  StreamWriter &writer;
  Areas taken;
  int64_t pieceRows = 0;
  /// By value: which buffer holds a result (0: the block itself, 1 and on:
  /// temporary rows of the accumulator); narrow ones have their own.
  std::vector<int> buffers;
  std::vector<uint32_t> wideBuffers, narrowBuffers;
  /// By value: where its rows that stand for all lie.
  std::vector<uint32_t> constants;
};

} // namespace ashlar::systolic

#endif // ASHLAR_LIB_TARGETS_SYSTOLIC_WRITEEPILOGUE_H
