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
  uint32_t rows = 0;   // that are visited, in all
  unsigned levels = 1; // of loops, the innermost first
  uint32_t counts[ASHLAR_SYSTOLIC_LEVELS] = {1, 1, 1, 1}; // rows of each level
  int64_t steps[ASHLAR_SYSTOLIC_LEVELS] = {};             // rows on chip
  int64_t bytes[ASHLAR_SYSTOLIC_LEVELS] = {};             // of memory

  /// One level.
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
  bool exists = false;        // false: no matrix is meant
  bool inAccumulator = false; // else in the scratchpad
  bool accumulates = false;   // writes add to what is there
  bool fullWidth = false;     // reads give sums, not what was scaled
  uint32_t row = 0;           // of that memory
};

/// Rows and the columns of them that a matrix takes.
struct Operand {
  Place place;          // of the first row
  Walk walk;            // over its rows
  uint32_t columns = 0; // elements of each
};

/// A maximum over windows on the way out, in elements.
struct Pooling {
  uint32_t stride = 0; // 0: none
  uint32_t size = 0, upperPadding = 0, leftPadding = 0;
  uint32_t outputWidth = 0, outputRows = 0, outputColumns = 0;
  uint32_t rows = 0, columns = 0;
};

/// A command that is to happen; which fields count, its kind says.
struct Action {
  /// None changes the configuration alone.
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
  uint32_t funct = 0;   // of systolic_isa.h, for people
  uint32_t queue = 0;   // of all kinds up to Table
  uint64_t index = 0;   // of the command in the kernel
  bool isIssued = true; // takes time to issue

  // Load, Store, Table.
  uint32_t binding = 0;      // that memory is in
  bool isNull = false;       // no memory: zeros
  uint64_t offset = 0;       // bytes in the binding
  Operand chip;              // columns: of all blocks together
  uint32_t firstColumn = 0;  // of a row on chip
  uint32_t blockStride = 0;  // rows between blocks of dim columns
  uint32_t elementBytes = 0; // in memory
  uint32_t pixels = 1;       // of a row: repeated, pixel_repeats
  float scale = 1;           // of what passes
  bool relu = false;         // of what leaves
  Pooling pooling;
  uint32_t table = 0; // its number

  // Preload: stationary. Compute: a, the moving one (D, or B where the output
  // is stationary), c.
  bool outputStationary = false;
  bool aTransposed = false, bTransposed = false;
  bool flips = false; // takes what was preloaded
  uint32_t shift = 0; // right, of sums that leave the array
  Operand stationary, a, moving, c;

  // Vector.
  bool isInteger = false;
  uint32_t right = 0;     // ASHLAR_SYSTOLIC_EACH_ROW...
  uint32_t immediate = 0; // its bits
  Operand left, second, result;

  // Sync: masks. Region: its number.
  uint32_t from = 0, to = 0;
  uint32_t region = 0; // of the kernel
};

/// Of one kernel, once. One thread.
class Decoder {
public:
  /// Both must outlive it; the kernel's loops have been checked.
  Decoder(const Machine &machine, const Kernel &kernel);

  /// False at the end and at an error.
  /// In the order of issue.
  bool next(Action &action);
  /// After the last one: whether it was an error.
  bool failed() const { return !message.empty(); }
  /// "instruction 12 (mvin): ..."
  const std::string &error() const { return message; }

private:
  /// One that is open.
  struct Loop {
    size_t body;          // its first command
    uint64_t count, done; // times
  };
  /// An address stream, configured.
  struct StreamLevels {
    unsigned levels = 0; // 0: off
    Walk walk;           // of which `levels` count
  };
  /// Of mvin, mvin2 or mvin3.
  struct LoadState {
    bool configured = false; // it may be issued
    uint64_t stride = 0;     // bytes from a row to the next
    uint32_t blockStride = 0, pixels = 1;
    bool narrow = false; // bytes go into the accumulator
    float scale = 1;     // of what passes
  };

  /// False, so that it can be returned; the first one is kept.
  bool fail(const std::string &why);
  /// A command, with loops' advances added. All these: false where it cannot
  /// be.
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
  /// Into binding and offset, or null.
  bool memoryAddress(uint64_t rs1, Action &action);
  /// That the machine has such an instruction.
  bool isSupported(const Command &command);

  /// What an address on chip means.
  Place placeOf(uint32_t address) const;
  /// By the stream's levels, or linear where it is off; `what` is for people.
  bool walkOf(unsigned stream, uint32_t rows, int64_t step, int64_t bytes,
              const char *what, Walk &walk);
  /// That all of them are there.
  bool checkRows(const Operand &operand, const char *what, uint32_t blocks = 1,
                 uint32_t blockStride = 0);
  /// 1 to `most`.
  bool checkSize(const char *what, uint32_t found, uint32_t most);

  const Machine &machine; // outlives it
  const Kernel &kernel;   // outlives it
  size_t at = 0;          // of the next command
  size_t current = 0;     // of the one at hand
  Vector<Loop> loops;     // the innermost last
  std::string message;    // empty: nothing is wrong

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

  /// What an array was told last.
  struct Preloaded {
    bool exists = false; // compute may follow
    uint64_t c = 0;      // rs2 of the preload
  };
  Preloaded preloaded[ASHLAR_SYSTOLIC_MAX_ARRAYS];
};

/// "mvin", "compute_preloaded"; empty: there is no such instruction.
std::string nameOf(uint32_t funct);

} // namespace ashlar::systolic

#endif // ASHLAR_RUNTIME_LIB_DEVICES_SYSTOLIC_DECODER_H
