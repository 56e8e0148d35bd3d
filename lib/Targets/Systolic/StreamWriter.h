// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes transfers, folds and vector operations of any size as commands that
// the machine takes, with the configuration that they need and no other.
#ifndef ASHLAR_LIB_TARGETS_SYSTOLIC_STREAMWRITER_H
#define ASHLAR_LIB_TARGETS_SYSTOLIC_STREAMWRITER_H

#include "Walks.h"

namespace ashlar::systolic {

/// Rows between memory and chip.
struct Transfer {
  uint64_t memory = 0;  ///< as ashlar_systolic_address; 0: zeros
  uint32_t place = 0;   ///< of the first row
  uint32_t columns = 0; ///< of all blocks together
  uint32_t firstColumn = 0;
  uint32_t blockStride = 0; ///< in rows; of no interest with one block
  uint32_t elementBytes = 0;
  bool isWidened = false;    ///< inputs, into the accumulator
  std::vector<Level> levels; ///< innermost first; none: one row
};

/// One stationary matrix and the rows that go over it.
struct Fold {
  uint32_t array = 0;
  uint32_t b = 0; ///< its first row in the scratchpad
  uint32_t depth = 0, columns = 0;
  bool isTransposed = false;
  uint32_t a = 0; ///< first row in the scratchpad
  /// A's rows there are terms: blocks of results, `depth` rows apart.
  bool aIsTransposed = false;
  /// B goes by as A does, and what stays are the sums.
  bool isOutputStationary = false;
  std::vector<Level> rows;
  uint32_t c = 0; ///< first row in the accumulator, with what it does there
};

/// Rows of a vector instruction's operand: from where, how far apart.
struct VectorOperand {
  uint32_t place = 0;
  int32_t step = 1;
  /// Where one step does not say it; at most a command's rows.
  std::vector<Level> levels = {};
};

class StreamWriter {
public:
  StreamWriter(const Machine &machine, StreamBuilder &builder)
      : machine(machine), b(builder) {}

  bool isExtended() const { return machine.flags & ASHLAR_SYSTOLIC_EXTENDED; }
  bool isInterlocked() const {
    return machine.flags & ASHLAR_SYSTOLIC_INTERLOCKED;
  }

  /// The transfer as pieces that are one command each.
  std::vector<Transfer> split(const Transfer &transfer) const;
  /// The fold in pieces likewise; all but the first go over the same matrix, if
  /// that is what stays.
  std::vector<Fold> split(const Fold &fold) const;

  /// Of mvin `id`.
  void load(unsigned id, const Transfer &transfer);
  void store(const Transfer &transfer, bool relu, float scale);
  /// One piece. Weight-stationary, `isFirst`: brings its matrix.
  /// Output-stationary, its sums start with the first, and leave with the last
  /// of all pieces for the same results.
  void foldPiece(const Fold &piece, bool isFirst, bool isLast);

  /// `walk`, if there is any: how the result's rows lie.
  void vector(uint8_t funct, bool isInteger, Matrix result, VectorOperand left,
              VectorOperand right, uint32_t rightMode,
              const std::vector<Level> &walk = {});
  void vectorImmediate(uint8_t funct, bool isInteger, Matrix result,
                       VectorOperand left, double immediate,
                       const std::vector<Level> &walk = {});

  /// Nothing on a machine that finds hazards by itself.
  void sync(uint32_t from, uint32_t to) {
    if (!isInterlocked())
      b.sync(from, to);
  }

  /// What the machine has no command for; empty: nothing came up.
  const std::string &error() const { return message; }

  const Machine &machine;

private:
  struct LoadState {
    bool isKnown = false, isWidened = false;
    uint64_t stride = 0;
    uint32_t blockStride = 0;
  };

  void configureStream(uint32_t stream, const std::vector<Level> &levels);
  void configureColumns(uint32_t index, uint32_t first, uint32_t blockStride);
  void configureVector(bool isInteger, uint32_t rightMode);
  void configureOperand(uint32_t stream, const VectorOperand &operand,
                        uint32_t rows);
  void splitRows(Transfer transfer, std::vector<Transfer> &pieces) const;

  StreamBuilder &b;
  std::string message;
  LoadState loads[3];
  std::vector<Level> streams[ASHLAR_SYSTOLIC_STREAMS];
  uint32_t firstColumns[4] = {};
  uint32_t storeBlockStride = 0;
  bool storeKnown = false, storeRelu = false;
  float storeScale = 1;
  uint32_t storeStride = 0;
  bool executeKnown = false, isTransposed = false;
  bool aIsTransposed = false, isOutputStationary = false;
  uint32_t aStride = 1;
  uint32_t vectorType = ASHLAR_SYSTOLIC_F32;
  uint32_t vectorRight = ASHLAR_SYSTOLIC_EACH_ROW;
};

} // namespace ashlar::systolic

#endif // ASHLAR_LIB_TARGETS_SYSTOLIC_STREAMWRITER_H
