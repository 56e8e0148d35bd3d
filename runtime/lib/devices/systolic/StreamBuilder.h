// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes streams: a member for each instruction, in the order of issue.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_SYSTOLIC_STREAMBUILDER_H
#define ASHLAR_RUNTIME_LIB_DEVICES_SYSTOLIC_STREAMBUILDER_H

#include "Image.h"

#include <cstring>

namespace ashlar::systolic {

/// A matrix on chip: its first row, how many rows and columns.
struct Matrix {
  uint32_t address;       // on chip, with its flags
  uint32_t rows, columns; // of it

  /// As a register of an instruction.
  uint64_t encode() const {
    return ashlar_systolic_matrix(address, rows, columns);
  }
  /// No matrix, of a size all the same.
  static Matrix none(uint32_t rows = 0, uint32_t columns = 0) {
    return {ASHLAR_SYSTOLIC_GARBAGE, rows, columns};
  }
};

/// How many rows one level of an address stream has, and how far apart.
struct Level {
  uint32_t count;    // rows
  int32_t rows;      // on chip
  int64_t bytes = 0; // DMA
};

/// Checks nothing: the decoder does.
class StreamBuilder {
public:
  explicit StreamBuilder(std::string_view name, uint32_t bindings) {
    kernel.name = name;
    kernel.bindings = bindings;
  }

  /// What follows belongs to a new region.
  void region(std::string_view name, uint16_t kind, uint64_t multiplyAdds,
              uint16_t dataflow = ASHLAR_SYSTOLIC_KEEPS_NOTHING) {
    add(ASHLAR_SYSTOLIC_REGION, kernel.regions.size(), 0);
    kernel.regions.push_back({String(name), multiplyAdds, kind, dataflow});
  }

  /// Of preload and compute from now on.
  void configExecute(uint32_t dataflow, uint32_t aStride = 1,
                     uint32_t cStride = 1, uint32_t activation = 0,
                     bool aTransposed = false, bool bTransposed = false,
                     uint32_t shift = 0) {
    add(ASHLAR_SYSTOLIC_CONFIG,
        ashlar_systolic_config_ex1(dataflow, activation, aTransposed,
                                   bTransposed, aStride),
        ashlar_systolic_config_ex2(shift, cStride));
  }
  /// Of mvin (0), mvin2 (1) or mvin3 (2).
  void configLoad(unsigned id, uint64_t strideBytes, uint32_t blockStride,
                  bool narrow = false, float scale = 1, uint32_t pixels = 1) {
    uint64_t rs1 =
        ashlar_systolic_config_ld1(id, narrow, blockStride, bitsOf(scale));
    add(ASHLAR_SYSTOLIC_CONFIG, (rs1 & ~uint64_t(0xff00)) | pixels << 8,
        strideBytes);
  }
  /// Of mvout.
  void configStore(uint32_t strideBytes, uint32_t activation = 0,
                   float scale = 1) {
    add(ASHLAR_SYSTOLIC_CONFIG, ashlar_systolic_config_st1(activation),
        ashlar_systolic_config_st2(strideBytes, bitsOf(scale)));
  }
  /// Innermost level first; none turns the stream off.
  void configStream(uint32_t stream, const std::vector<Level> &levels) {
    if (levels.empty())
      add(ASHLAR_SYSTOLIC_CONFIG_STREAM,
          ashlar_systolic_config_stream1(stream, 0, 0, 0), 0);
    for (uint32_t i = 0; i < levels.size(); ++i)
      add(ASHLAR_SYSTOLIC_CONFIG_STREAM,
          ashlar_systolic_config_stream1(stream, i, levels[i].count,
                                         levels[i].rows),
          uint64_t(levels[i].bytes));
  }
  /// At which column a stream's rows begin on chip.
  void configColumns(uint32_t stream, uint32_t first,
                     uint32_t storeBlockStride = 0) {
    add(ASHLAR_SYSTOLIC_CONFIG_COLUMNS, stream,
        uint64_t(storeBlockStride) << 32 | first);
  }
  /// Of the vector unit: its numbers, and what its right operands are.
  void configVector(uint32_t type, uint32_t right = ASHLAR_SYSTOLIC_EACH_ROW) {
    add(ASHLAR_SYSTOLIC_CONFIG_VECTOR,
        ashlar_systolic_config_vector1(type, right), 0);
  }

  /// `memory`: ashlar_systolic_address, or 0 for zeros.
  void load(uint64_t memory, Matrix matrix, unsigned id = 0) {
    static const uint8_t functs[] = {
        ASHLAR_SYSTOLIC_MVIN, ASHLAR_SYSTOLIC_MVIN2, ASHLAR_SYSTOLIC_MVIN3};
    add(functs[id], memory, matrix.encode());
  }
  /// The other way.
  void store(uint64_t memory, Matrix matrix) {
    add(ASHLAR_SYSTOLIC_MVOUT, memory, matrix.encode());
  }
  /// B (output-stationary: D), and where C goes.
  void preload(Matrix stationary, Matrix c, uint8_t array = 0) {
    add(ASHLAR_SYSTOLIC_PRELOAD, stationary.encode(), c.encode(), array);
  }
  /// A, and D (output-stationary: B).
  void compute(Matrix a, Matrix moving, bool preloaded, uint8_t array = 0) {
    add(preloaded ? ASHLAR_SYSTOLIC_COMPUTE_PRELOADED
                  : ASHLAR_SYSTOLIC_COMPUTE_ACCUMULATED,
        a.encode(), moving.encode(), array);
  }
  /// `right`: the operand's row, or the immediate's bits.
  void vector(uint8_t funct, Matrix result, uint32_t left = 0,
              uint32_t right = 0) {
    add(funct, result.encode(), uint64_t(right) << 32 | left);
  }
  /// The right operand is a number.
  void vectorImmediate(uint8_t funct, Matrix result, uint32_t left,
                       float immediate) {
    vector(funct, result, left, bitsOf(immediate));
  }
  /// Loads a table from memory.
  void table(uint64_t memory, uint32_t number) {
    add(ASHLAR_SYSTOLIC_TABLE, memory, number);
  }

  /// What is issued to `to` from now on waits for all that `from` has; masks.
  void sync(uint32_t from = ASHLAR_SYSTOLIC_ALL_QUEUES,
            uint32_t to = ASHLAR_SYSTOLIC_ALL_QUEUES) {
    add(ASHLAR_SYSTOLIC_SYNC, from, to);
  }
  /// What follows, up to its `end`, so many times.
  void loop(uint64_t times) { add(ASHLAR_SYSTOLIC_LOOP, times, 0); }
  void end() { add(ASHLAR_SYSTOLIC_END, 0, 0); }
  /// Of the next instruction; `depth` 0 is the innermost loop.
  void advance(uint8_t depth, uint64_t rs1, uint64_t rs2) {
    add(ASHLAR_SYSTOLIC_ADVANCE, rs1, rs2, depth);
  }
  /// One command, as it is.
  void add(uint8_t funct, uint64_t rs1, uint64_t rs2, uint8_t unit = 0) {
    kernel.commands.push_back({funct, unit, 0, 0, rs1, rs2});
  }

  Kernel kernel; // what was written so far

private:
  static uint32_t bitsOf(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    return bits;
  }
};

/// A mask for sync.
inline uint32_t queueBit(uint32_t queue) { return 1u << queue; }

} // namespace ashlar::systolic

#endif // ASHLAR_RUNTIME_LIB_DEVICES_SYSTOLIC_STREAMBUILDER_H
