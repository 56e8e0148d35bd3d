// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The half of the simulator that computes: executes actions one after the
// other in the order of issue, and refuses what a machine whose queues run
// freely would not survive. It knows nothing of time.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_SYSTOLIC_FUNCTION_H
#define ASHLAR_RUNTIME_LIB_DEVICES_SYSTOLIC_FUNCTION_H

#include "RowMemory.h"

#include <memory>

namespace ashlar::systolic {

/// Bytes that a kernel may touch.
struct Binding {
  void *data = nullptr;    // the host's
  uint64_t bytes = 0;      // behind that
  bool isWritable = false; // and not only readable
};

/// One machine's state; one thread.
class Function {
public:
  ASHLAR_OWN_NEW
  explicit Function(const Machine &machine);
  ~Function();

  /// Before a kernel's first action.
  void start(Vector<Binding> bindings);

  /// False: the action cannot be; error() says why.
  bool execute(const Action &action);
  /// "instruction 12 (mvin): ..."
  const std::string &error() const { return message; }

private:
  /// In Inputs.h, as Arrays.
  template <typename Input> struct Array;
  struct Arrays;
  using Row = uint32_t;

  /// False, so that it can be returned.
  bool fail(const Action &action, const std::string &why);
  /// Where a place is.
  RowMemory &memoryOf(const Place &place) {
    return place.inAccumulator ? accumulator : scratchpad;
  }

  // Function.cpp
  bool memoryRange(const Action &action, const Walk &walk, uint64_t rowBytes,
                   uint8_t *&begin);
  /// All these: false, by `fail`, where the action cannot be.
  bool load(const Action &action);
  template <typename Input>
  bool loadRows(const Action &action, const uint8_t *);
  bool store(const Action &action);
  template <typename Input> bool storeRows(const Action &action, uint8_t *);
  template <typename Input> bool pool(const Action &action, uint8_t *);
  bool loadTable(const Action &action);

  // Execute.cpp
  template <typename Input> bool preload(const Action &action);
  template <typename Input> bool compute(const Action &action);
  template <typename Input>
  bool streamWeightStationary(const Action &action, Array<Input> &array);
  template <typename Input>
  bool accumulateOutputStationary(const Action &action, Array<Input> &array);
  template <typename Input>
  bool writeC(const Action &action, const typename Input::Sum *sums,
              size_t stride, uint32_t firstRow, uint32_t rows);
  /// The rows that a walk visits, which are there.
  bool rowsOf(const Action &action, const Operand &operand, Vector<Row> &rows);

  // VectorUnit.cpp
  bool vector(const Action &action);
  /// One row as words; empty, or why not.
  std::string readVector(const Action &action, const Operand &operand,
                         bool asIntegers, Row row, int32_t *words);
  std::string writeVector(const Action &action, bool isInteger, Row row,
                          int32_t *words);

  const Machine machine;             // a copy
  const bool isBF16;                 // else s8
  RowMemory scratchpad, accumulator; // on chip
  std::unique_ptr<Arrays> arrays;    // all that there may be
  Vector<Binding> bindings;          // of the kernel at hand
  Ordering ordering;                 // of its queues
  MemoryOrder memoryOrder;           // of what they do to memory
  uint32_t number = 0;               // of the action at hand in its queue
  std::string message;               // empty: nothing is wrong
  ashlar_systolic_table_t tables[ASHLAR_SYSTOLIC_TABLES] = {};
  bool hasTable[ASHLAR_SYSTOLIC_TABLES] = {}; // which were
  // Kept for their memory.
  Vector<Row> aRows, dRows, cRows;
  Vector<uint8_t> aBuffer, sumBuffer; // of one action
};

} // namespace ashlar::systolic

#endif // ASHLAR_RUNTIME_LIB_DEVICES_SYSTOLIC_FUNCTION_H
