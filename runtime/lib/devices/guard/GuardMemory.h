// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory that nobody may touch unless it has been opened: pages without rights,
// one more behind each allocation. Work opens what it was told to read or to
// write, and nothing else.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_GUARD_GUARDMEMORY_H
#define ASHLAR_RUNTIME_LIB_DEVICES_GUARD_GUARDMEMORY_H

#include "../../Status.h"

#include <map>
#include <mutex>
#include <vector>

namespace ashlar::runtime {

/// Any thread. Ends the process where memory is freed that is open or was never
/// allocated: that is the runtime's mistake.
class GuardMemory {
public:
  ~GuardMemory();

  /// The last byte, up to a multiple of 64, is the last of its page.
  Status allocate(uint64_t size, void **out);
  /// It is closed.
  void free(void *address);

  /// What work touches, of one allocation.
  struct Range {
    const void *address; // its first byte
    uint64_t bytes;      // none: it touches nothing
    bool isWritten;      // and not only read
  };
  /// Opens what the ranges touch; several may have the same open, which then
  /// can be written if one of them asked for that. A range that is not within
  /// one allocation is refused, and nothing is opened.
  Status open(const Vector<Range> &ranges);
  /// As often as they were opened.
  void close(const Vector<Range> &ranges);

private:
  /// An allocation.
  struct Block {
    char *data;                        // what was given out
    uint64_t size;                     // of that, a multiple of 64
    char *pages;                       // of the system
    uint64_t pageBytes;                // without the last page
    uint32_t readers = 0, writers = 0; // ranges that have it open
  };
  /// Null: it is not within one allocation. The caller locks.
  Block *find(const Range &range);
  /// Gives the pages the rights that its readers and writers need.
  static void protect(const Block &block);
  /// Opens (1) or closes (-1) one range. The caller locks.
  void count(const Range &range, uint32_t by);

  std::mutex mutex;
  Map<const char *, Block> blocks; // by their data's end
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_DEVICES_GUARD_GUARDMEMORY_H
