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

class GuardMemory {
public:
  ~GuardMemory();

  /// The last byte, up to a multiple of 64, is the last of its page.
  Status allocate(uint64_t size, void **out);
  void free(void *address);

  struct Range {
    const void *address;
    uint64_t bytes;
    bool isWritten;
  };
  /// Opens what the ranges touch; several may have the same open, which then
  /// can be written if one of them asked for that. A range that is not within
  /// one allocation is refused, and nothing is opened.
  Status open(const Vector<Range> &ranges);
  void close(const Vector<Range> &ranges);

private:
  struct Block {
    char *data;
    uint64_t size;
    char *pages;
    uint64_t pageBytes; // without the last page
    uint32_t readers = 0, writers = 0;
  };
  Block *find(const Range &range);
  static void protect(const Block &block);
  void count(const Range &range, uint32_t by);

  std::mutex mutex;
  Map<const char *, Block> blocks; // by their data's end
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_DEVICES_GUARD_GUARDMEMORY_H
