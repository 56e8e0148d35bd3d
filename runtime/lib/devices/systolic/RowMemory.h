// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A memory on chip: rows of elements, which of them were written, and which
// commands used each row last.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_SYSTOLIC_ROWMEMORY_H
#define ASHLAR_RUNTIME_LIB_DEVICES_SYSTOLIC_ROWMEMORY_H

#include "Ordering.h"

namespace ashlar::systolic {

/// Refuses reads of what was not written, and uses that no sync orders.
class RowMemory {
public:
  RowMemory(const char *name, uint32_t rows, uint32_t dim,
            uint32_t elementBytes, bool isInterlocked);

  /// Nothing written, nobody at work.
  void clear();

  /// Its bytes; `read` or `write` has said that it may be used.
  uint8_t *row(uint32_t number) {
    return bytes.data() + size_t(number) * rowBytes;
  }

  /// Columns [first, end) of a row, for command `number` of `queue`. Empty, or
  /// why that may not be.
  std::string read(uint32_t row, uint32_t first, uint32_t end, uint32_t queue,
                   uint32_t number, const Ordering &ordering);
  /// The same.
  std::string write(uint32_t row, uint32_t first, uint32_t end, uint32_t queue,
                    uint32_t number, const Ordering &ordering);

private:
  /// Of one row, by the numbers of commands.
  struct Use {
    uint32_t writer;              // its number, 0: none
    uint32_t writerQueue;         // the writer's
    uint32_t readers[queueCount]; // of each queue, the last
  };
  /// "scratchpad row 12 ...".
  std::string describe(uint32_t row, const std::string &what) const;
  /// "... may still be used by ...": what a missing sync leaves open.
  std::string mayStillBe(const char *used, uint32_t row, uint32_t queue) const;

  const char *const name;   // for people
  const bool isInterlocked; // the machine waits: no sync is missing
  const size_t rowBytes;    // of all its elements
  const size_t words;       // of a row's mask
  Vector<uint8_t> bytes;    // row by row
  Vector<uint64_t> written; // a bit for each element
  Vector<Use> uses;         // one per row
};

} // namespace ashlar::systolic

#endif // ASHLAR_RUNTIME_LIB_DEVICES_SYSTOLIC_ROWMEMORY_H
