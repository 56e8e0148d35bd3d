// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What issues: unrolls loops, keeps the configuration, and turns each command
// into an action with nothing left to look up. Both halves of the simulator
// read actions. What can be refused without data is refused here: encodings,
// sizes, rows that are not there.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_SYSTOLIC_DECODER_H
#define ASHLAR_RUNTIME_LIB_DEVICES_SYSTOLIC_DECODER_H

#include "Image.h"

namespace ashlar::systolic {

/// Which rows a command visits, counted from its base, and which bytes of
/// memory, from its address.
struct Walk {
  uint32_t rows = 0;
  unsigned levels = 1;
  uint32_t counts[ASHLAR_SYSTOLIC_LEVELS] = {1, 1, 1, 1};
  int64_t steps[ASHLAR_SYSTOLIC_LEVELS] = {};
  int64_t bytes[ASHLAR_SYSTOLIC_LEVELS] = {};

  static Walk linear(uint32_t rows, int64_t step, int64_t bytes = 0) {
    Walk walk;
    walk.rows = walk.counts[0] = rows;
    walk.steps[0] = step;
    walk.bytes[0] = bytes;
    return walk;
  }

  /// visit(row of the command, offset in rows, offset in bytes), in order.
  template <typename Visit> void forEach(Visit &&visit) const {
    uint32_t digits[ASHLAR_SYSTOLIC_LEVELS] = {};
    int64_t row = 0, byte = 0;
    for (uint32_t i = 0; i < rows; ++i) {
      visit(i, row, byte);
      for (unsigned level = 0; level < levels; ++level) {
        row += steps[level];
        byte += bytes[level];
        if (++digits[level] < counts[level])
          break;
        row -= steps[level] * counts[level];
        byte -= bytes[level] * counts[level];
        digits[level] = 0;
      }
    }
  }

  /// The least and the greatest offset that is visited; rows are not zero.
  void rowBounds(int64_t &least, int64_t &greatest) const;
  void byteBounds(int64_t &least, int64_t &greatest) const;
};

/// A row of one of the two memories on chip.
struct Place {
  bool exists = false;
  bool inAccumulator = false;
  bool accumulates = false;
  bool fullWidth = false;
  uint32_t row = 0;
};

/// Rows and the columns of them that a matrix takes.
struct Operand {
  Place place;
  Walk walk;
  uint32_t columns = 0;
};

struct Pooling {
  uint32_t stride = 0; // 0: none
  uint32_t size = 0, upperPadding = 0, leftPadding = 0;
  uint32_t outputWidth = 0, outputRows = 0, outputColumns = 0;
  uint32_t rows = 0, columns = 0;
};

struct Action {
  enum Kind {
    None,
    Load,
    Store,
    Preload,
    Compute,
    Vector,
    Table,
    Sync,
    Region
  };

  Kind kind = None;
  uint32_t funct = 0;
  uint32_t queue = 0;   // of all kinds up to Table
  uint64_t index = 0;   // of the command in the kernel
  bool isIssued = true; // takes time to issue

  // Load, Store, Table.
  uint32_t binding = 0;
  bool isNull = false;
  uint64_t offset = 0;
  Operand chip; // columns: of all blocks together
  uint32_t firstColumn = 0;
  uint32_t blockStride = 0;
  uint32_t elementBytes = 0; // in memory
  uint32_t pixels = 1;
  float scale = 1;
  bool relu = false;
  Pooling pooling;
  uint32_t table = 0;

  // Preload: stationary. Compute: a, the moving one (D, or B where the output
  // is stationary), c.
  bool outputStationary = false;
  bool aTransposed = false, bTransposed = false;
  bool flips = false; // takes what was preloaded
  uint32_t shift = 0;
  Operand stationary, a, moving, c;

  // Vector.
  bool isInteger = false;
  uint32_t right = 0; // ASHLAR_SYSTOLIC_EACH_ROW...
  uint32_t immediate = 0;
  Operand left, second, result;

  // Sync: masks. Region: its number.
  uint32_t from = 0, to = 0;
  uint32_t region = 0;
};

class Decoder {
public:
  /// Both must outlive it; the kernel's loops have been checked.
  Decoder(const Machine &machine, const Kernel &kernel);

  /// False at the end and at an error.
  bool next(Action &action);
  bool failed() const { return !message.empty(); }
  /// "instruction 12 (mvin): ..."
  const std::string &error() const { return message; }

private:
  struct Loop {
    size_t body;
    uint64_t count, done;
  };
  struct StreamLevels {
    unsigned levels = 0; // 0: off
    Walk walk;
  };
  struct LoadState {
    bool configured = false;
    uint64_t stride = 0;
    uint32_t blockStride = 0, pixels = 1;
    bool narrow = false;
    float scale = 1;
  };

  bool fail(const std::string &why);
  bool decode(const Command &command, Action &action);
  bool decodeConfig(const Command &command);
  bool decodeConfigEx(const Command &command);
  bool decodeStream(const Command &command);
  bool decodeColumns(const Command &command);
  bool decodeLoad(const Command &command, Action &action, unsigned id);
  bool decodeStore(const Command &command, Action &action);
  bool decodePool(Action &action);
  bool decodePreload(const Command &command, Action &action);
  bool decodeCompute(const Command &command, Action &action, bool flips);
  bool decodeVector(const Command &command, Action &action);
  bool decodeTable(const Command &command, Action &action);
  bool memoryAddress(uint64_t rs1, Action &action);
  bool isSupported(const Command &command);

  Place placeOf(uint32_t address) const;
  bool walkOf(unsigned stream, uint32_t rows, int64_t step, int64_t bytes,
              const char *what, Walk &walk);
  bool checkRows(const Operand &operand, const char *what, uint32_t blocks = 1,
                 uint32_t blockStride = 0);
  bool checkSize(const char *what, uint32_t found, uint32_t most);

  const Machine &machine;
  const Kernel &kernel;
  size_t at = 0;
  size_t current = 0;
  Vector<Loop> loops;
  std::string message;

  // The configuration.
  bool exConfigured = false, stConfigured = false;
  bool outputStationary = false, exRelu = false;
  bool aTransposed = false, bTransposed = false;
  uint32_t shift = 0, aStride = 0, cStride = 0;
  LoadState loads[3];
  uint32_t storeStride = 0;
  float storeScale = 1;
  bool storeRelu = false;
  Pooling pooling;
  StreamLevels streams[ASHLAR_SYSTOLIC_STREAMS];
  uint32_t firstColumns[4] = {};
  uint32_t storeBlockStride = 0;
  bool isInteger = false;
  uint32_t right = ASHLAR_SYSTOLIC_EACH_ROW;

  struct Preloaded {
    bool exists = false;
    uint64_t c = 0; // rs2 of the preload
  };
  Preloaded preloaded[ASHLAR_SYSTOLIC_MAX_ARRAYS];
};

/// "mvin", "compute_preloaded"; empty: there is no such instruction.
std::string nameOf(uint32_t funct);

} // namespace ashlar::systolic

#endif // ASHLAR_RUNTIME_LIB_DEVICES_SYSTOLIC_DECODER_H
