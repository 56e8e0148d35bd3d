// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RowMemory.h"

#include <algorithm>

namespace ashlar::systolic {

RowMemory::RowMemory(const char *name, uint32_t rows, uint32_t dim,
                     uint32_t elementBytes, bool isInterlocked)
    : name(name), isInterlocked(isInterlocked),
      rowBytes(size_t(dim) * elementBytes), words((dim + 63) / 64),
      bytes(size_t(rows) * rowBytes), written(size_t(rows) * words),
      uses(isInterlocked ? 0 : rows) {}

void RowMemory::clear() {
  std::fill(written.begin(), written.end(), 0);
  std::fill(uses.begin(), uses.end(), Use());
}

std::string RowMemory::describe(uint32_t row, const std::string &what) const {
  return "row " + std::to_string(row) + " of the " + name + " " + what;
}

std::string RowMemory::mayStillBe(const char *used, uint32_t row,
                                  uint32_t queue) const {
  return describe(row, std::string("may still be ") + used + " by the " +
                           queueName(queue) + " queue: a sync is missing");
}

/// The bits of [first, end) in word `word`.
static uint64_t maskOf(size_t word, uint32_t first, uint32_t end) {
  uint64_t begin = word * 64;
  uint64_t low = first > begin ? first - begin : 0;
  uint64_t high = end - begin;
  uint64_t all = high >= 64 ? ~uint64_t(0) : (uint64_t(1) << high) - 1;
  return all & ~uint64_t(0) << low;
}

std::string RowMemory::read(uint32_t row, uint32_t first, uint32_t end,
                            uint32_t queue, uint32_t number,
                            const Ordering &ordering) {
  const uint64_t *mask = written.data() + row * words;
  for (size_t word = first / 64; word * 64 < end; ++word)
    if (uint64_t missing = maskOf(word, first, end) & ~mask[word])
      return describe(
          row,
          "was never written in column " +
              std::to_string(word * 64 + unsigned(__builtin_ctzll(missing))));
  if (isInterlocked)
    return "";
  Use &use = uses[row];
  if (!ordering.knows(queue, use.writerQueue, use.writer))
    return mayStillBe("written", row, use.writerQueue);
  use.readers[queue] = number;
  return "";
}

std::string RowMemory::write(uint32_t row, uint32_t first, uint32_t end,
                             uint32_t queue, uint32_t number,
                             const Ordering &ordering) {
  uint64_t *mask = written.data() + row * words;
  for (size_t word = first / 64; word * 64 < end; ++word)
    mask[word] |= maskOf(word, first, end);
  if (isInterlocked)
    return "";
  Use &use = uses[row];
  if (!ordering.knows(queue, use.writerQueue, use.writer))
    return mayStillBe("written", row, use.writerQueue);
  for (uint32_t reader = 0; reader < queueCount; ++reader)
    if (!ordering.knows(queue, reader, use.readers[reader]))
      return mayStillBe("read", row, reader);
  use.writer = number;
  use.writerQueue = queue;
  return "";
}

} // namespace ashlar::systolic
