// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a systolic machine makes of a contraction that the shared analysis has
// read: operands on chip or in a binding, an epilogue of vector operations, and
// several results in one row. Rewrites of it add dims and exchange operands.
#ifndef ASHLAR_LIB_TARGETS_SYSTOLIC_CONTRACTION_H
#define ASHLAR_LIB_TARGETS_SYSTOLIC_CONTRACTION_H

#include "Walks.h"
#include "ashlar/Analysis/ContractDims.h"
#include "ashlar/Analysis/LinearOperand.h"

#include <optional>

namespace ashlar::systolic {

/// Of an element in memory.
enum class Element { BF16, F32, S8, S32 };

inline int64_t bytesOf(Element element) {
  return element == Element::S8 ? 1 : element == Element::BF16 ? 2 : 4;
}
/// Whether it lies in the accumulator, once it is on chip.
inline bool isWide(Element element) { return bytesOf(element) == 4; }

/// A value between contractions that stays in the scratchpad: a plane of rows
/// for each `dim` of its columns.
struct KeptValue {
  int64_t first = 0;   ///< element of its binding
  int64_t columns = 0; ///< that follow each other in memory
  int64_t rows = 0;    ///< of a plane, those of margins too
  int64_t place = 0;   ///< of its first row
  /// It lies in memory, too: not all that read it do so on chip.
  bool isStored = false;

  /// Where the row of an element lies.
  int64_t rowOf(int64_t element, int64_t dim) const {
    int64_t at = element - first;
    return place + at % columns / dim * rows + at / columns;
  }
};

/// An operand: element strides, in elements, by dim of the contraction.
struct Access {
  uint32_t binding = 0;
  Element element = Element::F32;
  int64_t offset = 0; ///< of the element where all dims are 0
  llvm::SmallVector<int64_t> strides;
  /// On chip, where it is read and written without a transfer; else null.
  const KeptValue *kept = nullptr;
};

/// How far a value of the epilogue reaches.
enum class Reach {
  Number,  ///< one immediate
  Element, ///< one element of memory
  Row,     ///< a row stands for all rows: a bias
  Column,  ///< a column stands for all columns
  Each
};

inline bool hasRows(Reach reach) {
  return reach == Reach::Each || reach == Reach::Column;
}
inline bool hasColumns(Reach reach) {
  return reach == Reach::Each || reach == Reach::Row;
}

/// A value of the epilogue: the sums, an operand, a number, or the result of
/// one vector instruction on two others.
struct EpilogueValue {
  enum Kind { Sum, Operand, Number, Result } kind = Sum;
  Reach reach = Reach::Each;
  bool isInteger = false; ///< s32, not f32
  /// Where it must lie to have been rounded to bf16, or to s8.
  bool isNarrow = false;
  unsigned operand = 0;
  double number = 0;
  uint8_t funct = 0;
  bool actsOnIntegers = false; ///< type of the instruction
  int left = -1, right = -1;   ///< values
};

struct Epilogue {
  std::vector<EpilogueValue> values; ///< in order; the first is the sum
  int result = 0;                    ///< what is stored
  /// An operand that the sums start from; -1: they start from zero.
  int bias = -1;
  /// Of a sum of two operands, the one that is not A; -1: it is no such.
  int addend = -1;
  /// On the way out.
  bool relu = false;
  float scale = 1;
};

/// What combines the values of a row. The epilogue leaves one value of each
/// element in its block; from there on all blocks of a row are needed.
struct Rows {
  /// In order; the first is the block's, others are numbers, operands that
  /// reach over rows, and results. Reductions' left operands are of each
  /// element.
  std::vector<EpilogueValue> values;
  int result = 0; ///< what is stored

  bool exist() const { return !values.empty(); }
};

inline bool isReduction(const EpilogueValue &value) {
  return value.kind == EpilogueValue::Result &&
         (value.funct == ASHLAR_SYSTOLIC_ROW_MAXIMUM ||
          value.funct == ASHLAR_SYSTOLIC_ROW_SUM);
}

/// Elements of the result that no sum is for.
struct Margin {
  int64_t offset;            ///< in elements
  std::vector<Digit> digits; ///< outermost first, in elements
};

/// Several results in one row, by packColumns: the first dim of N says which. B
/// is that of the contraction before, and zero where a result has no tap.
/// Lanes keep B and have no taps here: only the number of results is set.
struct SideBySide {
  unsigned dim = 0;    ///< of K: taps of all results
  int64_t taps = 0;    ///< of one of them; 0: results are alone, or lanes
  int64_t step = 0;    ///< from one's taps to the next one's
  int64_t columns = 0; ///< of one of them
  int64_t results = 1;
};

/// Dims that neither operand depends on are of M: what only the epilogue reads
/// is as good as a row.
struct Contraction : ContractDims {
  Access a, b, result;
  std::vector<Access> operands;          ///< of the epilogue
  std::vector<LinearIndex> aCoordinates; ///< by dim of A, outermost first
  Epilogue epilogue;
  Rows rows;
  /// Where the result is stored once more, before it is rounded.
  std::optional<Access> unrounded;
  std::vector<Margin> margins;
  double pad = 0;
  /// N moves A too: lanes of the vector unit, each with its own terms.
  bool isDepthwise = false;
  /// All elements of B are one, there is one term, and the machine adds on the
  /// way in (writeSum): of N is what lies side by side.
  bool isSum = false;
  /// Of K: each of its values has its own rows of A on chip, by packLanes; -1:
  /// none.
  int planes = -1;
  /// A and B have changed places, by exchangeRoles.
  bool isExchanged = false;
  /// Sums are known to fit in so many bits; 0: nothing is known.
  int64_t sumBits = 0;
  SideBySide sideBySide;

  /// Digits of some dims for an operand, in elements; rows on chip follow each
  /// other.
  std::vector<Digit> digits(llvm::ArrayRef<unsigned> dims,
                            const Access &access) const {
    std::vector<Digit> result(dims.size());
    int64_t inner = 1;
    for (size_t i = dims.size(); i-- > 0;) {
      result[i] = {sizes[dims[i]], access.strides[dims[i]], inner};
      inner *= sizes[dims[i]];
    }
    return result;
  }
  /// Where number `flat` of some dims lies, in elements.
  int64_t offsetOf(llvm::ArrayRef<unsigned> dims, const Access &access,
                   int64_t flat) const {
    int64_t offset = 0;
    for (size_t i = dims.size(); i-- > 0;) {
      offset += flat % sizes[dims[i]] * access.strides[dims[i]];
      flat /= sizes[dims[i]];
    }
    return offset;
  }
};

} // namespace ashlar::systolic

#endif // ASHLAR_LIB_TARGETS_SYSTOLIC_CONTRACTION_H
